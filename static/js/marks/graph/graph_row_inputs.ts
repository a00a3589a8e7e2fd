/** What the description of a row of the graph is made from: as long as that is the same, so is the description. */

import type { Rect } from "../../layout/pane.ts";
import type { RenderContext } from "../render_context.ts";
import type { NodePlace, AttachedLeafPlace } from "../../layout/graph/graph_places.ts";

/** All of it but the row's place, from which heights in it are counted; null for one that says what this step did.
 * Nodes that no step changed are the same objects as before. */
export function nodePlaceMarkInputs(renderContext: RenderContext, row: NodePlace, railed: boolean): unknown[] | null {
  const { snap, events } = renderContext;
  if (snap.fresh.has(row.uid) || row.slots.some((slot) => events.has(slot.key))) return null;
  const inputs: unknown[] = [railed, row.past, row.seed, row.met, row.moreGrads, row.bottom - row.y, row.y - row.top];
  const addRect = ({ x, y, w, h }: Rect) => inputs.push(x, y - row.y, w, h);
  inputs.push(row.x, row.w, row.h, row.font, row.label, row.lead, row.rail, row.name, row.dot);
  inputs.push(row.turn?.k, row.turn?.state, snap.entities.get(row.uid), row.tag?.text, row.tag?.hidden.join());
  inputs.push(row.flags.length, row.slots.length, row.docks.length, row.grads.length);
  inputs.push(row.moreSlots?.keys.join());
  for (const place of [row.tag, row.moreSlots]) if (place) addRect(place);
  for (const flag of row.flags) {
    addRect(flag);
    inputs.push(flag.text);
  }
  for (const slot of row.slots) {
    addRect(slot);
    inputs.push(slot.key, slot.saved, slot.state, slot.dot, slot.head, slot.now);
  }
  for (const grad of row.grads) {
    addRect(grad);
    inputs.push(
      grad.key,
      grad.grad,
      grad.now,
      grad.adds,
      grad.to?.text,
      grad.to?.x,
      grad.words?.label,
      grad.words?.name,
      grad.words?.w,
    );
  }
  return row.docks.every((dock) => addAttachedLeafInputs(inputs, addRect, renderContext, dock)) ? inputs : null;
}

/** Returns whether none of it is new. */
function addAttachedLeafInputs(
  inputs: unknown[],
  addRect: (rect: Rect) => void,
  { snap }: RenderContext,
  dock: AttachedLeafPlace,
): boolean {
  addRect(dock);
  inputs.push(dock.leaf, dock.label, dock.turn?.k, dock.turn?.state, dock.again, dock.met, dock.lead, dock.most);
  inputs.push(dock.dock.ks.join(), snap.entities.get(dock.leaf), dock.shapings.length);
  for (const shaping of dock.shapings) {
    addRect(shaping);
    inputs.push(shaping.uid, shaping.label, shaping.turn?.k, shaping.turn?.state, shaping.lead);
    inputs.push(snap.entities.get(shaping.uid));
  }
  return !snap.fresh.has(dock.leaf) && !dock.shapings.some(({ uid }) => snap.fresh.has(uid));
}
