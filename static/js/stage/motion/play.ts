/** Plays a step's motion in the document, with the browser's own animations, and takes all of it away again. */

import { patchHost, SVG_NAMESPACE } from "../../browser/svg.ts";
import type { PaneSide } from "../../layout/stage_plan.ts";
import { describeMotion, type Motion, type MotionFrame } from "./describe.ts";
import type { DrawnItemPath } from "./drawing.ts";

export { describeMotion };

/** What the drawings of a stage stand in: of each pane what holds its marks, and what lies over both. */
export interface StageHosts {
  marks: Record<PaneSide, Element>;
  overlay: Element;
}

/** Returns the function that ends it: at once everything stands at its final place. */
export function playMotion(document: Document, hosts: StageHosts, motions: Motion[]): () => void {
  const copies: Element[] = [];
  const moved = motions.flatMap(({ mover }) => {
    if ("drawn" in mover) return [elementAt(hosts, mover.drawn)]; // before copies are put among what is drawn
    return [null];
  });
  const animations = motions.flatMap((motion, k) => {
    const { mover } = motion;
    const element = "copy" in mover ? placeCopy(document, hosts, mover, copies) : moved[k];
    return element ? [animate(element, motion)] : [];
  });
  let ended = false;
  const end = () => {
    if (ended) return;
    ended = true;
    for (const animation of animations) animation.cancel();
    for (const copy of copies) copy.remove();
  };
  Promise.all(animations.map(({ finished }) => finished)).then(end, () => {});
  return end;
}

function elementAt(hosts: StageHosts, { pane, path }: DrawnItemPath): Element | null {
  let element: Element | undefined = hosts.marks[pane];
  for (const k of path) element = element?.children[k];
  return element ?? null;
}

/** Nobody can reach it, and it is not said. */
function placeCopy(
  document: Document,
  hosts: StageHosts,
  { copy, into }: Extract<Motion["mover"], { copy: unknown }>,
  copies: Element[],
): Element | null {
  const layer = document.createElementNS(SVG_NAMESPACE, "g");
  layer.setAttribute("class", `motion-copy${"over" in into ? ` ${into.over}-pane` : ""}`);
  layer.setAttribute("aria-hidden", "true");
  patchHost(document, layer, [copy]);
  if ("over" in into) hosts.overlay.append(layer);
  else if ("behind" in into) hosts.marks[into.behind].before(layer);
  else elementAt(hosts, into)?.append(layer);
  copies.push(layer);
  return layer;
}

function animate(element: Element, { base, frames, duration, easing }: Motion): Animation {
  return element.animate(
    frames.map((frame) => keyframe(frame, base)),
    { duration, easing, fill: "both" },
  );
}

function keyframe({ at, x, y, scale, about, opacity, easing }: MotionFrame, base: Motion["base"]): Keyframe {
  const frame: Keyframe = { offset: at };
  const [cx, cy] = about ?? [0, 0];
  if (x !== undefined || scale || base) {
    const [dx, dy] = [(base?.[0] ?? 0) + (x ?? 0), (base?.[1] ?? 0) + (y ?? 0)];
    const size = scale ? ` scale(${scale[0]}, ${scale[1]}) translate(${-cx}px, ${-cy}px)` : "";
    frame.transform = `translate(${dx + (scale ? cx : 0)}px, ${dy + (scale ? cy : 0)}px)${size}`;
  }
  if (opacity !== undefined) frame.opacity = opacity;
  if (easing) frame.easing = easing;
  return frame;
}
