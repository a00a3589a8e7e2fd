/** Explains traces for tests: a JSON list of traces on stdin, the findings of each as a JSON list on stdout. */

import { readFileSync } from "node:fs";
import { findingsReply } from "../../static/js/findings/findings_reply.ts";

const { traces, language } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(traces.map((trace) => findingsReply(trace, language))));
