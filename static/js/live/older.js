/** What of a picture is older than the text: what the line that differs, or a later one, made. */

import { commonLines } from "../trace/step_after_edit.js";

/** @typedef {import("../trace/wire.js").Trace} Trace */
/** @typedef {import("../trace/state.js").OpenTrace} OpenTrace */

/**
 * The first step that another text may do otherwise: of the first line that differs, or of the outermost block around it.
 * @param {Trace} trace @param {string} text @returns {{line: number, step: number}} step: the number of steps where it is none
 */
export function firstChangedStep({ program, steps }, text) {
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
 * What steps made or changed, of what is there after the last of them.
 * @param {OpenTrace} opened @param {number} from the first of the steps @param {number} to the last
 * @returns {{uids: Set<string>, names: Set<string>}} names: as `frame/name`
 */
export function changedSince({ trace, state }, from, to) {
  const entities = state(to);
  const uids = new Set();
  const names = new Set();
  for (const { set } of trace.steps.slice(from, to + 1))
    for (const [uid, fields] of Object.entries(set ?? {})) {
      if (!entities.has(uid)) continue;
      if (uid[0] !== "f" && Object.keys(fields).some((field) => field !== "held_by")) uids.add(uid);
      const vars = /** @type {{vars?: Record<string, unknown>}} */ (fields).vars ?? {};
      for (const name of Object.keys(vars)) names.add(`${uid}/${name}`);
    }
  return { uids, names };
}
