/** How a value is tinted: by its sign, and by its size beside the largest of its storage. */

/** @typedef {import("../entities.js").Cell} Cell */

/** The largest finite magnitude. @param {(Cell | null)[]} values */
export function largestMagnitude(values) {
  return values.reduce((/** @type {number} */ m, v) => Math.max(m, Math.abs(magnitude(v))), 0);
}

/** @param {Cell | null} v */
function magnitude(v) {
  if (typeof v === "number") return v;
  if (v === true) return 1;
  if (!v || typeof v !== "object") return 0;
  if ("$i" in v) return Number(v.$i);
  if ("$f" in v) return v.$f === "nan" ? 0 : v.$f === "inf" ? Infinity : -Infinity;
  return 0;
}

/** @param {Cell | null} v @param {number} largest */
export function signTint(v, largest) {
  const a = magnitude(v);
  if (a === 0) return null;
  const share =
    Number.isFinite(largest) && largest > 0 ? Math.min(1, Math.abs(a) / largest) : Math.abs(a) === Infinity ? 1 : 0;
  return { sign: a < 0 ? "neg" : "pos", opacity: 0.08 + 0.28 * share };
}
