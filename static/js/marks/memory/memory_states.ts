/** An optimizer's own tensors for one parameter, in one line: what each is, and its cells. */

import { layoutCellStrip } from "../../layout/cells/row_strip.ts";
import { CHARACTER_WIDTH_EM, textWidth } from "../../layout/text/metrics.ts";
import { cutPathAtStart } from "../../layout/memory/pane_names.ts";
import { h, type VNode } from "../../browser/svg.ts";
import { findEntity } from "../../trace/entities.ts";
import { transformToHeight } from "../mark_cache.ts";
import { cellStripMark } from "./row_cells.ts";
import type { MemoryColumns } from "../../layout/memory/memory_columns.ts";
import type { PlacedItem, StatesItem } from "../../layout/memory/memory_parts.ts";
import type { StepFacts } from "../step_facts.ts";

const LABEL_FONT_SIZE = 12;
const KIND_FONT_SIZE = 12;
const STRIP_TOP = 4;

export function optimizerStatesMark(
  stepFacts: StepFacts,
  place: PlacedItem,
  item: StatesItem,
  columns: MemoryColumns,
): VNode {
  const from = columns.names + columns.namesW + 8;
  const each = (columns.w - 8 - from) / item.states.length;
  const label = cutPathAtStart(item.label, columns.namesW - 4, LABEL_FONT_SIZE);
  return h(
    "g",
    {
      key: item.key,
      class: "moves row slim small states",
      transform: transformToHeight(place.y, columns.left),
      "data-row": item.key,
    },
    h("text", { key: "label", class: "no-name", x: columns.names + 4, y: 16, "font-size": LABEL_FONT_SIZE }, label),
    item.states.map(({ kind, block }, k) => {
      const x = from + k * each;
      const word = kind.slice(0, Math.max(2, Math.floor((each * 0.45) / (CHARACTER_WIDTH_EM * KIND_FONT_SIZE))));
      const wordWidth = kind ? textWidth(word, KIND_FONT_SIZE) + 5 : 0;
      const storage = findEntity(stepFacts.snap.entities, block.storage, "storage");
      const strip = layoutCellStrip(storage, {
        width: Math.max(12, each - wordWidth - 10),
        full: false,
        beads: false,
        low: true,
        last: 1,
      });
      return [
        kind &&
          h(
            "text",
            { key: `kind ${block.key}`, class: "meta", x, y: 16, "font-size": KIND_FONT_SIZE },
            word,
            h("title", {}, kind),
          ),
        block.storage &&
          cellStripMark(stepFacts, block.storage, strip, { x: x + wordWidth, y: STRIP_TOP, full: false, grad: false }),
      ];
    }),
  );
}
