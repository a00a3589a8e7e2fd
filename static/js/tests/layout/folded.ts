/** What of a step is in closed folds: by uid, the key of the fold. */

import type { GraphPane } from "../../layout/graph/graph_pane.ts";
import type { MemoryPane } from "../../layout/memory/memory_pane.ts";
import type { RowBlock } from "../../layout/memory/memory_parts.ts";

export function foldedInMemory({ placed, anchors }: MemoryPane): Map<string, string> {
  const folds = new Map<string, string>();
  const add = (block: RowBlock, key: string) => {
    for (const uid of block.uids) folds.set(uid, key);
    for (const { node, slot } of block.pins) folds.set(`pin ${node}:${slot}`, key);
    for (const grad of block.grads.values()) add(grad, key);
  };
  for (const { item, folded } of placed) {
    if (item.kind === "fold") for (const block of item.blocks) add(block, item.key);
    if (item.kind !== "heading") continue;
    const key = item.type === "optimizer" ? `state ${item.uid}` : `rows ${item.section}`;
    for (const { item: row } of folded) if (row.kind === "row") add(row.block, key);
    for (const block of item.state) add(block, key);
  }
  for (const uid of anchors.keys()) folds.delete(uid);
  return folds;
}

export function foldedInGraph({ idle: { line }, anchors }: GraphPane): Map<string, string> {
  if (!line || line.open) return new Map();
  return new Map(line.uids.filter((uid) => !anchors.has(uid)).map((uid) => [uid, line.key]));
}
