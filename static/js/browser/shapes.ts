/** The shapes that pictures are made of, each described by its class and its place. */

import { h, type Attributes, type VNode } from "./svg.ts";
import type { Target } from "./targets.ts";

/** a shape's key, or its key with what few shapes have: further attributes, the size of its type, what it is called
 * where it is pointed at */
type More = string | (Attributes & { size?: number | string; title?: string | null });

export function textMark(className: string | null, x: number, y: number, text: string, more?: More): VNode {
  return shapeMark("text", className, { x, y }, text, more);
}

export function rectMark(
  className: string | null,
  x: number,
  y: number,
  width: number,
  height: number,
  more?: More,
): VNode {
  return shapeMark("rect", className, { x, y, width, height }, null, more);
}

export function circleMark(className: string | null, cx: number, cy: number, r: number, more?: More): VNode {
  return shapeMark("circle", className, { cx, cy, r }, null, more);
}

export function pathMark(className: string | null, d: string, more?: More): VNode {
  return shapeMark("path", className, { d }, null, more);
}

/** What is said of the element that it stands in, where that is pointed at. */
export function titleMark(text: string): VNode {
  return h("title", {}, text);
}

function shapeMark(
  tag: string,
  className: string | null,
  place: Attributes,
  text: string | null,
  more: More = {},
): VNode {
  if (typeof more === "string") return h(tag, { key: more, class: className, ...place }, text);
  const { size, title, ...rest } = more;
  const attributes = { class: className, ...place, "font-size": size, ...rest };
  return h(tag, attributes, text, title != null && titleMark(title));
}

/** Of an element that stands for something: the focus reaches it, and it is called so. */
export function focusable(target: Target, role: string, label: string): Attributes {
  return { target, tabindex: "0", role, "aria-label": label };
}

/** Where something stands in its pane's part, which begins at `left`. */
export function transformToHeight(y: number, left = 0) {
  return `translate(${left} ${y})`;
}
