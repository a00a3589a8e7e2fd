/** The memory pane of a step as descriptions: the heading with the columns' names, and the lines that are in sight. */

import { wrapValueChips } from "../../layout/memory/heading_chips.ts";
import { isInVisibleBand, type HeightBand } from "../../layout/view.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { h, type VNode } from "../../browser/svg.ts";
import { rectMark, textMark } from "../../browser/shapes.ts";
import { allocatorMark } from "./allocator.ts";
import { valueChipMark, storageFoldMark, memoryHeadingMark } from "./memory_heading.ts";
import { memoryRowMark } from "./memory_row.ts";
import { isVersionWorthShowing } from "./row_counter.ts";
import type { MemoryPane } from "../../layout/memory/memory_pane.ts";
import type { RenderContext } from "../render_context.ts";
import type { PlacedItem } from "../../layout/memory/memory_parts.ts";

const DRAWN_BAND_MARGIN = 40;

export function memoryMarks(
  renderContext: RenderContext,
  pane: MemoryPane,
  band: HeightBand,
): { heading: VNode[]; body: VNode[] } {
  const body: VNode[] = [];
  for (const placedItem of pane.placed) {
    if (
      placedItem.hidden ||
      !isInVisibleBand(band, placedItem.y - DRAWN_BAND_MARGIN, placedItem.y + placedItem.h + DRAWN_BAND_MARGIN)
    )
      continue;
    const mark = memoryItemMark(renderContext, pane, placedItem);
    if (mark) body.push(mark);
  }
  return { heading: memoryPaneHeadingMarks(renderContext, pane), body };
}

function memoryItemMark(renderContext: RenderContext, { columns, step }: MemoryPane, placedItem: PlacedItem) {
  const { item, y } = placedItem;
  if (item.kind === "row") return memoryRowMark(renderContext, placedItem, item, columns, step.options.selected);
  if (item.kind === "heading") return memoryHeadingMark(renderContext, placedItem, item, columns);
  if (item.kind === "fold") return storageFoldMark(renderContext, placedItem, item, columns);
  if (item.kind === "allocator") return allocatorMark(renderContext, placedItem, item, columns);
  const d = `M${columns.names} 3.5H${columns.w - columns.names}`;
  return h("path", { key: item.key, class: "moves rule", transform: `translate(0 ${y})`, d });
}

function memoryPaneHeadingMarks(renderContext: RenderContext, pane: MemoryPane): VNode[] {
  const { columns, main } = pane;
  const { labels } = renderContext;
  const hasVersions = pane.placed.some(
    ({ item, layout }) =>
      item.kind === "row" &&
      layout?.groups.some(
        ({ counter }) => counter !== null && isVersionWorthShowing(renderContext, counter, item.block.pins),
      ),
  );
  const version = columns.phone || !hasVersions ? "" : labels.version;
  const columnHeads: [string, string, number][] = [
    ["names", labels.names, columns.names],
    ["handles", columns.phone ? "" : labels.handles, columns.card],
    ["versions", version, columns.rail + columns.railW - textWidth(version, FONT_SIZES.small)],
    ["storages", labels.storages, columns.strip],
    ["grad", columns.gradW && !columns.phone ? ".grad" : "", columns.grad],
  ];
  const out = columnHeads.map(([key, text, x]) => textMark("lane-head", x, 16, text, `head ${key}`));
  if (!main) return out;
  const isCurrent = renderContext.snap.step?.frame === main;
  const x = columns.names + textWidth(labels.names, 12) + 12;
  const w = textWidth(labels.module, FONT_SIZES.small) + 20;
  const hasRoom = x + w < columns.card - 6;
  const box = rectMark("frame-box", x, 4, w, 16, { key: "box", rx: 4 });
  const name = textMark("frame-name", x + 6, 16.2, labels.module, { key: "name", size: FONT_SIZES.small });
  out.push(
    h(
      "g",
      {
        key: `frame ${main}`,
        class: isCurrent ? "frame main here" : "frame main",
        "data-frame-card": main,
        role: "group",
        "aria-label": labels.module,
      },
      hasRoom && [box, name],
      modulePlainValueMarks(renderContext, pane, main),
    ),
  );
  return out;
}

/** The plain values of the module, those that the step gave first. */
function modulePlainValueMarks(renderContext: RenderContext, { columns, values }: MemoryPane, main: string) {
  const firstX =
    columns.gradW && !columns.phone
      ? columns.grad + CHARACTER_WIDTH_EM * 12 * 5 + 14
      : columns.strip + CHARACTER_WIDTH_EM * 12 * 8 + 16;
  const right = columns.w;
  const flow = wrapValueChips(values, firstX, right - 8, firstX, false);
  const shift = right - 12 - Math.max(flow.afterX - 12, firstX) - (flow.after ? flow.more - 6 : 0);
  const chips = flow.chips.map((chip) =>
    valueChipMark(renderContext, main, { ...chip, x: chip.x + Math.max(0, shift) }),
  );
  const hidden = flow.before + flow.after;
  if (hidden) {
    const x = flow.before && !flow.after ? flow.beforeX : flow.afterX;
    const shown = new Set(flow.chips.map(({ key }) => key));
    const hiddenTexts = values.filter(({ key }) => !shown.has(key)).map(({ label, text }) => `${label} ${text}`);
    chips.push(
      textMark("meta", x + Math.max(0, shift), 15, `+${hidden}`, {
        key: "more values",
        size: FONT_SIZES.small,
        title: hiddenTexts.join("\n"),
      }),
    );
  }
  return chips;
}
