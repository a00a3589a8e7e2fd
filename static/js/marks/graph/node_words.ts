/** What is said of a node and of what it keeps for backward, in the program's names. */

import { fullNumberText } from "../../trace/format.ts";
import type { SlotPlace } from "../../layout/graph/graph_places.ts";
import type { Node } from "../../trace/wire.ts";
import type { StageLabels } from "../labels.ts";

/** `outputs` are the names of what the node made. */
export function nodeTooltip(name: string, uid: string, outputs: string[], node: Node | undefined) {
  const attrs = Object.entries(node?.attrs ?? {}).map(([attr, value]) => `${attr} = ${fullNumberText(value)}`);
  const names = outputs.length ? [`→ ${outputs.join(", ")}`] : [];
  return [`${name} ${uid}`, ...names, ...attrs].join("\n");
}

/** What a slot keeps: a name of the program, and what is wrong with it. */
export function savedSlotWords(labels: StageLabels, { state, saved, head, now }: SlotPlace) {
  const name = head || labels.unnamedResult;
  if (now !== null)
    return `${name}: ${labels.keptVersion.replace("{v}", String(saved.expected ?? "?")).replace("{now}", String(now))}`;
  if (state === "changed") return `${name}: ${labels.otherBytes}`;
  return state === "ok" || state === "freed" ? name : `${name} ${state}`;
}

/** Torch's own name of a slot first, then all that there is to say of it. */
export function savedSlotTitle(labels: StageLabels, slot: SlotPlace) {
  if (slot.state === "freed") {
    const name = slot.dot ? "" : `: ${savedSlotWords(labels, slot)}`;
    return `${slot.slot}${name} · ${labels.released}`;
  }
  const version =
    typeof slot.saved.expected === "number" && slot.now === null
      ? ` · ${labels.versionKept.replace("{v}", String(slot.saved.expected))}`
      : "";
  return `${slot.slot}: ${savedSlotWords(labels, slot)}${version}`;
}
