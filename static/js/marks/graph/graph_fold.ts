/** Lines of the graph pane that are no node: closed and opened folds, graphs' titles, leaves that wait. */

import { textWidth } from "../../layout/text/metrics.ts";
import { classNames, h } from "../../browser/svg.ts";
import type { Target } from "../../browser/targets.ts";
import { textThatFits } from "./graph_texts.ts";
import type { GraphFoldPlace } from "../../layout/graph/graph_folds.ts";
import type { UnreadLeafPlaces } from "../../layout/graph/graph_idle.ts";
import type { GraphTitlePlace } from "../../layout/graph/graph_pane.ts";
import type { StageLabels } from "../labels.ts";
import type { StepFacts } from "../step_facts.ts";

const FOLD_FONT_SIZE = 12;
const SMALL_FOLD_FONT_SIZE = 12;

/** How many nodes and leaves. */
function nodeAndLeafCountText(labels: StageLabels, nodes: number, leaves: number) {
  const parts = [];
  if (nodes) parts.push(`${nodes} ${nodes === 1 ? labels.oneNode : labels.nodes}`);
  if (leaves) parts.push(`${leaves} ${leaves === 1 ? labels.oneLeaf : labels.leaves}`);
  return parts.join(", ");
}

/** A run of nodes without room. */
export function graphFoldMark({ labels, snap }: StepFacts, fold: GraphFoldPlace) {
  const { x, y, w, h: height } = fold;
  const count = nodeAndLeafCountText(labels, fold.nodes, fold.leaves);
  const details = [fold.module, fold.names].filter(Boolean).join(" · ");
  const namesX = 26 + textWidth(count, FOLD_FONT_SIZE);
  const rightPadding = fold.broken ? 20 : 8;
  const isNew = !fold.open && fold.uids.some((uid) => snap.fresh.has(uid));
  const shownCount = textThatFits(count, w - 24, FOLD_FONT_SIZE);
  const detailsWidth = w - namesX - rightPadding;
  const shownDetails = detailsWidth > 30 ? textThatFits(details, detailsWidth, SMALL_FOLD_FONT_SIZE) : "";
  return h(
    "g",
    {
      key: `fold ${fold.key}`,
      class: classNames("graph-fold moves", fold.running && "running", fold.broken && "broken"),
      transform: `translate(0 ${y})`,
      ...foldToggleAttributes(
        fold.key,
        fold.open,
        spokenName([shownCount, shownDetails], `${count}: ${details}`),
        fold.open ? [] : fold.uids,
      ),
    },
    isNew && h("rect", { key: "halo", class: "halo thin", x: x - 2, y: -2, width: w + 4, height: height + 4, rx: 7 }),
    h("rect", { key: "box", class: "fold-line-box", x, y: 0, width: w, height, rx: 5 }),
    foldSignMark(x, height, fold.open),
    h(
      "text",
      { key: "count", class: "fold-count", x: x + 18, y: height / 2 + 4, "font-size": FOLD_FONT_SIZE },
      shownCount,
    ),
    shownDetails &&
      h(
        "text",
        { key: "names", class: "fold-names", x: x + namesX, y: height / 2 + 3.6, "font-size": SMALL_FOLD_FONT_SIZE },
        ` ${shownDetails}`, // read in one go with the count
      ),
    fold.broken && h("circle", { key: "broken", class: "broken-dot", cx: x + w - 11, cy: height / 2, r: 4 }),
    h("title", { key: "title" }, `${count}\n${details}`),
  );
}

/** What is spoken begins with what is read, where that is cut: who speaks to the page presses by it. */
function spokenName(shown: string[], full: string) {
  const read = shown.filter(Boolean).join(": ");
  return read.includes("…") ? `${read}, ${full}` : full;
}

function foldSignMark(x: number, height: number, open: boolean) {
  const y = height / 2;
  const d = open ? `M${x + 5} ${y - 2.5}h8l-4 5z` : `M${x + 6} ${y - 4}v8l5 -4z`;
  return h("path", { key: "sign", class: "fold-triangle", d });
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
    h("rect", { key: "box", class: "fold-line-box plain", x, y: 0, width: w, height, rx: 5 }),
    foldSignMark(x, height, line.open),
    h("text", { key: "count", class: "fold-count", x: x + 18, y: height / 2 + 4, "font-size": 12 }, shown),
    h("title", { key: "title" }, text),
  );
}

/** Which graph follows, and whether backward is in it. `w` is the pane's width. */
export function graphTitleMark(labels: StageLabels, { key, y, name, backward }: GraphTitlePlace, w: number) {
  const text = name ? labels.graphOf.replace("{name}", name) : labels.graphUnnamed;
  const state = backward === "here" ? ` · ${labels.backwardHere}` : backward ? ` · ${labels.backwardDone}` : "";
  return h(
    "g",
    { key: `title ${key}`, class: "graph-title moves", transform: `translate(0 ${y})` },
    h("text", { key: "text", x: 8, y: 14, "font-size": 12 }, textThatFits(text + state, w - 16, 12)),
    h("path", { key: "rule", class: "rule", d: `M8 18.5H${w - 8}` }),
  );
}
