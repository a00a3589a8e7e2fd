/** Which gradients of each trace are checked without being asked, and what is said of each check; JSON on stdin and stdout. */

import { readFileSync } from "node:fs";
import { judgementOf } from "../../static/js/explain/gradient_check_panel.ts";
import { RunFacts } from "../../static/js/findings/facts/run_facts.ts";
import { worthChecking } from "../../static/js/findings/worth_checking.ts";
import { openTrace } from "../../static/js/trace/state.ts";

const { traces, checks } = JSON.parse(readFileSync(0, "utf8"));
const worth = traces.map((trace) => worthChecking(new RunFacts(openTrace(trace))));
process.stdout.write(JSON.stringify({ worth, judgements: checks.map(judgementOf) }));
