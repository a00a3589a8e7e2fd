/** Which gradients of each trace are checked without being asked, and what is said of each check. */

import { automaticCheckSentence } from "../../static/js/explain/gradient_check_panel.ts";
import { RunFacts } from "../../static/js/findings/facts/run_facts.ts";
import { automaticCheck } from "../../static/js/findings/automatic_check.ts";
import { openTrace } from "../../static/js/trace/state.ts";

export default function worthCheckingIn(traces, checks) {
  const worth = traces.map((trace) => automaticCheck(new RunFacts(openTrace(trace))));
  return { worth, judgements: checks.map(automaticCheckSentence) };
}
