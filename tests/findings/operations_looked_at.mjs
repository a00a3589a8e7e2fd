/** How many steps there are, and of how many the findings of a trace looked at the operations. Reads it from stdin. */

import { readFileSync } from "node:fs";
import { DIAGNOSES } from "../../static/js/findings/registry.ts";
import { RunFacts } from "../../static/js/findings/facts/run_facts.ts";
import { openTrace } from "../../static/js/trace/state.ts";

const facts = new RunFacts(openTrace(JSON.parse(readFileSync(0, "utf8"))));
const found = DIAGNOSES.filter((row) => !row.onError).flatMap(({ diagnose }) => diagnose(facts));
console.log(JSON.stringify({ steps: facts.steps.length, lookedAt: facts.scan._opsAt.size, findings: found.length }));
