/** Lines of the graph pane that are no node: graphs' titles, leaves that wait. */

import { h } from "../../browser/svg.ts";
import { pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import type { Target } from "../../browser/targets.ts";
import { textThatFits } from "./graph_texts.ts";
import type { UnreadLeafPlaces } from "../../layout/graph/unread_leaves.ts";
import type { GraphTitlePlace } from "../../layout/graph/graph_pane.ts";
import type { StageLabels } from "../labels.ts";

/** What is spoken begins with what is read, where that is cut: who speaks to the page presses by it. */
function spokenName(shown: string[], full: string) {
  const read = shown.filter(Boolean).join(": ");
  return read.includes("…") ? `${read}, ${full}` : full;
}

function foldSignMark(x: number, height: number, open: boolean) {
  const y = height / 2;
  const d = open ? `M${x + 5} ${y - 2.5}h8l-4 5z` : `M${x + 6} ${y - 4}v8l5 -4z`;
  return pathMark("fold-triangle", d, "sign");
}

/** What makes an element open and close a fold. */
function foldToggleAttributes(key: string, open: boolean, label: string, members: string[]) {
  const target: Target = { kind: "fold", key, members };
  return {
    "data-fold": key,
    "data-members": members.length ? members.join(" ") : null,
    target,
    tabindex: "0",
    role: "button",
    "aria-expanded": String(open),
    "aria-label": label,
  };
}

/** Leaves that wait for a graph. */
export function unreadLeavesLineMark(labels: StageLabels, line: NonNullable<UnreadLeafPlaces["line"]>) {
  const { x, y, w, h: height } = line;
  const text = `${labels.idleLeaves.replace("{n}", String(line.uids.length))}: ${line.names}`;
  const shown = textThatFits(text, w - 24, 12);
  return h(
    "g",
    {
      key: "idle",
      class: "graph-fold moves",
      transform: `translate(0 ${y})`,
      ...foldToggleAttributes(line.key, line.open, spokenName([shown], text), line.open ? [] : line.uids),
    },
    rectMark("fold-line-box", x, 0, w, height, { key: "box", rx: 5 }),
    foldSignMark(x, height, line.open),
    textMark("fold-count", x + 18, height / 2 + 4, shown, { key: "count", size: 12 }),
    titleMark(text),
  );
}

/** Which graph follows, and whether backward is in it. `w` is the pane's width. */
export function graphTitleMark(labels: StageLabels, { key, y, name, backward }: GraphTitlePlace, w: number) {
  const text = name ? labels.graphOf.replace("{name}", name) : labels.graphUnnamed;
  const state = backward === "here" ? ` · ${labels.backwardHere}` : backward ? ` · ${labels.backwardDone}` : "";
  return h("g", { key: `title ${key}`, class: "graph-title moves", transform: `translate(0 ${y})` }, [
    h("text", { key: "text", x: 8, y: 14, "font-size": 12 }, textThatFits(text + state, w - 16, 12)),
    pathMark("rule", `M8 18.5H${w - 8}`, "rule"),
  ]);
}
