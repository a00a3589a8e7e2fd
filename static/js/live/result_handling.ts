/** What becomes of the answer to a text that is being edited: a picture at once, one for who rests, or a sentence. */

import type { Trace } from "../trace/wire.ts";
import type { ResultHandling } from "./schedule.ts";

/**
 * A program that raises waits until its reader rests, and so does one whose text would be tidied under his hands. A
 * picture (`shown`) gives way to no refusal and to no limit, unless it was stopped at one itself.
 */
export function resultHandling(trace: Trace, text: string, shown: Trace | null): ResultHandling {
  const { status } = trace.outcome;
  if (status === "finished") return trace.program.source === text ? "show" : "rest";
  const hasPicture = Boolean(shown?.steps.length);
  if (status === "raised" || !hasPicture) return "rest";
  return status === "stopped" && shown?.outcome.status === "stopped" ? "rest" : "tell";
}
