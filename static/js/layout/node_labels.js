/** What the graph's nodes are called for short: torch's name without its ending, numbered where a graph has it more than once. */

import { opName } from "./op_name.js";

const SUBSCRIPTS = [..."₀₁₂₃₄₅₆₇₈₉"];

/** A number as subscript digits. @param {number} n */
export function subscript(n) {
  return [...String(n)].map((digit) => SUBSCRIPTS[Number(digit)]).join("");
}

/** @param {string} name as torch calls a node */
export function shortNodeName(name) {
  return opName(name) || name;
}

/** Labels of one connected graph's nodes. @param {string[]} uids in program order
 * @param {(uid: string) => string} nameOf torch's name of a node
 * @returns {Map<string, string>} by uid: `Addmm`, or `Addmm ₂` where several have the name */
export function numberedLabels(uids, nameOf) {
  /** @type {Map<string, number>} */
  const total = new Map();
  for (const uid of uids) {
    const name = shortNodeName(nameOf(uid));
    total.set(name, (total.get(name) ?? 0) + 1);
  }
  /** @type {Map<string, number>} */
  const seen = new Map();
  /** @type {Map<string, string>} */
  const labels = new Map();
  for (const uid of uids) {
    const name = shortNodeName(nameOf(uid));
    const k = (seen.get(name) ?? 0) + 1;
    seen.set(name, k);
    labels.set(uid, (total.get(name) ?? 0) > 1 ? `${name} ${subscript(k)}` : name);
  }
  return labels;
}

/** A node's name in full: `AddBackward0`, `+= AccumulateGrad`. @param {string} name torch's own */
export function nodeLabel(name) {
  const short = name.slice(name.lastIndexOf("::") + (name.includes("::") ? 2 : 1));
  return short === "AccumulateGrad" ? `+= ${short}` : short;
}
