/** Which repetitions end at which step, for tests. */

import { netOf } from "../../static/js/nets/net_call_sites.ts";
import { loopRepetitionsOf } from "../../static/js/nets/net_repetitions.ts";
import { NetFacts } from "../../static/js/nets/net_state.ts";
import { openTrace } from "../../static/js/trace/state.ts";

export default function endings(trace) {
  const opened = openTrace(trace);
  const repetitions = loopRepetitionsOf(new NetFacts(opened, netOf(opened)));
  return opened.trace.steps.flatMap(({ i, line, kind }) => {
    const ending = repetitions.endingAt(i);
    return ending ? [{ line, kind, count: ending.count, place: ending.callSite.line }] : [];
  });
}
