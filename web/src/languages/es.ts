export { english as spanish } from "../strings";
