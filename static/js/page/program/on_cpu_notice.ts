/**
 * The notice of a program that asked for CUDA and ran on the CPU: which lines were changed, what differs, and the way
 * back.
 */

import { textAfterRepair } from "../../program/repair.ts";
import type { PageState } from "../../page_state/state.ts";
import type { Edit } from "../../trace/wire.ts";
import type { Translate } from "../../words/sentences.ts";

export interface ChangedLine {
  /** of the program before */
  line: number;
  before: string;
  /** more lines than one where some were put in */
  after: string;
}

/** The lines that edits change, each as it was and as it is. */
export function changedLines(source: string, edits: Edit[]): ChangedLine[] {
  const lines = source.split("\n");
  const byLine = new Map<number, Edit[]>();
  for (const edit of edits) byLine.set(edit.line, [...(byLine.get(edit.line) ?? []), edit]);
  return [...byLine].map(([line, ofLine]) => {
    const last = Math.max(...ofLine.map((edit) => edit.end_line));
    const before = lines.slice(line - 1, last).join("\n");
    const moved = ofLine.map((edit) => ({ ...edit, line: edit.line - line + 1, end_line: edit.end_line - line + 1 }));
    return { line, before, after: textAfterRepair({ source: before }, { key: "cuda", edits: moved }) };
  });
}

/** Draws the notice into its place. */
export function drawOnCpuNotice(
  host: HTMLElement,
  onCpu: NonNullable<PageState["onCpu"]>,
  say: Translate,
  undo: () => void,
) {
  const rows = changedLines(onCpu.before.program.source, onCpu.repair.edits ?? []);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "link";
  button.textContent = say("on_cpu_undo");
  button.addEventListener("click", undo);
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = say("on_cpu_lines", { n: rows.length, lines: rows.map(({ line }) => line).join(", ") });
  const list = document.createElement("dl");
  for (const { line, before, after } of rows) {
    const [was, is] = [document.createElement("dt"), document.createElement("dd")];
    was.textContent = `${line}  ${before.trim()}`;
    is.textContent = after.trim();
    list.append(was, is);
  }
  const why = document.createElement("p");
  why.textContent = say("repair_cuda_why");
  details.append(summary, list, why);
  host.replaceChildren(say("on_cpu"), " ", button, details);
}
