import { expect, it } from "vitest";
import { inOneLine } from "../src/chat/Nearest";

it("reads a table's cells one after the other, and other text as it is", () => {
  expect(inOneLine("| Question | Points |\n| --- | :---: |\n| Stall | 5 |")).toBe("Question · Points / Stall · 5");
  expect(inOneLine("Four questions | are\n\nscored.")).toBe("Four questions | are / scored.");
});
