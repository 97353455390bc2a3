export { english as french } from "../strings";
