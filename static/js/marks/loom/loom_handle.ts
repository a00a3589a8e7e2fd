/** A handle in the loom: windows under the cells that it reads, line by line. */

import { tupleText } from "../../trace/format.ts";
import { nameRoom } from "../../layout/loom/loom_columns.ts";
import { READ_LINE_HEIGHT, HANDLE_TITLE_HEIGHT } from "../../layout/loom/loom_sizes.ts";
import { namesThatFit } from "../../layout/loom/loom_names.ts";
import { CHARACTER_WIDTH_EM, textWidth } from "../../layout/text/metrics.ts";
import { unqualifiedDtype } from "../../trace/reads.ts";
import { classNames, h } from "../../browser/svg.ts";
import { circleMark, pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import { NODE_RADIUS } from "./loom_node.ts";
import type { Handle } from "../../trace/entities.ts";
import type { LoomScene } from "./loom_scene.ts";
import type { StorageReader } from "../../layout/loom/run_row.ts";
import type { HandleBox } from "../../layout/loom/loom_plan.ts";

/** A handle: windows under the cells that it reads. */
export function loomHandleMark({ plan, labels, i, now }: LoomScene, box: HandleBox, r: number) {
  const { reader, column, y, cy, lines, bar } = box;
  const { entity } = reader;
  const shape = tupleText(entity.shape ?? []);
  const meta = `${shape}${entity.kind === "array" ? " numpy" : strideAndOffsetText(entity)}`;
  const name = reader.title;
  const parts = handleNameMarks(name, [meta, shape], column, y + 13);
  parts.push(...lines.flatMap((_, k) => readLineMarks(box, k, labels)));
  if (bar)
    parts.push(
      rectMark(
        "loom-bar",
        bar[0] + 1,
        y + HANDLE_TITLE_HEIGHT,
        Math.max(2, bar[1] - bar[0] - 2),
        READ_LINE_HEIGHT - 6,
        { key: "bar", rx: 3 },
      ),
    );
  const lastX = lines.length ? Math.max(...lines[0].cells.map((cell) => cell.x + cell.w)) : column.x + column.w;
  const rail = column.rails.get(entity.counter ?? "");
  if (rail !== undefined)
    parts.push(
      pathMark("loom-stub", `M${lastX} ${cy}H${rail}`, "stub"),
      circleMark("loom-wears", rail, cy, 4.2, "dot"),
    );
  parts.push(...handleToNodeMarks({ plan, labels }, reader, r, (rail ?? lastX) + 5, cy));
  return h(
    "g",
    {
      key: `handle ${r} ${reader.key}`,
      class: classNames(
        "loom-handle",
        reader.grad && "grad",
        !reader.named && "passing",
        reader.alias && "alias",
        r === now && reader.step > i && "coming",
      ),
      "data-loom-handle": reader.uid,
    },
    parts,
    titleMark(`${name || reader.uid} ${meta} ${unqualifiedDtype(entity.dtype)}`),
  );
}

/** The name of a handle, and behind it the first of some notes for which there is room; `y` is their foot. */
function handleNameMarks(name: string, notes: string[], column: HandleBox["column"], y: number) {
  const { room: nameWidth, isOverRail } = nameRoom(column);
  const parts = [];
  const shown = namesThatFit(name, Math.max(3, Math.floor(nameWidth / (13 * CHARACTER_WIDTH_EM))));
  const nameClass = classNames("loom-name", isOverRail && "over");
  if (name) parts.push(textMark(nameClass, column.x + 1, y, shown, "name"));
  const usedWidth = name ? textWidth(shown, 13) + 7 : 0;
  const maxCharacters = Math.floor((nameWidth - usedWidth) / 6);
  const noteThatFits = notes.find((text) => text.length <= maxCharacters);
  if (noteThatFits)
    parts.push(
      textMark(classNames("loom-note", isOverRail && "over"), column.x + 1 + usedWidth, y, noteThatFits, "meta"),
    );
  return parts;
}

/** The `k`-th line of what a handle reads: a window under each cell, and how many more there are. */
function readLineMarks({ column, lines }: HandleBox, k: number, labels: LoomScene["labels"]) {
  const { cells, more, y } = lines[k];
  const isApart = cells.some((cell, n) => n && Math.abs(cell.x - cells[n - 1].x - cells[n - 1].w) > 0.5);
  const cellCenters = cells.map((cell) => cell.x + cell.w / 2);
  const parts = [];
  if (isApart)
    parts.push(
      pathMark(
        "loom-through",
        `M${Math.min(...cellCenters)} ${y + READ_LINE_HEIGHT / 2 - 1}H${Math.max(...cellCenters)}`,
        `through ${k}`,
      ),
    );
  cells.forEach((cell, n) => {
    // an expanded tensor reads one cell by several indices
    const sharing = cells.filter((other) => other.cell === cell.cell);
    const isLast = sharing.at(-1) === cell;
    const words = sharing.length > 1 ? `${sharing[0].subscript}…${cell.subscript}` : cell.subscript;
    parts.push(cellReadMark(cell, isLast ? words : null, y, column.uid));
    if (n === 0 && k === 1) parts.push(...lineStrideMark(lines[0].cells[0], cell, cells[cells.length - 1], y));
  });
  if (more)
    parts.push(
      textMark("loom-note", column.x + 2, y + READ_LINE_HEIGHT + 6, labels.more.replace("{n}", String(more)), "more"),
    );
  return parts;
}

/** The window under a cell, with the indices by which the handle reads it, where there is room. */
function cellReadMark(
  { subscript, x, w, cell }: { subscript: string; x: number; w: number; cell: number },
  words: string | null,
  y: number,
  storageUid: string,
) {
  const fullIndex = `[${words}]`;
  const text = textWidth(fullIndex, 11) < w - 5 ? fullIndex : words || "·";
  const size = Math.min(11, (w - 5) / (Math.max(1, text.length) * CHARACTER_WIDTH_EM));
  const textPosition = { x: x + w / 2, y: y + (READ_LINE_HEIGHT - 4) / 2 + size * 0.35 };
  return h(
    "g",
    {
      key: `window ${subscript}`,
      class: "loom-window",
      "data-loom-reads": `${storageUid}:${cell}`,
      target: { kind: "loom cell", storage: storageUid, index: cell },
      "data-index": subscript,
    },
    h("rect", { key: "box", x: x + 1.5, y, width: w - 3, height: READ_LINE_HEIGHT - 4, rx: 3 }),
    words !== null && size >= 5 && h("text", { key: "index", class: "mid", ...textPosition, "font-size": size }, text),
  );
}

/** The thread from a handle to the node that made it; or to a wall, with why no gradient comes back. */
function handleToNodeMarks(
  { plan, labels }: Pick<LoomScene, "plan" | "labels">,
  { uid, entity, alias, cut }: StorageReader,
  r: number,
  x: number,
  cy: number,
) {
  const isLeaf = entity.leaf && entity.requires_grad;
  const leaf = isLeaf ? plan.rowDots[r].find((dot) => dot.group === `leaf ${uid} ${r}`) : undefined;
  const makerDot = plan.dots.get(entity.grad_fn ?? "") ?? leaf;
  if (makerDot && !alias && makerDot.row === r)
    return [pathMark("loom-thread", `M${x} ${cy}H${makerDot.x - NODE_RADIUS - 2}`, "thread")];
  if (!cut) return [];
  const wallX = plan.graph.x - 3;
  return [
    pathMark("loom-thread", `M${x} ${cy}H${wallX}`, "thread"),
    pathMark("loom-wall", `M${wallX} ${cy - 7}v14`, "wall"),
    textMark(
      "loom-note",
      (plan.graph.names || plan.graph.x) + 2,
      cy + 4,
      `${labels.cut}: ${cut.replace(/^Tensor/, "")}`,
      "why",
    ),
  ];
}

/** Stride and offset, where they are not what is usual. */
function strideAndOffsetText(entity: Handle) {
  const offset = entity.offset ? ` offset ${entity.offset}` : "";
  return entity.stride?.length ? ` stride ${tupleText(entity.stride)}${offset}` : offset;
}

/** How far it is from one line to the next; `last` is the last of the line. */
function lineStrideMark(
  from: { x: number; w: number; cell: number },
  to: { x: number; w: number; cell: number },
  last: { x: number; w: number },
  y: number,
) {
  const stride = to.cell - from.cell;
  const text = `${stride < 0 ? "−" : "+"}${Math.abs(stride)}`;
  const x = from.x + from.w / 2;
  if (to.x - x < 10) return [textMark("loom-stride", last.x + last.w + 4, y + 14, text, "by")];
  const isWide = to.x - x > 40;
  return [
    pathMark("loom-measure", `M${x} ${y - 3}v${READ_LINE_HEIGHT / 2}H${to.x - 3}m-5 -3l5 3l-5 3`, "stride"),
    textMark(classNames("loom-stride", !isWide && "end"), isWide ? x + 5 : x - 4, y + (isWide ? 6 : 11), text, "by"),
  ];
}
