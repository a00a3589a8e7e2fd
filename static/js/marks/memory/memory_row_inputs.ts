/** What the description of a row of the memory is made from: as long as that is the same, so is the description. */

import { isHandle } from "../../trace/entities.ts";
import { isRowSelected } from "./memory_row.ts";
import type { MemoryColumns } from "../../layout/memory/memory_columns.ts";
import type { NameTag } from "../../trace/names.ts";
import type { RenderContext } from "../render_context.ts";
import type { PlacedItem, RowItem, RowBlock } from "../../layout/memory/memory_parts.ts";

/** All of it but the row's place; null for one that the step touched, or that says what this step did. Entities that
 * no step changed are the same objects as before. */
export function memoryRowMarkInputs(
  renderContext: RenderContext,
  placedItem: PlacedItem,
  item: RowItem,
  columns: MemoryColumns,
  selected: string | null,
): unknown[] | null {
  const { layout, h: height } = placedItem;
  if (!layout || item.block.hot) return null;
  const inputs = [columns.w, height, layout.level, layout.top, item.indent, item.small, isRowSelected(item, selected)];
  return addRowBlockInputs(inputs, renderContext, item.block) ? inputs : null;
}

/** Returns whether the row can be cached. */
function addRowBlockInputs(inputs: unknown[], renderContext: RenderContext, block: RowBlock): boolean {
  const { snap, grads, writers } = renderContext;
  const storage = snap.entities.get(block.storage ?? "");
  if (storage?.kind === "storage" && !storage.cells) return false; // its summary tells of the step's writes
  inputs.push(
    block.storage,
    block.label,
    block.purpose?.words,
    block.purpose?.name,
    block.purpose?.gradient,
    grads.has(block.key),
    JSON.stringify([...(renderContext.oldValues().get(block.storage ?? "") ?? [])]),
  );
  for (const uid of block.uids) {
    if (snap.fresh.has(uid) || snap.changed.has(uid) || snap.written.has(uid) || writers.has(uid)) return false;
    inputs.push(uid, snap.entities.get(uid));
  }
  inputs.push(block.handles.length, block.others.length, block.grads.size, block.pins.length);
  for (const uid of block.handles) addHandleInputs(inputs, renderContext, block, uid);
  for (const uid of block.others) inputs.push(uid, renderContext.names.tags.has(uid));
  for (const { node, slot, saved } of block.pins)
    inputs.push(node, slot, saved, snap.entities.get(saved.counter ?? ""), renderContext.events.has(`${node}:${slot}`));
  for (const [ownerUid, grad] of block.grads) {
    inputs.push(ownerUid);
    if (!addRowBlockInputs(inputs, renderContext, grad)) return false;
  }
  return true;
}

function addHandleInputs(inputs: unknown[], { snap, names }: RenderContext, block: RowBlock, uid: string) {
  const handle = snap.entities.get(uid);
  const gradUid = isHandle(handle) ? handle.grad : undefined;
  inputs.push(uid, names.tags.has(uid), names.paths.get(uid));
  if (gradUid && !block.grads.has(uid))
    inputs.push(snap.entities.has(gradUid), names.paths.get(gradUid), ...nameTagInputs(names.tags.get(gradUid)));
  for (const { tag, text, scope, moved } of block.names.get(uid) ?? [])
    inputs.push(tag.text, tag.kind, tag.frame, tag.name, text, scope, moved);
}

function nameTagInputs(tags: NameTag[] = []) {
  return tags.flatMap(({ kind, text }) => [kind, text]);
}
