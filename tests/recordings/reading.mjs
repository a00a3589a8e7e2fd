/** A trace as a terminal tells it, for tests. */

export { terminalReading as default } from "../../static/js/program/reading.ts";
