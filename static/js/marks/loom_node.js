/** The loom's nodes: a dot on its lane, its name, what it saved, and the gradient that reached it. */

import { chip } from "../layout/chip.js";
import { wireText } from "../layout/format.js";
import { BOLD } from "../layout/loom_sizes.js";
import { EM, textWidth, truncate } from "../layout/metrics.js";
import { pinState } from "../layout/run_rows.js";
import { addToList } from "../multimap.js";
import { cls, h } from "../svg.js";

/** @typedef {import("./loom_labels.js").LoomLabels} LoomLabels */
/** @typedef {import("./loom_scene.js").LoomScene} LoomScene */
/** @typedef {import("../layout/loom.js").Dot} Dot */

export const NODE_R = 5;
/** Width of a character of a node's name. */
const LABEL = 11.5 * EM * BOLD;

/** The nodes made by a row. @param {LoomScene} scene @param {number} r */
export function nodeMarks(scene, r) {
  const { plan, i } = scene;
  /** @type {Map<string, Dot[]>} */
  const dotsByGroup = new Map();
  for (const dot of plan.rowDots[r]) addToList(dotsByGroup, dot.group, dot);
  /** @type {Map<number, Dot[]>} */
  const dotsByY = new Map();
  for (const [dot] of dotsByGroup.values()) addToList(dotsByY, dot.y, dot);
  const out = [];
  for (const group of dotsByGroup.values()) {
    const dot = group[group.length - 1];
    let ran = -1;
    for (const member of group)
      for (const k of plan.run.visits.get(member.uid) ?? []) if (k <= i) ran = Math.max(ran, k);
    const parts = [
      h("circle", {
        key: "dot",
        class: cls(
          "loom-node",
          dot.leaf && "leaf",
          dot.fold.length > 0 && "fold",
          ran === i && "running",
          ran >= 0 && ran < i && "ran",
        ),
        cx: dot.x,
        cy: dot.y,
        r: dot.leaf || dot.fold.length ? NODE_R + 0.5 : NODE_R,
      }),
    ];
    const inLine = dotsByY.get(dot.y) ?? [dot];
    if (inLine[0] === group[0]) parts.push(...labelMarks(scene, group, inLine, ran));
    if (!dot.inline) for (const [slot, y] of dot.slots) parts.push(...slotMarks(scene, dot, slot, y));
    const title = dot.fold.length
      ? dot.fold.map((uid) => `${plan.run.nodes.get(uid)?.name} ${uid}`).join("\n")
      : `${dot.name} ${dot.uid}`;
    out.push(
      h(
        "g",
        { key: `node ${dot.group}`, class: "loom-knot", "data-loom-node": dot.uid },
        parts,
        h("title", { key: "title" }, title),
      ),
    );
  }
  return out;
}

/** What stands beside the dots of a line: their name, the slots that have no lines of their own, the last gradient.
 * @param {LoomScene} scene @param {Dot[]} group nodes that are one dot @param {Dot[]} inLine one of each group
 * @param {number} ran the step at which one of them last ran, -1 if none has */
function labelMarks(scene, group, inLine, ran) {
  const { plan, now } = scene;
  const { names, chars } = plan.graph;
  const [dot] = group;
  const maxChars = Math.min(plan.stacked ? 15 : 30, chars);
  const grad = ran >= 0 && inLine.length === 1 && !plan.stacked;
  const least = Math.min(7, Array.from(labelOf(group, inLine, scene)).length);
  const wide = grad ? fittingChip(scene, ran, plan.width - names - 20 - least * LABEL).width : 0;
  const slots = group.filter(({ inline }) => inline).flatMap((member) => inlineSlots(scene, member));
  const bad = slots.some(({ state }) => state === "broken" || state === "silent");
  const room = plan.width - names - 10 - wide - (bad || group.length > 1 ? 0 : slots.length * 8);
  const text = truncate(labelOf(group, inLine, scene), Math.max(5, Math.min(maxChars, Math.floor(room / LABEL))));
  const out = [h("text", { key: "label", class: "loom-label", x: names + 2, y: dot.y + 4 }, text)];
  let x = names + 8 + labelWidth(text);
  if (bad) out.push(h("text", { key: "bad", class: "loom-saved broken", x, y: dot.y + 3.5 }, "✕"));
  else if (group.length === 1)
    for (const { slot, state, title } of slots) {
      out.push(
        h("g", { key: `slot ${slot}` }, [
          h("rect", { key: "square", class: cls("loom-slot", state), x, y: dot.y - 3, width: 6, height: 6 }),
          h("title", { key: "title" }, title),
        ]),
      );
      x += 8;
    }
  const fresh = plan.run.rowOfStep[ran] === now;
  if (grad) out.push(...gradMark(scene, ran, x + (bad ? 10 : 0), dot.y, fresh, plan.width - 3));
  return out;
}

/** How wide a node's name is in the page's face, where some letters are wide. @param {string} text */
export function labelWidth(text) {
  return textWidth(text, 11.5) * BOLD + (text.match(/[MmWw]/g)?.length ?? 0) * 3.5;
}

/** @param {Dot[]} group @param {Dot[]} inLine @param {LoomScene} scene */
function labelOf(group, inLine, { opened, i }) {
  const [dot] = group;
  if (dot.fold.length) {
    const visited = group.find(({ uid }) => uid === opened.trace.steps[i]?.visit?.node);
    if (visited) return visited.label;
    const [first, last] = [group[0], group[group.length - 1]].map(({ label }) => label);
    return `${first} … ${last} × ${group.length}`;
  }
  if (inLine.length === 1) return dot.label;
  if (inLine.length > 2) return `${inLine[0].label.split(" ")[0]} × ${inLine.length}`;
  return inLine.map(({ label }, k) => (k ? label.split(" ").slice(1).join(" ") : label)).join(", ");
}

/** The slots of a node as small squares in its line. @param {LoomScene} scene @param {Dot} dot */
function inlineSlots({ plan, i }, dot) {
  return [...dot.slots.keys()].map((slot) => {
    const pin = plan.run.pins.get(`${dot.uid}:${slot}`);
    const state = pin ? pinState(pin, i) : null;
    return {
      slot,
      state,
      title: `${slot} = ${pin ? savedNameText(plan, pin) : ""} @ v${pin?.expected ?? "?"} ${state ?? ""}`,
    };
  });
}

/** By what name the reader knows what a slot keeps. @param {import("../layout/loom.js").Loom} plan
 * @param {import("../layout/run_rows.js").Pin} pin */
function savedNameText(plan, pin) {
  return plan.handleRows.get(pin.tensor ?? "")?.name || plan.run.storageNames.get(pin.storage) || pin.storage;
}

/** @param {LoomScene} scene @param {Dot} dot @param {string} slot @param {number} y */
function slotMarks(scene, dot, slot, y) {
  const { plan, i } = scene;
  const pin = plan.run.pins.get(`${dot.uid}:${slot}`);
  const x = plan.graph.names;
  const state = pin && pinState(pin, i);
  const late = brokenText(scene, state);
  return [
    h("rect", { key: `square ${slot}`, class: cls("loom-slot", state), x: x - 1, y: y - 3, width: 6, height: 6 }),
    h(
      "text",
      { key: `slot ${slot}`, class: cls("loom-saved", state), x: x + 9, y: y + 3.5 },
      slotText(plan, slot, pin, late),
    ),
  ];
}

/** What has become of a slot, in words where there is room for them. @param {LoomScene} scene
 * @param {string | undefined} state */
function brokenText({ plan, labels }, state) {
  if (state === "broken") return plan.stacked ? " ✕" : ` ✕ ${labels.broken}`;
  if (state === "silent") return plan.stacked ? " ⚠" : ` ⚠ ${labels.bytes}`;
  return state === "released" && !plan.stacked ? `, ${labels.released}` : "";
}

/** `self = x @ v0, released`, as much of it as there is room for: what went wrong always, the name cut before that.
 * @param {import("../layout/loom.js").Loom} plan @param {string} slot @param {import("../layout/run_rows.js").Pin | undefined} pin
 * @param {string} late */
function slotText(plan, slot, pin, late) {
  const maxChars = Math.floor((plan.width - plan.graph.names - 12) / 6);
  if (plan.stacked || !pin) return truncate(slot, Math.max(3, maxChars - late.length)) + late;
  const name = savedNameText(plan, pin);
  const version = ` @ v${pin.expected ?? "?"}`;
  const maxNameChars = Math.min(14, maxChars - slot.length - 3 - version.length - late.length);
  if (maxNameChars >= Math.min(4, name.length)) return `${slot} = ${truncate(name, maxNameChars)}${version}${late}`;
  return truncate(slot, Math.max(3, maxChars - version.length - late.length)) + version + late;
}

/** The gradient of a visit as a chip, of as many numbers as there is room for. @param {LoomScene} scene
 * @param {number} k the step of a visit @param {number} room */
function fittingChip({ opened }, k, room) {
  const grad = opened.trace.steps[k].visit?.grad_outputs?.find(Boolean);
  if (!grad) return { texts: [], shown: [], widths: [], width: 0 };
  const { texts, shown, widths, width } = chip(grad);
  if (width <= room || shown.length < 2) return { texts, shown, widths, width };
  const dots = 20;
  let n = 0;
  let sum = dots;
  while (n < shown.length - 1 && (n === 0 || sum + widths[n] <= room)) sum += widths[n++];
  return {
    texts: [...texts.slice(0, n), "…"],
    shown: shown.slice(0, n),
    widths: [...widths.slice(0, n), dots],
    width: sum,
  };
}

/** The gradient that reached a node, as it was. @param {LoomScene} scene @param {number} k its step @param {number} x
 * @param {number} y @param {boolean} fresh @param {number} [right] where it has to end */
export function gradMark(scene, k, x, y, fresh, right = Infinity) {
  const { opened } = scene;
  const grad = opened.trace.steps[k].visit?.grad_outputs?.find(Boolean);
  if (!grad) return [];
  const { texts, shown, widths, width } = fittingChip(scene, k, right - x);
  const maxMagnitude = shown.reduce(
    (/** @type {number} */ m, v) => (typeof v === "number" ? Math.max(m, Math.abs(v)) : m),
    0,
  );
  const parts = [h("rect", { key: "ground", class: "loom-chip-ground", x, y: y - 9, width, height: 18, rx: 3 })];
  let at = x;
  texts.forEach((/** @type {string} */ text, /** @type {number} */ n) => {
    const v = shown[n];
    if (typeof v === "number" && v !== 0)
      parts.push(
        h("rect", {
          key: `wash ${n}`,
          class: cls("wash", v < 0 ? "neg" : "pos"),
          x: at,
          y: y - 9,
          width: widths[n],
          height: 18,
          "fill-opacity": 0.1 + 0.3 * (Math.abs(v) / maxMagnitude),
        }),
      );
    parts.push(h("text", { key: `text ${n}`, class: "loom-chip-text mid", x: at + widths[n] / 2, y: y + 3.6 }, text));
    at += widths[n];
  });
  parts.push(h("rect", { key: "frame", class: "loom-chip-frame", x, y: y - 9, width, height: 18, rx: 3 }));
  return [
    h(
      "g",
      {
        key: "grad",
        class: cls("loom-chip", !fresh && "past"),
        "data-loom-grad": opened.trace.steps[k].visit?.node,
        "data-value": wireText(grad.cells ?? null),
      },
      parts,
    ),
  ];
}
