/**
 * What the graph's nodes are called for short: torch's name without its ending, numbered where a graph has it more than
 * once.
 */

import { operationNameOfNode } from "../../trace/format.ts";

/** Takes the name that torch gives to a node. */
export function shortNodeName(name: string) {
  return operationNameOfNode(name) || name;
}

/**
 * Labels by uid of one connected graph's nodes, which come in program order: `Addmm`, or `Addmm 2` where several have
 * the name. `nameOf` gives torch's name of a node.
 */
export function numberedNodeLabels(uids: string[], nameOf: (uid: string) => string): Map<string, string> {
  const totals = new Map<string, number>();
  for (const uid of uids) {
    const name = shortNodeName(nameOf(uid));
    totals.set(name, (totals.get(name) ?? 0) + 1);
  }
  const counts = new Map<string, number>();
  const labels = new Map<string, string>();
  for (const uid of uids) {
    const name = shortNodeName(nameOf(uid));
    const k = (counts.get(name) ?? 0) + 1;
    counts.set(name, k);
    labels.set(uid, (totals.get(name) ?? 0) > 1 ? `${name} ${k}` : name);
  }
  return labels;
}

/** A node's name in full, from torch's own: `AddBackward0`, `+= AccumulateGrad`. */
export function unqualifiedNodeName(name: string) {
  const plainName = name.slice(name.lastIndexOf("::") + (name.includes("::") ? 2 : 1));
  return plainName === "AccumulateGrad" ? `+= ${plainName}` : plainName;
}

/** A label cut to `maxLength` characters so that its number stays. */
export function shortenNodeLabel(label: string, maxLength: number) {
  const chars = Array.from(label);
  if (chars.length <= maxLength) return label;
  const space = label.lastIndexOf(" ");
  const numberText = space < 0 ? "" : label.slice(space);
  return `${chars.slice(0, Math.max(1, maxLength - 1 - Array.from(numberText).length)).join("")}…${numberText}`;
}

/** A path in at most so many characters: `net.0.weight`, `0.weight`, `…weight`. */
export function shortenPath(path: string, maxLength: number) {
  const parts = path.match(/^[^.[]+|\.[^.[]+|\[[^\]]*\]?/g) ?? [path];
  for (let from = 0; from === 0 || from + 1 < parts.length; from++) {
    const text = parts.slice(from).join("").replace(/^\./, "");
    if (Array.from(text).length <= maxLength) return text;
  }
  return `…${Array.from(path)
    .slice(-Math.max(1, maxLength - 1))
    .join("")}`;
}

/** What is left of a path at the least: the name itself and what it is in. */
export function lastPathParts(path: string) {
  const parts = path.match(/^[^.[]+|\.[^.[]+|\[[^\]]*\]?/g) ?? [path];
  return parts.slice(-2).join("").replace(/^\./, "");
}
