/** The head of the loom: every storage over its columns, with its values at the step, and its counters. */

import { bytesText, dtypeText, shortNumberText, encodedValueJson } from "../../trace/format.ts";
import { LOOM_HEADER_HEIGHT } from "../../layout/loom/loom_sizes.ts";
import { elementSpan, type StorageColumn } from "../../layout/loom/loom_columns.ts";
import { namesThatFit } from "../../layout/loom/loom_names.ts";
import { CHARACTER_WIDTH_EM, textWidth } from "../../layout/text/metrics.ts";
import { findEntity, type Cell } from "../../trace/entities.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import type { Rect } from "../../layout/pane.ts";
import type { UnnamedColumn } from "../../layout/loom/loom_unnamed.ts";
import type { Snapshot } from "../../trace/state.ts";
import type { Storage, Summary } from "../../trace/wire.ts";
import type { LoomLabels } from "../labels.ts";
import type { LoomScene } from "./loom_scene.ts";
import type { LoomPlan } from "../../layout/loom/loom_plan.ts";

const HEAD_VALUES_TOP = 44;
const HEAD_VALUES_HEIGHT = 32;
/** A strip of colours has no thinner stripes than this. */
const MIN_STRIPE_WIDTH = 2;

/** The size of letter at which a text fits, and the text. */
export function numberTextThatFits(value: Cell | null | undefined, w: number, maxSize = 12.5) {
  const usualSize = w >= 40 ? maxSize : w >= 30 ? Math.min(maxSize, 10.5) : 9;
  const text = shortNumberText(value, Math.max(4, Math.floor((w - 4) / (usualSize * CHARACTER_WIDTH_EM))));
  return { text, size: Math.min(usualSize, (w - 2) / (Math.max(1, Array.from(text).length) * CHARACTER_WIDTH_EM)) };
}

export function valueTintMark(value: Cell | null | undefined, largest: number, box: Rect, key: string) {
  if (typeof value !== "number" || value === 0 || !largest) return null;
  return rectMark(classNames("wash", value < 0 ? "neg" : "pos"), box.x, box.y, box.w, box.h, {
    key,
    "fill-opacity": 0.1 + 0.3 * (Math.abs(value) / largest),
  });
}

export function largestMagnitude(values: (Cell | null)[]) {
  return values.reduce((largest: number, v) => (typeof v === "number" ? Math.max(largest, Math.abs(v)) : largest), 0);
}

/** Many values as stripes; one stripe for several shows the largest of them. */
function valueStripeMarks(values: (Cell | null)[], box: Rect) {
  const stripeWidth = box.w / Math.max(1, values.length);
  const valuesPerStripe = Math.max(1, Math.ceil(MIN_STRIPE_WIDTH / stripeWidth));
  const maxMagnitude = largestMagnitude(values);
  const out = [];
  for (let i = 0; i < values.length; i += valuesPerStripe) {
    const stripeValues = values.slice(i, i + valuesPerStripe);
    const largestValue = stripeValues.reduce(
      (best, v) => (typeof v === "number" && (typeof best !== "number" || Math.abs(v) > Math.abs(best)) ? v : best),
      stripeValues[0],
    );
    out.push(
      valueTintMark(
        largestValue,
        maxMagnitude,
        {
          x: box.x + i * stripeWidth,
          y: box.y,
          w: Math.min(valuesPerStripe, values.length - i) * stripeWidth,
          h: box.h,
        },
        `stripe ${i}`,
      ),
    );
  }
  return out;
}

/** The storages that have columns on a shelf, with their values at the step. */
export function loomHeadMarks({ plan, opened, i, labels }: LoomScene, shelf: number): VNode[] {
  const snap = opened.at(i);
  const out = [
    rectMark("loom-ground", 0, 0, plan.width, LOOM_HEADER_HEIGHT, "ground"),
    pathMark("loom-rule", `M0 ${LOOM_HEADER_HEIGHT - 0.5}H${plan.width}`, "rule"),
  ];
  if (plan.dots.size)
    out.push(
      textMark("loom-axis", plan.graph.x + 6, 58, labels.graph, "graph"),
      textMark("loom-note", plan.graph.x + 6, 73, plan.stacked ? "" : labels.grows, "grows"),
    );
  const { tags } = opened.names(i);
  for (const column of plan.columns.allColumns) {
    if (column.from > shelf || column.to < shelf) continue;
    const { uid } = column;
    const storage = findEntity(snap.entities, uid, "storage") ?? snap.freed.get(uid);
    const handles = opened.index.handlesOfStorage(uid, snap.index).flatMap((handle) => tags.get(handle) ?? []);
    const storageName = plan.run.storageNames.get(uid) ?? "";
    const hadName = (plan.run.storages.get(uid)?.named ?? Infinity) < plan.run.rowOfStep[snap.index];
    const name = handles.length ? handles.map((tag) => tag.text).join(" ") : hadName || !storage ? storageName : "";
    if (storage) out.push(storageHeadMark(plan, snap, name, storage, column, snap.freed.has(uid), labels));
    else out.push(absentStorageMark(name, column));
  }
  if (plan.unnamed) out.push(unnamedColumnHeadMark(plan, snap.index, labels));
  return out;
}

/** A storage that is not there at the step, over the rows in which it is. */
function absentStorageMark(name: string, column: StorageColumn) {
  const { x, w, uid } = column;
  return h("g", { key: `head ${uid}`, class: "loom-storage absent", "data-loom-absent": uid }, [
    textMark("loom-uid", x, 22, namesThatFit(name || uid, Math.floor((column.right - x - 4) / 7.3)), "name"),
    rectMark("loom-frame ghost", x, HEAD_VALUES_TOP, w, HEAD_VALUES_HEIGHT, { key: "frame", rx: 4 }),
  ]);
}

/** How many storages without a name there are at the step's row. */
function unnamedColumnHeadMark(plan: LoomPlan, i: number, labels: LoomLabels) {
  const unnamed = plan.unnamed as UnnamedColumn;
  const row = plan.run.rowOfStep[i] ?? plan.rows.length - 1;
  return h("g", { key: "unnamed", class: "loom-storage" }, [
    textMark("loom-note", unnamed.x, 22, labels.unnamed, "name"),
    textMark("loom-axis", unnamed.x + 4, 58, String(unnamed.counts[row]), "count"),
    textMark("loom-note", unnamed.x + 4, 73, bytesText(unnamed.bytes[row]), "bytes"),
    titleMark(labels.unnamed_title),
  ]);
}

function storageHeadMark(
  plan: LoomPlan,
  snap: Snapshot,
  name: string,
  storage: Storage,
  column: StorageColumn,
  isFreed: boolean,
  labels: LoomLabels,
) {
  const { uid } = column;
  const box = { x: column.x, y: HEAD_VALUES_TOP, w: column.w, h: HEAD_VALUES_HEIGHT };
  const rect = { x: box.x, y: box.y, width: box.w, height: box.h };
  const isWritten = snap.written.has(uid);
  const isSilent = isWritten && plan.run.rows[plan.run.rowOfStep[snap.index]]?.writes.get(uid)?.silent;
  const halo = { x: box.x - 3, y: box.y - 3, width: box.w + 6, height: box.h + 6, rx: 6 };
  const hazardBox = { x: box.x - 2.5, y: box.y - 2.5, w: box.w + 5, h: box.h + 5 };
  const ownerUid = plan.run.storages.get(uid)?.owner;
  const [dtype, values] = (Object.entries(storage.cells ?? {})[0] ?? ["", []]) as [string, Cell[]];
  return h("g", { key: `head ${uid}`, class: "loom-storage", "data-loom-storage": uid }, [
    storageTitleMarks(name, storage, column, isFreed, labels),
    isWritten && h("rect", { key: "halo", class: "loom-halo", ...halo }),
    h("rect", { key: "paper", class: "loom-paper", ...rect }),
    column.heat ? valueStripeMarks(values, box) : storageValueMarks(values, dtype, column),
    !storage.cells && storage.summary && storageSummaryMarks(Object.values(storage.summary)[0] ?? {}, box),
    isSilent && silentWriteHatchMarks(hazardBox, 4),
    h("rect", {
      key: "frame",
      class: classNames("loom-frame", ownerUid && "grad", isFreed && "ghost"),
      ...rect,
      rx: 4,
    }),
    [...column.rails].map(([counter, x]) => counterBadgeMark(snap, counter, x)),
  ]);
}

/** A storage's name, and behind it its uid, dtypes and bytes. */
function storageTitleMarks(
  name: string,
  storage: Storage,
  { uid, x, right }: StorageColumn,
  isFreed: boolean,
  labels: LoomLabels,
) {
  const dtypes = [...new Set(Object.keys(storage.cells ?? storage.summary ?? {}).map(dtypeText))].join(" ");
  const bytes = bytesText(storage.nbytes ?? 0);
  const label = isFreed ? labels.freed : `${dtypes} · ${bytes}`;
  const maxChars = Math.floor((right - x - 8) / (12 * CHARACTER_WIDTH_EM));
  const shownName = name ? namesThatFit(name, Math.max(3, maxChars)) : uid;
  const notesX = x + textWidth(shownName, 12) + 8;
  const maxCharacters = Math.floor((right - notesX - 6) / 6);
  const uidPrefix = name ? `${uid} ` : "";
  const noteThatFits = [uidPrefix + label, `${uidPrefix}${dtypes}`, `${uidPrefix}${bytes}`, uidPrefix].find(
    (text) => text.trim().length <= maxCharacters,
  );
  return [
    textMark("loom-uid", x, 22, shownName, "name"),
    noteThatFits?.trim() && textMark("loom-note", notesX, 22, noteThatFits.trim(), "facts"),
    titleMark(`${name} ${uid} · ${label}`.trim()),
  ];
}

/** The cells of a storage, each with its index above. */
function storageValueMarks(values: Cell[], dtype: string, column: StorageColumn) {
  const maxMagnitude = largestMagnitude(values);
  return values.map((value, i) => {
    const cellBox = elementSpan(column, dtype, i);
    const { text, size } = numberTextThatFits(value, cellBox.w);
    const centerX = cellBox.x + cellBox.w / 2;
    return h(
      "g",
      {
        key: `cell ${i}`,
        class: "loom-cell",
        "data-loom-cell": `${column.uid}:${i}`,
        "data-value": encodedValueJson(value),
        target: { kind: "loom cell", storage: column.uid, index: i },
      },
      valueTintMark(
        value,
        maxMagnitude,
        { x: cellBox.x, y: HEAD_VALUES_TOP, w: cellBox.w, h: HEAD_VALUES_HEIGHT },
        "wash",
      ),
      i > 0 && pathMark("loom-rule", `M${cellBox.x} ${HEAD_VALUES_TOP}v${HEAD_VALUES_HEIGHT}`, "rule"),
      textMark("loom-index mid", centerX, HEAD_VALUES_TOP - 6, String(i), "index"),
      textMark("loom-value mid", centerX, HEAD_VALUES_TOP + HEAD_VALUES_HEIGHT / 2 + size * 0.35, text, {
        key: "value",
        size,
      }),
    );
  });
}

/** What there is of a storage without cells: its strip of colours, its least and its largest value. */
function storageSummaryMarks(summary: Summary, box: Rect) {
  const text = (["min", "max"] as const)
    .map((name) => `${name} ${summary[name] == null ? "–" : shortNumberText(summary[name], 6)}`)
    .join("  ");
  const textPosition = { x: box.x + box.w / 2, y: HEAD_VALUES_TOP + HEAD_VALUES_HEIGHT / 2 + 4 };
  return [
    ...(summary.heat ? valueStripeMarks(summary.heat, box) : []),
    h("text", { key: "summary", class: "loom-note mid", ...textPosition }, text),
  ];
}

/** The hatching of a write that no counter tells of. */
export function silentWriteHatchMarks({ x, y, w, h: height }: Rect, rx: number) {
  return ["", "stripes"].map((layer) =>
    rectMark(classNames("loom-hazard", layer), x, y, w, height, { key: `hazard ${layer}`, rx }),
  );
}

/** A version counter at the step, over its rail at `x`. */
function counterBadgeMark(snap: Snapshot, counterUid: string, x: number) {
  const counter = findEntity(snap.entities, counterUid, "counter");
  if (!counter) return null;
  const text = `v${counter.value}`;
  const w = Math.max(24, textWidth(text, 11) + 11);
  const leftX = x - Math.min(w / 2, 13);
  return h(
    "g",
    {
      key: `badge ${counterUid}`,
      class: classNames("loom-badge", snap.changed.has(counterUid) && "moved"),
      "data-loom-badge": counterUid,
      "data-version": counter.value,
    },
    pathMark("loom-rail", `M${x} ${HEAD_VALUES_TOP + HEAD_VALUES_HEIGHT}V${LOOM_HEADER_HEIGHT}`, "stem"),
    h("rect", { key: "box", x: leftX, y: HEAD_VALUES_TOP + HEAD_VALUES_HEIGHT / 2 - 10, width: w, height: 20, rx: 10 }),
    textMark("mid", leftX + w / 2, HEAD_VALUES_TOP + HEAD_VALUES_HEIGHT / 2 + 4, text, "text"),
  );
}
