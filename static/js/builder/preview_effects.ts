/**
 * What a card that is not in the program yet would take away: memory and nodes at its step, and cards below that would
 * not be reached.
 */

import { bytesText } from "../trace/format.ts";
import { shortNodeName } from "../layout/text/node_labels.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { LineEdit } from "./line_edits.ts";

/** the program would stop there; it would not be reached */
export type PreviewLineEffect = "raises" | "missed";

/** What a step ends that had a name before, or that is of the graph; nodes by their labels in the graph. */
export function memoryAndNodesFreedAt(
  opened: OpenTrace,
  i: number,
): { memory: { name: string; size: string }[]; nodes: string[] } {
  const gone = new Set(i > 0 ? opened.trace.steps[i].gone : []);
  if (!gone.size) return { memory: [], nodes: [] };
  const before = opened.state(i - 1);
  const { tags } = opened.names(i - 1);
  const memory = [];
  const nodes = [];
  for (const [uid, entity] of before) {
    if (entity.kind === "node" && gone.has(uid) && !entity.variable) nodes.push(shortNodeName(entity.name ?? ""));
    if (entity.kind !== "tensor" || !entity.storage || !gone.has(entity.storage)) continue;
    const name = tags.get(uid)?.[0]?.text;
    const storage = before.get(entity.storage);
    if (name && storage?.kind === "storage") memory.push({ name, size: bytesText(storage.nbytes ?? 0) });
  }
  return { memory, nodes };
}

/**
 * The lines of the program that would not be reached with some edits, and the one that would raise, where its run of
 * now does. The edits only add lines; lines count from 0.
 */
export function linesAffectedByEdits(
  currentRun: OpenTrace | null,
  previewRun: OpenTrace,
  edits: LineEdit[],
): Map<number, PreviewLineEffect> {
  const effects = new Map<number, PreviewLineEffect>();
  const { outcome } = previewRun.trace;
  if (!currentRun || outcome.status === "finished") return effects;
  const reachedLines = new Set(previewRun.trace.steps.map(({ line }) => line));
  for (const line of new Set(currentRun.trace.steps.map((traceStep) => traceStep.line - 1))) {
    const movedLine =
      line + 1 + edits.filter(({ to }) => to <= line).reduce((sum, edit) => sum + addedLineCount(edit), 0);
    if (outcome.error?.line === movedLine) effects.set(line, "raises");
    else if (!reachedLines.has(movedLine)) effects.set(line, "missed");
  }
  const { error } = currentRun.trace.outcome;
  if (error?.line && effects.get(error.line - 1) === "raises") effects.delete(error.line - 1); // it does now
  return effects;
}

/** How many lines more it makes. */
function addedLineCount({ from, to, lines }: LineEdit) {
  return lines.length - (to - from);
}
