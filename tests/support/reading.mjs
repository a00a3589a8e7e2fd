/** A trace as a terminal tells it, for tests: the trace on stdin, its reading as JSON on stdout; the language is the argument. */

import { readFileSync } from "node:fs";
import { terminalReading } from "../../static/js/program/reading.ts";

process.stdout.write(JSON.stringify(terminalReading(JSON.parse(readFileSync(0, "utf8")), process.argv[2])));
