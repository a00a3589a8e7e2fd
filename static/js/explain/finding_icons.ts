/** The mark of each role in a finding's chain, 26 by 16: the same in the card, in the editor and on the timeline. */

import { SHAPES_BY_ROLE, SHAPES_BY_SEVERITY, type IconShapes } from "../marks/finding_shapes.ts";
import type { LinkRole, Severity } from "../findings/finding.ts";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

const CALM_SHAPES = [
  ["circle", { cx: 8, cy: 8, r: 6.5, class: "f-note" }],
  ["path", { d: "m5 8.200 2.200 2.200 4-4.600", class: "f-on-note" }],
] as const;

/** The mark of a role. */
export function roleIcon(role: LinkRole): SVGSVGElement {
  return iconElement(26, 16, SHAPES_BY_ROLE[role] ?? SHAPES_BY_ROLE.made, `finding-icon role-${role}`);
}

/** The mark of how grave a finding is; its shape says it as well as its colour. */
export function severityIcon(severity: Severity) {
  return iconElement(16, 16, SHAPES_BY_SEVERITY[severity], "finding-severity");
}

/** The mark of a run in which nothing is wrong: grey, for nobody says that the program is right. */
export function noFindingsIcon() {
  return iconElement(16, 16, CALM_SHAPES, "finding-severity");
}

function iconElement(width: number, height: number, shapes: IconShapes, className: string): SVGSVGElement {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("class", className);
  svg.setAttribute("aria-hidden", "true");
  for (const [name, attributes] of shapes) {
    const shape = document.createElementNS(SVG_NAMESPACE, name);
    for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, String(value));
    svg.append(shape);
  }
  return svg;
}

/** What a line of the program has to do with a finding: the role's mark and its name, which is no part of the line's
 * text. */
export function lineRoleElement(role: LinkRole, name: string) {
  const box = document.createElement("span");
  box.className = "line-role";
  box.dataset.name = name;
  box.append(roleIcon(role));
  return box;
}
