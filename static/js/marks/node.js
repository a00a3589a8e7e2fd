/** The autograd graph: nodes with their saved slots, and edges. */

import { find } from "../entities.js";
import { fullNumber } from "../layout/format.js";
import { nodeLabel } from "../layout/graph.js";
import { textWidth } from "../layout/metrics.js";
import { cls, h } from "../svg.js";
import { ALARMS, pinKey } from "../trace_index.js";
import { roundedPath } from "./path.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */

/** @param {Scene} scene @param {string} uid @param {import("../entities.js").Node} node */
export function nodeMark(scene, uid, node) {
  const box = scene.plan.graph.boxes.get(uid);
  const life = scene.plan.lives.nodes.get(uid);
  if (!box || !life) return null;
  const { metrics: M } = scene.plan;
  const accumulates = (node.name ?? "").includes("AccumulateGrad");
  const visit = scene.visited.get(uid);
  const running = visit && visit.step === scene.snap.index;
  const done = visit && visit.step < scene.snap.index;
  const failed = running && scene.snap.step?.visit?.failed;
  const names = scene.outputs.get(uid) ?? [];
  const r = accumulates ? M.nodeH / 2 : 7;
  const parts = [
    scene.snap.fresh.has(uid) &&
      h("rect", {
        key: "halo",
        class: "halo",
        x: box.x - 3,
        y: box.y - 3,
        width: box.w + 6,
        height: box.h + 6,
        rx: r + 2,
      }),
    h("rect", { key: "box", class: "node-box", x: box.x, y: box.y, width: box.w, height: box.h, rx: r }),
    h(
      "text",
      { key: "name", class: "node-name", x: box.x + 12, y: box.cy + 4, "font-size": M.font - 1 },
      nodeLabel(life.name),
    ),
  ];
  for (const [slot, y] of box.slots) {
    const saved = node.saved?.[slot];
    if (saved) parts.push(slotMark(scene, uid, slot, saved, node, { x: box.x + 6, y, w: box.w - 12, h: M.slotH - 3 }));
  }
  parts.push(...nodeTags(names.slice(0, 3), box));
  if (visit) {
    const k = String(visit.k);
    parts.push(
      h("circle", { key: "order", class: "order", cx: box.x, cy: box.y, r: 9 }),
      h("text", { key: "order text", class: "order-text", x: box.x, y: box.y + 3.5 }, k),
    );
  }
  const attrs = Object.entries(node.attrs ?? {}).map(([k, v]) => `${k} = ${fullNumber(v)}`);
  parts.push(h("title", { key: "title" }, [`${node.name} ${uid}`, ...attrs].join("\n")));
  return h(
    "g",
    {
      key: `node ${uid}`,
      "data-node": uid,
      "data-variable": node.variable ?? null,
      tabindex: "0",
      role: "group",
      "aria-label": node.name ?? uid,
      class: cls(
        "node",
        accumulates && "accumulate",
        running && "running",
        done && "done",
        visit && !running && !done && "waiting",
        failed && "failed",
        node.released && "released",
        scene.snap.fresh.has(uid) && "fresh",
      ),
    },
    parts,
  );
}

/** @param {Scene} scene @param {string} uid @param {string} slot @param {import("../entities.js").Slot} saved @param {import("../entities.js").Node} node
 * @param {{x: number, y: number, w: number, h: number}} at */
function slotMark(scene, uid, slot, saved, node, at) {
  const { labels } = scene;
  const freed = saved.state === "freed" || node.released;
  const version = saved.expected === undefined || saved.expected === null ? "" : `v${saved.expected}`;
  const now = find(scene.snap.entities, saved.counter, "counter")?.value;
  const where = saved.storage ?? (saved.tensor ? saved.tensor : labels.none);
  const text = freed
    ? `${slot} ${labels.released}`
    : saved.state === "stale" && now !== undefined
      ? `${slot}  ${where} @ ${version}, ${labels.now} v${now}`
      : saved.state === "changed"
        ? `${slot}  ${where} @ ${version} ≠`
        : `${slot}  ${where}${version ? ` @ ${version}` : ""}${saved.state === "ok" ? "" : ` ${saved.state}`}`;
  const size = Math.min(10.5, (at.w - 12) / (0.603 * Math.max(1, text.length)));
  return h(
    "g",
    {
      key: `slot ${slot}`,
      class: cls("slot", freed ? "freed" : saved.state),
      "data-slot": `${uid}:${slot}`,
      "data-saved-state": saved.state,
      "data-saved-in": saved.storage ?? null,
    },
    h("rect", { key: "box", x: at.x, y: at.y, width: at.w, height: at.h, rx: 4 }),
    h("text", { key: "text", x: at.x + 7, y: at.y + at.h / 2 + 3.7, "font-size": size }, text),
    h("title", { key: "title" }, text),
  );
}

/** @param {Scene} scene @param {string} key a node's edge @param {import("../layout/graph.js").Edge} edge as it is drawn */
export function edgeMark(scene, key, edge) {
  const at = key.indexOf(":");
  const from = key.slice(0, at);
  const visit = scene.visited.get(from);
  const running = visit && visit.step === scene.snap.index;
  const carried =
    visit && visit.step <= scene.snap.index
      ? scene.steps[visit.step]?.visit?.grad_inputs?.[Number(key.slice(at + 1))]
      : null;
  const [end, y] = edge.points[edge.points.length - 1];
  const [start, y0] = edge.points[0];
  return h(
    "g",
    {
      key: `edge ${edge.key}`,
      class: cls("edge", carried && (running ? "flow" : "flowed"), scene.snap.fresh.has(from) && "fresh"),
      "data-edge": edge.key,
      "data-from": edge.from,
      "data-to": edge.to,
    },
    h("path", { key: "line", class: "edge-line", d: roundedPath(edge.points, 9) }),
    h("circle", { key: "dot", class: "edge-dot", cx: end, cy: y, r: 3.2 }),
    carried && h("path", { key: "arrow", class: "arrow", d: `M${start + 1} ${y0}l8 -4.5v9z` }),
  );
}

/** The line from an alarming pin to the slot that it belongs to. @param {Scene} scene @param {string} node
 * @param {string} slot @param {import("../entities.js").Slot} saved */
export function leaderMark(scene, node, slot, saved) {
  const key = `${node}:${slot}`;
  const points = scene.plan.graph.leaders.get(pinKey(node, slot, saved));
  if (!points || !ALARMS.has(saved.state)) return null;
  return h("path", {
    key: `leader ${key}`,
    class: cls("leader", saved.state),
    "data-leader": key,
    d: roundedPath(points, 9),
  });
}

/** The names of what a node made, from its right edge leftwards. @param {string[]} names @param {{x: number, y: number, w: number}} box */
export function nodeTags(names, box) {
  let x = box.x + box.w - 4;
  return names.flatMap((name, i) => {
    const w = textWidth(name, 11) + 12;
    x -= w;
    const tag = [
      h("rect", { key: `tag ${i}`, class: "node-tag", x, y: box.y - 13, width: w, height: 16, rx: 4 }),
      h("text", { key: `tag text ${i}`, class: "node-tag-text", x: x + w / 2, y: box.y - 1.2 }, name),
    ];
    x -= 3;
    return tag;
  });
}
