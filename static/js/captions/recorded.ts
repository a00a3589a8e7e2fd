/** Where a run was recorded that no server ran, in words: by whom, with what, and which part of it. */

import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";

/** @returns empty for a server's run */
export function whereRecordedText({ runtime, steps }: Trace, say: Locale["say"]): string {
  if (!runtime.recorded) return "";
  const { torch, python, device, device_name: name } = runtime;
  const sentences = [say("recorded_own", { torch, python, device: name ? `${device} (${name})` : device })];
  for (const { name: label, first_line: first, last_line: last } of (runtime.regions ?? []).slice(0, 3)) {
    if (label) sentences.push(say("recorded_region", { label }));
    if (first && last) sentences.push(say("recorded_lines", { first, last }));
  }
  const more = (runtime.regions?.length ?? 0) - 3;
  if (more > 0) sentences.push(say("recorded_more", { n: more }));
  if (steps.some(({ skipped }) => skipped)) sentences.push(say("recorded_thinned"));
  return sentences.join(" ");
}
