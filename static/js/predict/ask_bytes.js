/** How many bytes of tensors stay alive? Asked where the program lets go of a name. */

import { find } from "../entities.js";
import { bytesLabel } from "../memory_totals.js";
import { choose } from "./question.js";

/** @typedef {import("./units.js").Unit} Unit */

const BYTES_WEIGHT = 71;

/** @param {Unit} unit @returns {Partial<import("./question.js").Question>[]} */
export function askBytes({ opened, at, step, before, code, namedBefore, named, isBackward, raised }) {
  if (isBackward || raised || !/^del\b|=\s*None\s*(#.*)?$/.test(code)) return [];
  const { bytes } = opened.index;
  const kept = new Map(named.map(({ name, uid }) => [name, uid]));
  const dropped = namedBefore.filter(({ name, uid }) => /^\w+$/.test(name) && kept.get(name) !== uid);
  if (!dropped.length) return [];
  const sizes = new Map(
    dropped.map(({ handle }) => [handle.storage ?? "", find(before, handle.storage, "storage")?.nbytes ?? 0]),
  );
  const size = [...sizes.values()].reduce((a, b) => a + b, 0);
  const beliefs = [bytes[at] - size, bytes[at], bytes[at] - size / 2].filter((n) => n >= 0 && Number.isInteger(n));
  const answer = choose(bytesLabel(bytes[step]), beliefs.map(bytesLabel));
  const stays = bytes[step] === bytes[at];
  const reason = stays ? "predict_why_kept" : bytes[step] === bytes[at] - size ? "predict_why_freed" : null;
  return answer
    ? [
        {
          kind: "bytes",
          what: dropped.map(({ name }) => name).join(", "),
          uid: null,
          weight: BYTES_WEIGHT,
          reason,
          ...answer,
        },
      ]
    : [];
}
