/** A fold of the graph: one card for many nodes, which says how many there are and what this step does to one of them. */

import { foldTitle } from "../layout/fold_names.js";
import { nodeLabel } from "../layout/graph.js";
import { ALARMS } from "../trace_index.js";
import { textWidth } from "../layout/metrics.js";
import { find } from "../entities.js";
import { cls, h } from "../svg.js";
import { nodeTags } from "./node.js";

/** @typedef {import("./scene_facts.js").Scene} Scene */
/** @typedef {import("../layout/fold.js").Fold} Fold */

/** @param {Scene} scene @param {Fold} fold */
export function foldMark(scene, fold) {
  const box = scene.plan.graph.boxes.get(fold.uid);
  const members = living(scene, fold);
  if (!box || !members.length) return null;
  const { metrics: M } = scene.plan;
  const { entities, index, fresh, step } = scene.snap;
  const running = members.find((uid) => step?.visit?.node === uid);
  const visits = members.filter((uid) => scene.visited.has(uid));
  const done = visits.filter((uid) => (scene.visited.get(uid)?.step ?? Infinity) <= index).length;
  const broken = members.flatMap((uid) => alarms(uid, find(entities, uid, "node")))[0];
  const made = members.filter((uid) => fresh.has(uid));
  const names = [
    ...new Set(members.flatMap((uid) => (find(entities, uid, "node")?.variable ? [] : (scene.outputs.get(uid) ?? [])))),
  ];
  const repeated = fold.count > 1 ? Math.ceil(members.length / (fold.members.length / fold.count)) : 1;
  const head = foldTitle({ ...fold, count: repeated });
  const failed = running && step?.visit?.failed;
  const y = box.y + M.nodeH;
  const named = (/** @type {string} */ uid) => nodeLabel(scene.plan.lives.nodes.get(uid)?.name ?? "");
  const state = broken?.saved.state ?? "";
  const line = running
    ? `▸ ${named(running)}  ${done} / ${visits.length}`
    : broken
      ? `${broken.slot}  ${broken.saved.storage ?? ""} @ v${broken.saved.expected ?? "?"} ${state === "changed" ? "≠" : state}`
      : made.length && made.length < members.length
        ? `+ ${named(made[made.length - 1])}${made.length > 1 ? ` … ${made.length}` : ""}`
        : visits.length
          ? `${done} / ${visits.length}`
          : `${members.length} ${scene.labels.nodes}`;
  const size = Math.min(10.5, (box.w - 24) / (0.603 * Math.max(1, line.length)));
  const parts = [
    [6, 3].map((off) =>
      h("rect", {
        key: `behind ${off}`,
        class: "fold-behind",
        x: box.x + off,
        y: box.y + off,
        width: box.w,
        height: box.h,
        rx: 7,
      }),
    ),
    made.length > 0 &&
      h("rect", { key: "halo", class: "halo", x: box.x - 3, y: box.y - 3, width: box.w + 6, height: box.h + 6, rx: 9 }),
    h("rect", { key: "box", class: "node-box", x: box.x, y: box.y, width: box.w, height: box.h, rx: 7 }),
    h("path", { key: "opens", class: "fold-sign", d: `M${box.x + box.w - 17} ${box.cy}h8m-4 -4v8` }),
    h("text", { key: "name", class: "node-name", x: box.x + 10, y: box.cy + 4, "font-size": M.font - 1 }, head),
    visits.length > 0 &&
      h("rect", { key: "way", class: "fold-way", x: box.x + 8, y: box.y + box.h - 5, width: box.w - 16, height: 2 }),
    done > 0 &&
      h("rect", {
        key: "done",
        class: "fold-done",
        x: box.x + 8,
        y: box.y + box.h - 5,
        width: ((box.w - 16) * done) / visits.length,
        height: 2,
      }),
    h(
      "text",
      {
        key: "line",
        class: cls("fold-line", broken && !running && state),
        x: box.x + 10,
        y: y + M.slotH / 2 + 2,
        "font-size": size,
      },
      line,
    ),
  ];
  parts.push(...nodeTags(names.slice(-2), box));
  parts.push(h("title", { key: "title" }, `${head}\n${members.length} ${scene.labels.nodes}`));
  return h(
    "g",
    {
      key: `fold ${fold.uid}`,
      "data-fold": fold.key,
      "data-members": members.join(" "),
      "data-running": running ?? null,
      tabindex: "0",
      role: "button",
      "aria-expanded": "false",
      "aria-label": `${head}, ${members.length} ${scene.labels.nodes}: ${line}`,
      class: cls(
        "node",
        "fold",
        running && "running",
        !running && done > 0 && "done",
        failed && "failed",
        broken && "broken",
        members.every((uid) => find(entities, uid, "node")?.released) && "released",
        made.length === members.length && "fresh",
      ),
    },
    parts,
  );
}

/** Around what an opened fold holds, with what closes it. @param {Scene} scene @param {import("../layout/graph.js").Rim} rim */
export function rimMark(scene, { fold, x, y, w, h: tall }) {
  if (!living(scene, fold).length) return null;
  const head = foldTitle(fold);
  const wide = textWidth(head, 10.5) + 28;
  return h(
    "g",
    {
      key: `rim ${fold.uid}`,
      class: "rim",
      "data-fold": fold.key,
      tabindex: "0",
      role: "button",
      "aria-expanded": "true",
      "aria-label": head,
    },
    h("rect", { key: "tab", class: "rim-tab", x, y, width: wide, height: 15, rx: 4 }),
    h("path", { key: "closes", class: "fold-sign", d: `M${x + 6} ${y + 7.5}h8` }),
    h("text", { key: "name", class: "rim-name", x: x + 19, y: y + 11 }, head),
    h("rect", { key: "rim", class: "rim-box", x, y, width: w, height: tall, rx: 8 }),
  );
}

/** @param {Scene} scene @param {Fold} fold */
function living({ snap }, fold) {
  if (snap.index < fold.birth || snap.index > fold.death) return [];
  return fold.members.filter((uid) => snap.entities.has(uid));
}

/** The slots of a node that broke. @param {string} uid
 * @param {import("../entities.js").Node | undefined} node */
function alarms(uid, node) {
  if (node?.released) return [];
  return Object.entries(node?.saved ?? {}).flatMap(([slot, saved]) =>
    ALARMS.has(saved.state) ? [{ uid, slot, saved }] : [],
  );
}
