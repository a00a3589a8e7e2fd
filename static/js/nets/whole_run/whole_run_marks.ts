/** What the rows of a whole run look like: names, verdicts, curves and bars as descriptions of SVG. */

import { bytesText } from "../../trace/format.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { circleMark, pathMark, rectMark, textMark, titleMark } from "../../browser/shapes.ts";
import {
  INDENT,
  ROW_HEIGHT,
  type WholeRunRail,
  type RowFilter,
  type WholeRunRow,
  type SortColumn,
  type WholeRunLayout,
} from "./whole_run_layout.ts";
import {
  codeOfCallSite,
  fitText,
  netRowNamesThatFit,
  netRowLabel,
  linesText,
  pathThatFits,
} from "../net_row_labels.ts";
import { normText } from "./norm_text.ts";
import { shapeText } from "../net_words.ts";
import { parameterRunSummaries } from "./parameters_of_run.ts";
import { learningMark } from "./learning_mark.ts";
import { SPARKLINE_WIDTH, sparklineMarks } from "./sparkline.ts";
import { textWidth } from "../../layout/text/metrics.ts";
import { callSiteSummaryText } from "./call_site_summary_text.ts";
import type { WholeRunFacts } from "./call_site_facts.ts";
import type { CallSite } from "../net_call_sites.ts";
import type { ParameterRunSummary } from "./parameters_of_run.ts";
import type { Translate } from "../../words/sentences.ts";

const MOVED_WIDTH = 48;
const SPARK_HEIGHT = 16;
const OF_PARAMETERS = new Set<SortColumn>(["learns", "gradient", "weight", "moved"]);

interface WholeRunScene {
  run: WholeRunFacts;
  layout: WholeRunLayout;
  say: Translate;
  /** of the program, by line */
  lines: string[];
  selected: string | null;
  sort: SortColumn | null;
  filter: RowFilter;
}

export function wholeRunMarks(scene: WholeRunScene): VNode[] {
  const { layout } = scene;
  return [
    ...layout.frames.map(({ callSite, depth, y, h: height }) => {
      const x = layout.columns.name - 14 + depth * INDENT;
      const more = { key: `frame ${callSite.key}`, rx: 6 };
      return rectMark("net-frame", x, y + 1, layout.width - x - 6 - depth * 4, height - 2, more);
    }),
    ...layout.rows.flatMap((row) => groundMarks(scene, row)),
    ...layout.rails.flatMap((rail) => railMarks(layout, rail)),
    ...layout.rows.map((row) => rowMark(scene, row)),
  ];
}

/** The headings over the columns; each sorts by its column. */
export function wholeRunHeadMarks({ run, layout, say, sort, filter }: WholeRunScene): VNode[] {
  const { name, learns, gradient, weight, moved, kept, called } = layout.columns;
  const beforeKept = moved ?? (kept ?? 0) - 40;
  const ends = { gradient: weight ?? beforeKept, weight: beforeKept };
  const isTight = (column: "gradient" | "weight") =>
    textWidth(say(`whole_head_${column}`), 12) + 16 > ends[column] - (layout.columns[column] ?? 0);
  const words = (column: SortColumn) => {
    if (column === "gradient" && kept === null) return say("net_head_norm_short");
    const isShort = (column === "gradient" || column === "weight") && isTight(column);
    return say(isShort ? `whole_head_${column}_short` : `whole_head_${column}`);
  };
  const { opened, savedBytesByNode } = run.facts;
  // what stands in no row of the run has no heading
  const isFilled = (column: SortColumn) =>
    column === "kept"
      ? savedBytesByNode.size > 0
      : !OF_PARAMETERS.has(column) || parameterRunSummaries(opened).moments.size > 0;
  const heading = (column: SortColumn, x: number | null, isRight = false) =>
    x !== null &&
    isFilled(column) &&
    h(
      "text",
      {
        key: column,
        x,
        y: 17,
        class: classNames("whole-head", isRight && "end", sort === column && "sorted"),
        tabindex: 0,
        role: "button",
        "aria-pressed": String(sort === column),
        target: { kind: "net row", key: `sort ${column}` },
      },
      words(column) + (sort === column ? " ▾" : ""),
      titleMark(say(`whole_head_${column}_why`)),
    );
  const filterText = say(`whole_filter_${filter}`);
  return [
    h(
      "text",
      {
        key: "filter",
        x: 8,
        y: 17,
        class: classNames("whole-head", filter !== "all" && "sorted"),
        tabindex: 0,
        role: "button",
        target: { kind: "net row", key: "filter" },
      },
      filterText,
      titleMark(say("whole_filter_why")),
    ),
    heading("name", name),
    heading("learns", learns),
    kept === null ? heading("gradient", layout.width - 8, true) : heading("gradient", gradient),
    heading("weight", weight),
    heading("moved", moved),
    heading("kept", kept, true),
    heading("called", called),
    h("path", { key: "line", d: `M0 23.5H${layout.width}` }),
  ].filter((mark) => mark !== false);
}

function groundMarks({ layout, selected }: WholeRunScene, row: WholeRunRow): VNode[] {
  const isSelected = row.key === selected;
  const tone = row.kind === "head" ? null : row.facts.tone;
  if (!isSelected && !tone) return [];
  const className = classNames("whole-ground", tone, isSelected && "selected");
  return [
    h("g", { key: `ground ${row.key}`, class: className }, [
      h("rect", { y: row.y, width: layout.width, height: ROW_HEIGHT }),
      h("rect", { class: "whole-edge", y: row.y, width: 4, height: ROW_HEIGHT }),
    ]),
  ];
}

const rowMiddleY = ({ y }: WholeRunRow) => y + ROW_HEIGHT / 2;

function railMarks({ columns: { rail: x } }: WholeRunLayout, rail: WholeRunRail): VNode[] {
  const [a, b] = [rowMiddleY(rail.from), rowMiddleY(rail.to)];
  const lane = Math.max(8, x - 6 - 12 * rail.lane);
  const down = b > a ? 1 : -1;
  const r = Math.min(6, Math.abs(b - a) / 2) * down;
  const d = rail.lane
    ? `M${x} ${a}H${lane + 6}Q${lane} ${a} ${lane} ${a + r}V${b - r}Q${lane} ${b} ${lane + 6} ${b}H${x}`
    : `M${x} ${a}V${b}`;
  const at = rail.lane ? lane : x;
  const y = (a + b) / 2;
  if (rail.isCut)
    return [
      pathMark("net-rail cut", d, `cut ${rail.key}`),
      pathMark(
        classNames("whole-cut", rail.from.facts.tone ?? rail.to.facts.tone),
        `M${at - 8} ${y}l16 -7M${at - 8} ${y + 6}l16 -7`,
        `strokes ${rail.key}`,
      ),
    ];
  const { state } = rail;
  const up = state === "returned" ? -1 : 1;
  const arrow = `M${at - 4} ${y - 3 * up}l4 ${6 * up}l4 ${-6 * up}z`;
  return [
    pathMark(classNames("net-rail", state, rail.lane > 0 && "lane", rail.isBundled && "bundle"), d, `rail ${rail.key}`),
    pathMark(`net-arrow ${state}`, arrow, `arrow ${rail.key}`),
  ];
}

function rowMark(scene: WholeRunScene, row: WholeRunRow): VNode {
  const { layout, selected } = scene;
  const { columns, width } = layout;
  const state = row.facts.isReturned ? "returned" : "ran";
  return h(
    "g",
    {
      key: `row ${row.key}`,
      class: classNames("net-row whole-row", state, row.kind === "head" && "head", row.facts.tone),
      transform: `translate(0 ${row.y})`,
      tabindex: 0,
      role: "treeitem",
      "aria-level": row.depth + 1,
      "aria-expanded": row.opens ? String(row.isOpen) : null,
      "aria-selected": String(row.key === selected),
      target: { kind: "net row", key: row.key },
    },
    h("rect", {
      class: "net-hit",
      x: columns.name - 12,
      width: Math.max(0, width - columns.name + 12),
      height: ROW_HEIGHT,
    }),
    row.kind === "head" || row.parameter !== null || !layout.isInOrder ? null : dotMark(row, columns.rail),
    nameMarks(scene, row),
    isCutWithoutRail(layout, row)
      ? pathMark(
          classNames("whole-cut", row.facts.tone),
          `M${columns.rail - 8} ${ROW_HEIGHT + 1}l16 -7M${columns.rail - 8} ${ROW_HEIGHT + 6}l16 -7`,
        )
      : null,
    row.facts.parameters ? parameterMarks(scene, row, row.facts.parameters) : wordMarks(scene, row),
    countMarks(scene, row),
  );
}

/** Its cut stands on the rail that leaves it, if there is one; a statement of the loop is on none. */
function isCutWithoutRail({ isInOrder, rails }: WholeRunLayout, row: WholeRunRow) {
  const isOnWay = row.parameter === null && isInOrder && !isStatement(row.callSites[0]);
  return isOnWay && row.facts.isCutOff && !rails.some(({ from }) => from === row);
}

/** A circle for what is on the way of gradients, a square for what makes no node. */
function dotMark({ facts, joins, callSites }: WholeRunRow, x: number) {
  const y = ROW_HEIGHT / 2;
  if (!facts.hasNodes && !facts.parameters && callSites[0].kind !== "module")
    return rectMark("whole-square", x - 4.5, y - 4.5, 9, 9, { rx: 1.5 });
  if (joins)
    return h("g", { class: "net-dot join full" }, [
      h("circle", { cx: x, cy: y, r: 7.5 }),
      pathMark("net-plus", `M${x - 4} ${y}h8M${x} ${y - 4}v8`),
    ]);
  return circleMark(classNames("net-dot", facts.hasNodes && "full"), x, y, 5);
}

function nameMarks(scene: WholeRunScene, row: WholeRunRow) {
  const { layout, run, say } = scene;
  const [callSite] = row.callSites;
  const x = layout.columns.name + row.depth * INDENT;
  const y = ROW_HEIGHT / 2 + 4.5;
  const moment = row.parameter === null ? null : parameterRunSummaries(run.facts.opened).moments.get(row.parameter);
  const full = moment ? nameWithin(moment.row.name, callSite.path) : nameOf(scene, row);
  const room = layout.columns.learns - x - 18;
  const name = pathThatFits(netRowNamesThatFit(full, row, room), room, 13);
  const sort = moment ? shapeText(moment.row.shape) : classOf(row, say);
  const isThin = moment !== null || (callSite.kind !== "module" && callSite.kind !== "function");
  const opener = row.isOpen ? `M${x - 4} ${ROW_HEIGHT / 2 - 3}h8l-4 6z` : `M${x - 4} ${ROW_HEIGHT / 2 - 4}v8l6 -4z`;
  const start = x + 10;
  const isSaid = sort && start + textWidth(name, 13) + textWidth(sort, 12) + 16 < layout.columns.learns;
  return [
    row.opens && pathMark("net-fold", opener),
    textMark(classNames("net-name", isThin && "line"), start, y, name),
    isSaid && textMark("net-class", start + 8 + textWidth(name, 13), y, sort),
    titleMark(moment?.row.name ?? (row.kind === "callSite" || row.kind === "head" ? (callSite.path ?? "") : "")),
  ];
}

/** Out of order, a module is called by its whole path. */
function nameOf({ layout }: WholeRunScene, row: WholeRunRow) {
  return (layout.isInOrder ? null : row.kind === "callSite" && row.callSites[0].path) || netRowLabel(row);
}

/** A parameter's name within the module that has it: `weight`, `qkv.weight`. */
function nameWithin(name: string | null, path: string | null) {
  if (!name || !path || !name.startsWith(`${path}.`)) return name ?? "?";
  return name.slice(path.length + 1);
}

function classOf({ kind, callSites }: WholeRunRow, say: Translate) {
  const [callSite] = callSites;
  if (kind === "repeat") return `${callSite.type} ×${callSites.length}`;
  if (kind === "fold") return say("net_rows", { n: callSites.length });
  const line = linesText(callSites, say);
  if (callSite.kind === "module") return callSite.isTwice ? `${callSite.type} · ${line}` : callSite.type;
  return callSite.kind === "own" ? "" : line;
}

/** Without parameters: what it did, in words. */
function wordMarks({ layout, run, say, lines }: WholeRunScene, row: WholeRunRow): VNode[] {
  const [callSite] = row.callSites;
  if (row.kind === "head" && !run.trainedElsewhere(callSite)) return [];
  const said = row.callSites.length === 1 ? callSiteSummaryText(run, callSite, say) : "";
  const text =
    said || (row.kind === "lines" || isStatement(callSite) ? codeOfCallSite(run.facts, callSite, lines) : "");
  const { learns, kept, called } = layout.columns;
  const room = (row.facts.kept ? (kept ?? layout.width) - 70 : (called ?? layout.width)) - learns - 12;
  const shown = fitText(text, room, 12);
  return [
    h("text", { class: classNames("whole-words", !said && "net-code"), x: learns, y: ROW_HEIGHT / 2 + 4 }, [
      shown,
      shown === text ? null : titleMark(text),
    ]),
  ];
}

/** A line, or a call of a function that has the name of what it makes. */
function isStatement({ kind, name }: CallSite) {
  return kind === "line" || (kind === "function" && !name.endsWith("()"));
}

function parameterMarks(scene: WholeRunScene, row: WholeRunRow, parameters: ParameterRunSummary): VNode[] {
  const { layout, say } = scene;
  const { columns } = layout;
  const marks = [
    learningMark(
      parameters,
      { x: columns.learns, y: ROW_HEIGHT / 2, room: columns.gradient - columns.learns - 8 },
      say,
    ),
  ];
  if (columns.kept === null) return [...marks, ...lastNormMarks(scene, parameters, columns.gradient)];
  return [
    ...marks,
    ...gradientMarks(scene, parameters),
    ...(columns.weight === null ? [] : valueText(weightText(parameters), columns.weight, say("whole_unknown"))),
    ...(columns.moved === null ? [] : parameterMovementMarks(scene, row, parameters, columns.moved)),
  ];
}

function gradientMarks(scene: WholeRunScene, parameters: ParameterRunSummary): VNode[] {
  const { layout, say, run } = scene;
  const { gradient } = layout.columns;
  const { gradients } = parameters;
  const { rounds } = parameterRunSummaries(run.facts.opened);
  if (!rounds.length) return [];
  if (gradients.every((value) => value === null))
    return [
      textMark(
        classNames("whole-none", parameters.tone),
        gradient,
        ROW_HEIGHT / 2 + 4,
        say(rounds.length === 1 ? "whole_none" : "whole_none_rounds", { n: rounds.length }),
      ),
    ];
  const last = gradients.at(-1);
  const words = [...rounds.entries()]
    .slice(-3)
    .map(([k, n]) => say("whole_round_norm", { n, norm: textOfNorm(gradients[k], say) }));
  return [
    h("g", { class: "whole-spark", transform: `translate(${gradient} ${(ROW_HEIGHT - SPARK_HEIGHT) / 2})` }, [
      ...sparklineMarks(gradients, rounds.length, SPARK_HEIGHT),
      titleMark(words.join("\n")),
    ]),
    ...lastNormMarks(scene, parameters, gradient + SPARKLINE_WIDTH + 10, last),
  ];
}

function lastNormMarks(
  { say }: WholeRunScene,
  { gradients }: ParameterRunSummary,
  x: number,
  last = gradients.at(-1),
): VNode[] {
  if (last === null) return [textMark("whole-number absent", x, ROW_HEIGHT / 2 + 4, say("whole_none"))];
  return valueText(last === undefined || Number.isNaN(last) ? null : normText(last), x, say("whole_unknown"));
}

function textOfNorm(value: number | null | undefined, say: Translate) {
  if (value === null) return say("whole_none");
  return value === undefined || Number.isNaN(value) ? "–" : normText(value);
}

function weightText({ start, end }: ParameterRunSummary): string | null {
  if (Number.isNaN(start) && Number.isNaN(end)) return null;
  const [a, b] = [start, end].map((norm) => (Number.isNaN(norm) ? "?" : normText(norm)));
  return `${a} → ${b}`;
}

/** A dash, with the reason, where a value is not known. */
function valueText(text: string | null, x: number, why: string): VNode[] {
  const y = ROW_HEIGHT / 2 + 4;
  if (text === null) return [textMark("whole-number absent", x, y, "–", { title: why })];
  return [textMark("whole-number", x, y, text)];
}

function parameterMovementMarks(
  { layout, say }: WholeRunScene,
  row: WholeRunRow,
  { moved, tone }: ParameterRunSummary,
  x: number,
): VNode[] {
  if (Number.isNaN(moved)) return valueText(null, x, say("whole_moved_unknown"));
  const y = ROW_HEIGHT / 2;
  const share = layout.mostMoved && Number.isFinite(moved) ? Math.min(1, moved / layout.mostMoved) : 1;
  const ground = rectMark("whole-bar-ground", x, y - 4.5, MOVED_WIDTH, 9);
  const bar = rectMark("whole-bar", x, y - 4.5, moved ? Math.max(1, MOVED_WIDTH * share) : 0, 9);
  const number = textMark(classNames("whole-number", !moved && tone), x + MOVED_WIDTH + 6, y + 4, normText(moved));
  return row.kind === "head" ? [number] : [ground, bar, number];
}

function countMarks({ layout, say }: WholeRunScene, { facts, parameter }: WholeRunRow): VNode[] {
  const { kept, called } = layout.columns;
  const y = ROW_HEIGHT / 2 + 4;
  if (parameter !== null) return [];
  const marks: VNode[] = [];
  if (kept !== null && facts.kept) marks.push(textMark("whole-number end", kept, y, bytesText(facts.kept)));
  if (called !== null && facts.calls)
    marks.push(
      h("text", { class: "whole-number soft", x: called, y }, [
        `${facts.isAtLeast ? "≥ " : ""}${facts.calls}×`,
        facts.isAtLeast ? titleMark(say("whole_called_at_least", { n: facts.calls })) : null,
      ]),
    );
  return marks;
}
