/** What the graph pane draws at a step, as rectangles with names, for tests of its layout. */

import type { GraphPane } from "../../../layout/graph/graph_pane.ts";

export interface Place {
  name: string;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Everything with a place of its own. */
export function places(pane: GraphPane): Place[] {
  const out: Place[] = [];
  const add = (name: string, { x, y, w, h }: any) => out.push({ name, x, y, w, h });
  for (const row of pane.rows) {
    add(`node ${row.uid}`, row);
    if (row.tag) add(`tag ${row.uid}`, row.tag);
    for (const flag of row.flags) add(`flag ${row.uid}`, flag);
    for (const slot of row.slots) add(`slot ${slot.key}`, slot);
    for (const dock of row.docks) {
      add(`leaf ${dock.leaf} at ${row.uid}`, dock);
      for (const shaping of dock.shapings) add(`node ${shaping.uid}`, shaping);
    }
    for (const grad of row.grads) {
      const x = grad.to?.x ?? grad.x;
      add(`grad ${grad.key}`, { ...grad, x, w: grad.x + grad.w - x });
    }
  }
  for (const title of pane.titles) add(`title ${title.key}`, { x: 8, y: title.y, w: pane.w - 16, h: 18 });
  for (const leaf of pane.idle.leaves) add(`idle ${leaf.leaf}`, leaf);
  if (pane.idle.line) add("idle", pane.idle.line);
  return out;
}

/** Pairs of places that lie over each other, and places that stick out. */
export function faults(pane: GraphPane): string[] {
  const all = places(pane).sort((a, b) => a.y - b.y);
  const out: string[] = [];
  all.forEach((a, i) => {
    if (a.x < 0 || a.x + a.w > pane.w + 0.01 || a.y < 0 || a.y + a.h > pane.height) out.push(`${a.name} sticks out`);
    for (let k = i + 1; k < all.length && all[k].y < a.y + a.h - 0.5; k++) {
      const b = all[k];
      if (a.x < b.x + b.w - 0.5 && b.x < a.x + a.w - 0.5) out.push(`${a.name} over ${b.name}`);
    }
  });
  return out;
}
