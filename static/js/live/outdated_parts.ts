/** What of a picture is older than the text: what the line that differs, or a later one, made. */

import { commonLines } from "../trace/steps/step_after_edit.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Trace } from "../trace/wire.ts";

/**
 * The first step that another text may do otherwise: of the first line that differs, or of the outermost block around
 * it. `step` is the number of steps where there is none.
 */
export function firstChangedStep({ program, steps }: Trace, text: string): { line: number; step: number } {
  const { head: sameLines } = commonLines(program.source, text);
  const line = sameLines + 1;
  const isIndented = /^\s+\S/.test(text.split("\n")[sameLines] ?? "");
  const blocks = (program.statements ?? []).filter(({ parent }) => parent === null || parent === undefined);
  const block = blocks.findLast((statement) => statement.line <= line);
  const reachesLine = block && (block.end_line >= line || isIndented);
  const from = reachesLine ? block.line : line;
  const step = steps.findIndex((other) => other.line >= from);
  return { line, step: step < 0 ? steps.length : step };
}

/**
 * What the steps from `from` to `to` made or changed, of what is there after the last of them; names as `frame/name`.
 */
export function entitiesChangedBetweenSteps(
  { trace, state }: OpenTrace,
  from: number,
  to: number,
): { uids: Set<string>; names: Set<string> } {
  const entities = state(to);
  const uids = new Set<string>();
  const names = new Set<string>();
  for (const { set } of trace.steps.slice(from, to + 1))
    for (const [uid, fields] of Object.entries(set ?? {})) {
      if (!entities.has(uid)) continue;
      if (uid[0] !== "f" && Object.keys(fields).some((field) => field !== "held_by")) uids.add(uid);
      const vars = (fields as { vars?: Record<string, unknown> }).vars ?? {};
      for (const name of Object.keys(vars)) names.add(`${uid}/${name}`);
    }
  return { uids, names };
}
