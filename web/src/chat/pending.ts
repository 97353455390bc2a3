// What another screen has prepared for the next question: words, and a scope.
import { createStore } from "../lib/store";
import { EVERYTHING, type Scope } from "./scope";

export const pendingText = createStore("");
export const pendingScope = createStore<Scope>(EVERYTHING);
