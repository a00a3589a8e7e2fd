/**
 * The marks of a finding as shapes: of each role in its chain, 26 by 16, and of how grave it is, 16 by 16. No document.
 */

import type { LinkRole, Severity } from "../findings/finding.ts";

/** each an element and its attributes */
export type IconShapes = readonly (readonly [string, Record<string, string | number>])[];

/**
 * Shapes as [element, attributes]; colours are the classes of `findings.css`. No text: it would be read as the
 * program's.
 */
const PIN_SHAPES = [
  ["rect", { x: 4, y: 1, width: 18, height: 10, rx: 4, class: "f-pin" }],
  ["path", { d: "M4 14h18M4 14v-2M22 14v-2", class: "f-pin-line" }],
  ["path", { d: "m10 3.500 3 5 3-5", class: "f-on-pin" }],
] as const;
const CELL_SHAPES = [
  ["path", { d: "M1 3.500h24v9H1z", class: "f-strip" }],
  ["rect", { x: 8.5, y: 2, width: 9, height: 12, rx: 1.5, class: "f-written" }],
] as const;
const GRADIENT_SHAPES = [
  ["rect", { x: 6, y: 2, width: 14, height: 12, rx: 2, class: "f-gradient" }],
  ["path", { d: "M13 11.500v-7M10 7l3-3 3 3", class: "f-gradient-line" }],
] as const;
const TAG_SHAPES = [
  ["path", { d: "M2 3h15l6 5-6 5H2z", class: "f-tag" }],
  ["path", { d: "M6 8h8", class: "f-tag-line" }],
] as const;

export const SHAPES_BY_ROLE: Record<LinkRole, IconShapes> = {
  saved: PIN_SHAPES,
  shares: [
    ["path", { d: "M3 3v10M3 5h16M3 11h16", class: "f-rail" }],
    ["rect", { x: 13, y: 2, width: 11, height: 6, rx: 3, class: "f-bead" }],
    ["rect", { x: 13, y: 9, width: 11, height: 6, rx: 3, class: "f-bead" }],
  ],
  written: CELL_SHAPES,
  checked: [
    ["rect", { x: 2, y: 2, width: 22, height: 12, rx: 6, class: "f-bad" }],
    ["path", { d: "m10 5 6 6M16 5l-6 6", class: "f-on-bad" }],
  ],
  used: [
    ["rect", { x: 2.5, y: 2.5, width: 21, height: 11, rx: 5.5, class: "f-bad-frame" }],
    ["path", { d: "M13 4.500v4.500M13 11v.5", class: "f-bad-line" }],
  ],
  cut: [
    ["path", { d: "M1 8h8M17 8h8", class: "f-rail" }],
    ["path", { d: "m11 3-2 10M17 3l-2 10", class: "f-bad-line" }],
  ],
  made: TAG_SHAPES,
  starts: [
    ["circle", { cx: 6, cy: 8, r: 4, class: "f-node" }],
    ["path", { d: "M24 8H12M15.500 4.500 12 8l3.500 3.500", class: "f-gradient-line" }],
  ],
  way: [
    ["path", { d: "M1 8h24", class: "f-rail" }],
    ["circle", { cx: 13, cy: 8, r: 4.5, class: "f-node" }],
  ],
  none: [["rect", { x: 4, y: 3, width: 18, height: 10, rx: 2, class: "f-dashed" }]],
  nonfinite: [
    ["rect", { x: 1.5, y: 2, width: 23, height: 12, rx: 2, class: "f-bad-frame" }],
    ["path", { d: "m5 11 4-6 4 6 4-6 4 6", class: "f-bad-line" }],
  ],
  gradient: GRADIENT_SHAPES,
  released: [
    ["rect", { x: 4, y: 2, width: 18, height: 10, rx: 4, class: "f-dashed" }],
    ["path", { d: "M4 15h18", class: "f-rail" }],
  ],
  kept: PIN_SHAPES,
  read: [
    ["path", { d: "M2 8c5-7 17-7 22 0-5 7-17 7-22 0z", class: "f-strip" }],
    ["circle", { cx: 13, cy: 8, r: 3, class: "f-node" }],
  ],
  hooked: [["path", { d: "M17 1.500v8a4 4 0 0 1-8 0V8l-2.500 2.500M9 8l2.500 2.500", class: "f-rail" }]],
  moved: [
    ["path", { d: "M1 4h8l3 4-3 4H1z", class: "f-tag-frame" }],
    ["path", { d: "M14 8h10M20.500 4.500 24 8l-3.500 3.500", class: "f-rail" }],
  ],
  counted: [
    ["rect", { x: 2, y: 2, width: 22, height: 12, rx: 2, class: "f-strip" }],
    ["path", { d: "m10 5 6 6M16 5l-6 6", class: "f-rail" }],
  ],
};

export const SHAPES_BY_SEVERITY: Record<Severity, IconShapes> = {
  error: [
    ["path", { d: "M5 1h6l4 4v6l-4 4H5l-4-4V5z", class: "f-bad" }],
    ["path", { d: "m5.500 5.500 5 5M10.500 5.500l-5 5", class: "f-on-bad" }],
  ],
  warning: [
    ["path", { d: "M8 1.500 15 14H1z", class: "f-warning" }],
    ["path", { d: "M8 5.500v4.500M8 11.500v1", class: "f-on-warning" }],
  ],
  note: [
    ["circle", { cx: 8, cy: 8, r: 6.5, class: "f-note" }],
    ["path", { d: "M8 7v4.500M8 4.500v.5", class: "f-on-note" }],
  ],
};
