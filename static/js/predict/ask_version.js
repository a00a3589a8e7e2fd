/** Which version has a tensor afterwards? Of names that share the counter of what is written, and of those that only share its memory. */

import { find } from "../entities.js";
import { choose } from "./question.js";

/** @typedef {import("./units.js").Unit} Unit */
/** @typedef {Partial<import("./question.js").Question>} Asked */

const UNNOTICED_WEIGHT = 72;
const KEPT_WEIGHT = 66;
const SHARED_WEIGHT = 60;
const OWN_WEIGHT = 42;

/** @param {Unit} unit @returns {Asked[]} */
export function askVersion(unit) {
  const { opened, at, step, before, after, named, mentioned, isBackward, raised } = unit;
  if (isBackward || raised) return [];
  const written = new Set(
    opened.trace.steps[step].log.flatMap((entry) =>
      entry.kind === "event" && entry.event === "written" ? [entry.storage] : [],
    ),
  );
  if (!written.size) return [];
  /** @type {Asked[]} */
  const out = [];
  for (const { name, uid, handle } of named) {
    if (handle.kind !== "tensor" || !written.has(handle.storage ?? "")) continue;
    const was = find(before, find(before, uid, "tensor")?.counter, "counter")?.value;
    const is = find(after, handle.counter, "counter")?.value;
    if (was === undefined || is === undefined) continue;
    const answer = choose(`v${is}`, [`v${was}`, `v${was + 1}`, `v${is + 1}`]);
    if (!answer) continue;
    const isTarget = mentioned.targets.has(name.split(/[.[]/)[0]);
    const kept = opened.index.slotsOf(handle.storage ?? "", at).length > 0;
    const weight = was === is ? UNNOTICED_WEIGHT : kept ? KEPT_WEIGHT : isTarget ? OWN_WEIGHT : SHARED_WEIGHT;
    const reason = was === is ? "predict_why_unnoticed" : "predict_why_counted";
    out.push({ kind: "version", what: name, uid, weight, reason, ...answer });
  }
  return out;
}
