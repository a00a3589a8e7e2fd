/** A trace as a terminal tells it, for tests. */

export { terminalReport as default } from "../../static/js/program/terminal_report.ts";
