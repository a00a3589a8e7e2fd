/**
 * What lights up together, found by targets: held against the data attributes by which the drawn elements refer to each
 * other.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { stepPicture } from "../../marks/still.ts";
import { highlightKeysOfTarget, relatedHighlightKeys } from "../../stage/relatives.ts";
import { openTrace, type Entities } from "../../trace/state.ts";
import { ALL } from "../traces.ts";
import type { VNode } from "../../browser/svg.ts";
import type { Trace } from "../../trace/wire.ts";

const GOLDEN = "tests/golden";
const stored = readdirSync(GOLDEN).filter((name) => name.endsWith(".json"));
const TRACES: [string, Trace][] = [
  ...stored.map((name) => [name, JSON.parse(readFileSync(`${GOLDEN}/${name}`, "utf8"))] as [string, any]),
  ...Object.entries(ALL).map(([name, make]) => [name, make()] as [string, any]),
];
const LIGHTABLE = "cell bead handle name path slot pin node edge counter-badge item object fold".split(" ");

/** All that carry data. */
const carriers = (nodes: VNode[]): VNode[] =>
  nodes.flatMap((node) => [
    ...(Object.keys(node.attrs).some((name) => name.startsWith("data-")) ? [node] : []),
    ...carriers(node.children),
  ]);
const attributes = (node: VNode) => (name: string) => node.attrs[`data-${name}`] ?? null;

const keysOfNode = ({ target }: VNode) => (target ? highlightKeysOfTarget(target) : []);

/** The elements related to one, by what the elements themselves say. */
function related(drawn: VNode[], target: VNode) {
  const out = new Set([target]);
  const all = (test: (at: (name: string) => string | null) => unknown) => {
    const list = drawn.filter((node) => test(attributes(node)));
    for (const node of list) out.add(node);
    return list.map(attributes);
  };
  const node = (uid: string) => all((at) => at("node") === uid || at("members")?.split(" ").includes(uid));
  const handle = (uid: string, cells = true) => {
    for (const card of all((at) => at("handle") === uid)) {
      if (card("counter")) all((at) => at("counter-badge") === card("counter"));
      if (card("node-ref")) node(card("node-ref") ?? "");
    }
    all((at) => at("ref") === uid || at("to") === uid || at("variable") === uid);
    if (!cells) return;
    const reads = drawn.map(attributes).filter((at) => at("bead")?.startsWith(`${uid}:`));
    for (const bead of reads) {
      all((at) => at("bead") === bead("bead"));
      all((at) => at("cell") === bead("reads") && at("dtype") === bead("dtype"));
    }
    all((at) => at("wire") === uid);
  };
  const slot = (key: string) => {
    for (const at of all((at) => [at("pin"), at("slot")].includes(key)))
      if (at("saved-in")) all((other) => other("storage-strip") === at("saved-in"));
    node(key.split(":")[0]);
  };
  const t = attributes(target);
  const uid = t("ref") ?? t("to") ?? t("object") ?? "";
  if (t("cell")) {
    for (const bead of all((at) => at("reads") === t("cell") && at("dtype") === t("dtype")))
      handle((bead("bead") ?? "").split(":")[0], false);
  } else if (t("bead")) {
    handle((t("bead") ?? "").split(":")[0], false);
    all((at) => at("cell") === t("reads") && at("dtype") === t("dtype"));
  } else if (t("handle")) handle(t("handle") ?? "");
  else if (t("slot") ?? t("pin")) slot(t("slot") ?? t("pin") ?? "");
  else if (t("counter-badge")) {
    for (const card of all((at) => at("counter") === t("counter-badge"))) handle(card("handle") ?? "", false);
    all((at) => at("counter-badge") === t("counter-badge"));
  } else if (t("node")) {
    all((at) => at("from") === t("node") || at("to") === t("node"));
    for (const at of drawn.map(attributes).filter((at) => at("slot")?.startsWith(`${t("node")}:`)))
      slot(at("slot") ?? "");
    for (const card of all((at) => at("node-ref") === t("node"))) handle(card("handle") ?? "");
    if (t("variable")) handle(t("variable") ?? "");
  } else if (t("members")) {
    const members = (t("members") ?? "").split(" ");
    for (const at of drawn.map(attributes))
      if (members.includes(at("node-ref") ?? "")) handle(at("handle") ?? "", false);
    all((at) => members.includes((at("pin") ?? "").split(":")[0]));
  } else if (t("edge")) all((at) => at("node") !== null && [t("from"), t("to")].includes(at("node")));
  else if (/^[ta]/.test(uid)) handle(uid);
  else if (uid) {
    all((at) => at("object") === uid || at("ref") === uid);
    for (const item of all((at) => at("item")?.startsWith(`${uid}:`)))
      if (/^[ta]/.test(item("to") ?? "")) handle(item("to") ?? "");
      else if (item("to")) all((at) => at("object") === item("to"));
  }
  return out;
}

/** The uids that an element speaks of. */
const uidsOf = ({ attrs }: VNode): string[] =>
  Object.entries(attrs).flatMap(([name, value]) =>
    name.startsWith("data-") && name !== "data-value" ? (value.match(/\b[stacnofb]\d+\b/g) ?? []) : [],
  );

/** What some uids lead to in a state, or what leads to them, within three steps. */
function nearby(state: Entities, from: string[]) {
  const near = new Set(from);
  for (let k = 0; k < 3; k++)
    for (const [uid, entity] of state) {
      const ends = JSON.stringify(entity, (_, value) => (value instanceof Map ? [...value] : value)).match(
        /"[stacnofb]\d+"/g,
      );
      const uids = [uid, ...(ends ?? []).map((end) => end.slice(1, -1))];
      if (entity.kind !== "frame" && uids.some((other) => near.has(other))) for (const other of uids) near.add(other);
    }
  return near;
}

for (const [name, made] of TRACES)
  test(`${name}: what lights up is what the drawing says and nothing far from it`, () => {
    const opened = openTrace(made);
    for (const h of [Infinity, 400])
      for (let i = 0; i < opened.count; i += Math.ceil(opened.count / 5)) {
        const drawn = carriers(stepPicture(opened, i, {}, { w: 1080, h }).nodes);
        const tried = new Map<string, number>();
        for (const target of drawn) {
          const at = attributes(target);
          const kind = LIGHTABLE.find((attribute) => at(attribute) !== null);
          if (!kind || (tried.get(kind) ?? 0) > 4) continue;
          tried.set(kind, (tried.get(kind) ?? 0) + 1);
          assert.ok(target.target, `step ${i}: ${kind} ${at(kind)} has no target`);
          const keys = new Set(relatedHighlightKeys(opened, i, target.target));
          const lit = drawn.filter((node) => node === target || keysOfNode(node).some((key) => keys.has(key)));
          const missing = [...related(drawn, target)].filter((node) => !lit.includes(node));
          assert.deepEqual(
            missing.map((node) => node.key),
            [],
            `step ${i}: ${kind} ${at(kind)} lacks`,
          );
          const near = nearby(opened.state(i), uidsOf(target));
          const strange = lit.filter((node) => node !== target && !uidsOf(node).some((uid) => near.has(uid)));
          assert.deepEqual(
            strange.map((node) => node.key),
            [],
            `step ${i}: ${kind} ${at(kind)} lights too`,
          );
        }
      }
  });
