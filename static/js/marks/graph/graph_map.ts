/**
 * The map of the graph as SVG: dots with short labels, thin edges beside them, and lines that count what has no dot.
 */

import { textWidth } from "../../layout/text/metrics.ts";
import { relativeToMapLeft, MAP_FONT_SIZE } from "../../layout/graph/graph_map.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { proseThatFits } from "./graph_texts.ts";
import { cachedMark, transformToHeight, type MarkCache } from "../mark_cache.ts";
import type { EdgePlace } from "../../layout/graph/graph_edges.ts";
import type { GraphMap, MapDot } from "../../layout/graph/graph_map.ts";
import type { Node } from "../../trace/wire.ts";
import type { StepFacts } from "../step_facts.ts";

/** More than what stands at the foot of a pane is high. */
const BELOW_FOOT = 200;

/**
 * All of the map in one group, which moves with the width of its pane: most of its dots and edges are those of the step
 * before. Nodes that are `inFocus` stand in full beside the map: their dots are not the nodes themselves.
 */
export function graphMapMarks(
  stepFacts: StepFacts,
  map: GraphMap,
  height: number,
  inFocus: ReadonlySet<string>,
  markCache: MarkCache | null,
): VNode {
  const edges = map.edges.map((edge) => {
    const inputsOf = () => [edge.d, edge.flow, stepFacts.snap.fresh.has(edge.from)];
    return cachedMark(markCache, `map edge ${edge.key} ${edge.to}`, inputsOf, null, () => mapEdgeMark(stepFacts, edge));
  });
  const dots = map.dots.map((dot) => {
    const inputsOf = () => dotMarkInputs(stepFacts, dot, map.left, inFocus.has(dot.uid));
    return cachedMark(markCache, `map ${dotKey(dot)}`, inputsOf, null, () =>
      mapDotMark(stepFacts, dotFromLeft(dot, map.left), inFocus.has(dot.uid)),
    );
  });
  return h(
    "g",
    { key: "map", transform: transformToHeight(0, map.left) },
    // The rule runs on beside what stands at the pane's foot.
    h("path", { key: "map rule", class: "overview-rule", d: `M0.5 0V${height + BELOW_FOOT}` }),
    h("g", { key: "map edges", class: "map-edges" }, edges),
    dots,
    map.rest.map((rest) => restLineMark(stepFacts, relativeToMapLeft(rest, map.left))),
  );
}

function dotFromLeft(dot: MapDot, left: number): MapDot {
  const { label } = dot;
  const nameX = label && Math.round((label.nameX - left) * 100) / 100;
  return { ...relativeToMapLeft(dot, left), label: label && { ...relativeToMapLeft(label, left), nameX: nameX ?? 0 } };
}

/** A leaf has a dot at each of its readers. */
function dotKey({ uid, again, y, h: height }: MapDot) {
  return `dot ${uid} ${again ? Math.round(y + height / 2) : ""}`;
}

/** All that the description of a dot is made from: where its label stands follows from its text. */
function dotMarkInputs({ snap, names }: StepFacts, dot: MapDot, left: number, inFocus: boolean): unknown[] {
  const { uid, label, y, w } = dot;
  const x = Math.round((dot.x - left) * 100);
  const node = snap.entities.get(uid) as Node | undefined;
  const path = node?.variable ? names.paths.get(node.variable) : undefined;
  const said = [label?.text, label?.name, dot.turn?.state, snap.fresh.has(uid)];
  return [x, y, w, dot.kind, dot.again, dot.touched, dot.broken, inFocus, node, path, ...said];
}

function mapEdgeMark({ snap }: StepFacts, edge: EdgePlace) {
  return h(
    "g",
    {
      key: `edge ${edge.key} ${edge.to}`,
      class: classNames("edge map-edge", edge.flow, snap.fresh.has(edge.from) && "fresh"),
      "data-edge": edge.key,
      "data-from": edge.from,
      "data-to": edge.to,
      target: { kind: "edge", key: edge.key, from: edge.from, to: edge.to },
    },
    h("path", { key: "line", class: "edge-line", d: edge.d }),
  );
}

function mapDotMark({ snap, labels, names }: StepFacts, dot: MapDot, inFocus: boolean) {
  const { uid, label, turn } = dot;
  const node = snap.entities.get(uid) as Node;
  const [cx, cy, r] = [dot.x + dot.w / 2, dot.y + dot.h / 2, dot.w / 2];
  const isSelf = !dot.again && !inFocus;
  const variable = node?.variable ?? null;
  const isVisited = turn?.state === "done" || turn?.state === "running";
  const name = variable ? `AccumulateGrad ${names.paths.get(variable) ?? variable}` : (node?.name ?? uid);
  return h(
    "g",
    {
      key: dotKey(dot),
      class: classNames(
        "map-dot",
        dot.kind === "leaf" && "accumulate",
        dot.kind === "shaping" && "shaping",
        isSelf && "node",
        turn?.state,
        isVisited && "visited",
        dot.touched && "touched",
        node?.released && "released",
        dot.broken && "broken",
        snap.fresh.has(uid) && "fresh",
      ),
      "data-dot": uid,
      "data-node": isSelf ? uid : null,
      "data-variable": variable,
      target: dot.again ? { kind: "node again", variable } : { kind: "node", uid, variable },
      tabindex: isSelf && dot.kind === "node" ? "0" : null,
      role: "group",
      "aria-label": `${name}${label?.name ? ` ${label.name}` : ""}`,
    },
    label &&
      h("rect", {
        key: "reach",
        class: "map-reach",
        ...{ x: dot.x - 2, y: cy - 5.5, height: 11 },
        width: label.nameX - dot.x + textWidth(label.name, MAP_FONT_SIZE) + 2,
      }),
    h("circle", { key: "dot", class: "map-circle", cx, cy, r }),
    label && h("text", { key: "label", class: "map-label", x: label.x, y: cy + 4.2 }, label.text),
    label?.name && h("text", { key: "name", class: "map-name", x: label.nameX, y: cy + 4.2 }, label.name),
    h("title", { key: "title" }, `${labels.node} ${name}`),
  );
}

/** Nodes that have no dot. */
function restLineMark({ labels, names, snap }: StepFacts, { key, uids, x, y, w, h: height }: GraphMap["rest"][number]) {
  const isIdle = key === "graph idle";
  const text = (isIdle ? labels.idleLeaves : labels.otherGraphs).replace("{n}", String(uids.length));
  const listed = uids.map((uid) => {
    const variable = (snap.entities.get(uid) as Node | undefined)?.variable;
    return variable
      ? (names.paths.get(variable) ?? variable)
      : ((snap.entities.get(uid) as Node | undefined)?.name ?? uid);
  });
  return h(
    "g",
    {
      key,
      class: "map-rest",
      "data-fold": key,
      "data-members": uids.join(" "),
      target: { kind: "fold", key, members: uids },
      role: "group",
      "aria-label": `${text}: ${listed.slice(0, 24).join(", ")}`,
    },
    h("rect", { key: "box", class: "map-reach", x, y, width: w, height }),
    h("text", { key: "text", x: x + 4, y: y + 12, "font-size": 12 }, proseThatFits(text, w - 8, 12)),
    h("title", { key: "title" }, `${text}\n${listed.slice(0, 24).join(", ")}`),
  );
}
