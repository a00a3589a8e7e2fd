/** What a net looks like: frames, rails and rows as descriptions of SVG. */

import { bytesText } from "../trace/format.ts";
import { textWidth } from "../layout/text/metrics.ts";
import { classNames, h, type VNode } from "../browser/svg.ts";
import { circleMark, pathMark, rectMark, textMark, titleMark } from "../browser/shapes.ts";
import { factsOfRun } from "./whole_run/call_site_facts.ts";
import { learningMark } from "./whole_run/learning_mark.ts";
import { codeOfCallSite, fitText, netRowNamesThatFit, netRowLabel, linesText } from "./net_row_labels.ts";
import type { Frame } from "./rail_lanes.ts";
import type { RowEnd } from "./row_ends.ts";
import { openRowMarks } from "./open_row_marks.ts";
import { callBoxes, operationChipMarks } from "./net_chips.ts";
import { severitiesOf } from "../findings/severities.ts";
import { normText, shapeText } from "./net_words.ts";
import type { CallSiteState, NetFacts } from "./net_state.ts";
import { ROW_END_TEXT_SIZE, type NetLayout, type NetRail, type PlacedNetRow } from "./net_layout.ts";
import type { Translate } from "../words/sentences.ts";

const BAR_WIDTH = 56;
/** Of the logarithmic bar, below the largest norm. */
const BAR_DECADES = 4;
const INDENT = 12;

interface NetScene {
  facts: NetFacts;
  layout: NetLayout;
  i: number;
  /** backward is what runs, or ran last */
  isBackward: boolean;
  say: Translate;
  /** of the program, by line */
  lines: string[];
  /** the memory that the reader selected: every row that uses it is lit */
  lit?: string | null;
}

export function netMarks(scene: NetScene): VNode[] {
  const { layout } = scene;
  const largest = Math.max(0, ...layout.rows.map((row) => gradientNormOf(row) ?? 0).filter(Number.isFinite));
  return [
    ...layout.frames.map((frame) => frameMark(layout, frame)),
    ...layout.rows.filter(({ isNow, end }) => isNow || end).map((row) => currentRowMark(layout, row)),
    ...layout.rails.flatMap((rail) => railMarks(scene, rail)),
    ...causeToEffectMarks(layout),
    ...layout.rows.map((row) => rowMark(scene, row, largest)),
  ];
}

/** The headings over the columns. */
export function netHeadMarks({ columns, width }: NetLayout, say: Translate): VNode[] {
  const { name, shape, norm, kept, learns } = columns;
  const [room, shortName] = [(shape ?? norm) - name - 8, say("whole_head_name")];
  return [
    h("text", { x: name, y: 17 }, textWidth(say("net_head_name"), 12.5) < room ? say("net_head_name") : shortName),
    shape !== null && h("text", { x: shape, y: 17 }, say("net_head_shape")),
    h("text", { x: norm, y: 17 }, [
      say(shape === null ? "net_head_norm_short" : "net_head_norm"),
      titleMark(say("net_head_norm_why")),
    ]),
    kept !== null &&
      h("text", { x: kept, y: 17, class: "end" }, say("net_head_kept"), titleMark(say("net_head_kept_why"))),
    learns !== null && h("text", { x: learns, y: 17 }, say("whole_head_learns")),
    h("path", { d: `M0 23.5H${width}` }),
  ].filter((mark) => mark !== false);
}

function frameMark({ columns, width }: NetLayout, { callSite, depth, y, h: height }: Frame) {
  const x = columns.name - 14 + depth * INDENT;
  return rectMark("net-frame", x, y + 1, width - 6 - x - depth * 4, height - 2, {
    key: `frame ${callSite.key}`,
    rx: 6,
  });
}

function currentRowMark({ width }: NetLayout, { key, y, h: height, body, end }: PlacedNetRow) {
  return h("g", { key: `now ${key}`, class: classNames("net-now", end && `end ${end.tone}`) }, [
    h("rect", { y, width, height: height + (body?.top ?? 0) }),
    h("rect", { class: "net-now-edge", y, width: 4, height: height + (body?.height ?? 0) }),
  ]);
}

const rowMiddleY = ({ y, dot }: PlacedNetRow) => y + dot;

function railPath(rail: NetRail, x: number) {
  const [a, b] = [rowMiddleY(rail.from), rowMiddleY(rail.to)];
  if (!rail.lane) return `M${x} ${a}V${b}`;
  const lane = laneX(rail, x);
  const down = b > a ? 1 : -1;
  const r = Math.min(12, Math.abs(b - a) / 2);
  return `M${x} ${a}C${x - 6} ${a} ${lane} ${a + 2 * down} ${lane} ${a + r * down}V${b - r * down}C${lane} ${b - 2 * down} ${x - 6} ${b} ${x} ${b}`;
}

function laneX({ lane }: NetRail, x: number) {
  return Math.max(8, x - 2 - 12 * lane);
}

function railMarks({ facts, layout, isBackward, say, lines }: NetScene, rail: NetRail): VNode[] {
  const x = layout.columns.rail;
  const d = railPath(rail, x);
  const { key, from, to, cut } = rail;
  if (cut) {
    const what = (lines[cut.line - 1] ?? "").trim();
    const source = from.callSites.at(-1);
    const outer = (from.within[0] ?? source)?.name ?? "";
    const text = say("net_cut", { what: cutText(what, cut.reason), line: cut.line, name: outer });
    const y = cutHeight(layout, rail);
    const lane = laneX(rail, x);
    const textX = Math.max(lane + 14, x + 12);
    return [
      pathMark("net-rail cut", d, `cut ${key}`),
      h(
        "g",
        { key: `cut text ${key}`, class: classNames("net-cut", severitiesOf(facts.opened).ofCut.get(cut.line)) },
        h("path", { d: `M${lane - 7} ${y + 2}l14 -8M${lane - 7} ${y + 7}l14 -8` }),
        inTwoLines(text, 12, layout.width - textX - 8).map((line, k, all) =>
          h("text", { x: textX, y: y + 4 + (2 * k + 1 - all.length) * 8 }, line),
        ),
      ),
    ];
  }
  const state = rail.isReturned ? "returned" : rail.hasRun && !isBackward ? "ran" : "";
  const title = rail.isResidual ? say("net_residual", { from: netRowLabel(from), to: netRowLabel(to) }) : "";
  const marks = [
    pathMark(classNames("net-rail", state, rail.lane > 0 && "lane", rail.isBundled && "bundle"), d, {
      key: `rail ${key}`,
      title: title || null,
    }),
  ];
  if (rail.isFresh) marks.unshift(pathMark("net-glow", d, `glow ${key}`));
  if (state && !rail.lane && facts.opened) marks.push(arrowMark(rail, x, state));
  return marks;
}

function arrowMark({ key, from, to }: NetRail, x: number, state: string) {
  const y = (rowMiddleY(from) + rowMiddleY(to)) / 2;
  const up = state === "returned" ? -1 : 1;
  return pathMark(`net-arrow ${state}`, `M${x - 4.5} ${y - 3 * up}l4.5 ${7 * up}l4.5 ${-7 * up}z`, `arrow ${key}`);
}

/** In the room above the row, or its frame, that a cut leads to. */
function cutHeight({ rows }: NetLayout, { from, to }: NetRail) {
  const outer = to.within.find((callSite) => !from.within.includes(callSite));
  const head = rows.find((row) => row.kind === "head" && row.callSites[0] === outer) ?? to;
  return head.y - 18;
}

/** The part of a line that cut a history off. */
function cutText(line: string, reason: string) {
  const call = {
    detach: /[\w.[\]]*\.detach_?\(\)/,
    data: /[\w.[\]]*\.data\b/,
    item: /[\w.[\]]*\.item\(\)/,
    numpy: /[\w.[\]]*\.numpy\(\)/,
  }[reason];
  return (call && line.match(call)?.[0]) || reason.replace("_", " ");
}

function classText({ kind, callSites, states }: PlacedNetRow, say: Translate): string {
  const [callSite] = callSites;
  const count =
    states[0].calls.length > 1 && callSites[0].inner.length && kind === "callSite"
      ? ` · ${say("net_calls", { n: states[0].calls.length })}`
      : "";
  if (kind === "repeat") return `${callSite.type} ×${callSites.length}`;
  if (kind === "fold") return say("net_rows", { n: callSites.length });
  if (kind === "lines") return linesText(callSites, say);
  const line = linesText([callSite], say);
  if (callSite.kind === "line") return line + count;
  const again = callSite.isAgain ? ` · ${say("net_again")}` : "";
  const turn =
    kind === "head" && states[0].calls.length > 1
      ? ` · ${say("net_call_of", { k: states[0].shown + 1, n: states[0].calls.length })}`
      : "";
  const what = { module: callSite.type + (callSite.isTwice ? ` · ${line}` : ""), function: line, own: "" };
  return what[callSite.kind] + again + turn + count;
}

type RowTotals = Pick<
  CallSiteState,
  "hasBegun" | "hasRun" | "nodes" | "visited" | "isLeftOut" | "kept" | "holds" | "letGoNow"
>;

/** Of all the places of a row together. */
export function netRowTotals({ states }: Pick<PlacedNetRow, "states">): RowTotals {
  const sum = (of: "nodes" | "visited" | "kept" | "holds") => states.reduce((total, state) => total + state[of], 0);
  const withNodes = states.filter(({ nodes }) => nodes);
  return {
    hasBegun: states.some(({ hasBegun }) => hasBegun),
    hasRun: states.every(({ hasRun }) => hasRun),
    nodes: sum("nodes"),
    visited: sum("visited"),
    isLeftOut: withNodes.length > 0 && withNodes.every(({ isLeftOut }) => isLeftOut),
    kept: sum("kept"),
    holds: sum("holds"),
    letGoNow: states.some(({ letGoNow }) => letGoNow),
  };
}

function gradientNormOf({ kind, states }: PlacedNetRow): number | null {
  return kind === "head" ? null : (states.at(-1)?.norm ?? null);
}

function rowMark(scene: NetScene, row: PlacedNetRow, largest: number): VNode {
  const { layout, isBackward } = scene;
  const totals = netRowTotals(row);
  const { columns, width } = layout;
  const isContainer = row.kind === "fold" || row.kind === "repeat" || row.callSites[0].inner.length > 0;
  const state = totals.visited
    ? "returned"
    : totals.hasBegun && !(isBackward && totals.nodes) // a statement without nodes ran, and backward passes none
      ? "ran"
      : totals.hasBegun
        ? "passed"
        : "waits";
  const content = row.kind === "head" ? headContent(scene, row) : rowContent(scene, row, totals, largest);
  return h(
    "g",
    {
      key: `row ${row.key}`,
      class: classNames(
        "net-row",
        state,
        usesHighlightedMemory(scene, row) && "lit",
        row.kind === "head" && "head",
        row.isNow && "now",
        isContainer && "opens",
      ),
      transform: `translate(0 ${row.y})`,
      tabindex: 0,
      role: "treeitem",
      "aria-level": row.depth + 1,
      "aria-expanded": isContainer ? String(row.kind === "head") : null,
      "aria-current": row.isNow ? "step" : null,
      "aria-selected": String(row.body !== null),
      target: { kind: "net row", key: row.key },
    },
    h("rect", { class: "net-hit", x: columns.name - 12, width: Math.max(0, width - columns.name + 12), height: row.h }),
    content,
    row.body && pathMark("net-open-edge", `M0 ${row.h + row.body.height - 0.5}H${width}`),
    row.body &&
      h(
        "g",
        { transform: `translate(0 ${row.h + row.body.top})` },
        openRowMarks(row.body.shown, row.body.room, scene.say, row.body.asOf),
      ),
  );
}

function usesHighlightedMemory({ facts, lit }: NetScene, { kind, states }: PlacedNetRow): boolean {
  return (
    Boolean(lit) &&
    kind !== "head" &&
    states.some(({ calls }) => calls.some(({ invocation }) => facts.usesStorage(invocation, lit ?? "")))
  );
}

function headContent(scene: NetScene, row: PlacedNetRow) {
  const { layout, say } = scene;
  const { columns } = layout;
  const x = columns.name + row.depth * INDENT;
  const name = netRowLabel(row);
  const y = row.h / 2 + 4.5;
  const words = classText(row, say);
  const used = x + 26 + textWidth(name, 13) + textWidth(words, 12);
  return [
    pathMark("net-fold", `M${x - 4} ${row.h / 2 - 3}h8l-4 6z`),
    textMark("net-name", x + 10, y, name),
    used < layout.width - 8 && textMark("net-class", x + 18 + textWidth(name, 13), y, words),
    // what is open keeps its totals
    columns.shape !== null &&
      used < columns.shape &&
      shapeMark(row, columns.shape, columns.norm - columns.shape - 8, row.h / 2),
    columns.kept !== null && used < columns.kept - 80 && savedMemoryMarks(row, netRowTotals(row), columns.kept),
    columns.learns !== null && learningMarkOfRow(scene, row, columns.learns),
  ];
}

function rowContent(scene: NetScene, row: PlacedNetRow, totals: RowTotals, largest: number) {
  const { layout, say } = scene;
  const { columns } = layout;
  const y = row.h / 2;
  const x = columns.name + row.depth * INDENT;
  const opens = row.kind === "fold" || row.kind === "repeat" || row.callSites[0].inner.length > 0;
  const end = (columns.parts ?? columns.box) - 10;
  const start = opens ? x + 10 : x;
  const name = netRowNamesThatFit(netRowLabel(row), row, columns.box - start);
  const isLine =
    row.kind === "lines" ||
    (row.kind === "callSite" && row.callSites[0].kind !== "module" && row.callSites[0].kind !== "function");
  const nameWidth = textWidth(name, 13);
  const described = classText(row, say);
  const words = textWidth(described, 12) <= end - start - nameWidth - 8 ? described : "";
  const used = start + nameWidth + (words ? 8 + textWidth(words, 12) : 0);
  return [
    dotMark(row, totals, columns.rail),
    opens && pathMark("net-fold", `M${x - 4} ${y - 4}v8l6 -4z`),
    h(
      "text",
      {
        class: classNames("net-name", isLine && "line"),
        x: start,
        y: y + 4.5,
      },
      name,
      name !== netRowLabel(row) && titleMark(netRowLabel(row)),
    ),
    words ? textMark("net-class", start + nameWidth + 8, y + 4.5, words) : null,
    ...(row.end
      ? endMarks(scene, row, row.end, Math.max(columns.parts ?? 0, used + 12))
      : [
          ...columnMarks(scene, row, totals, largest, used),
          columns.learns !== null && learningMarkOfRow(scene, row, columns.learns),
        ]),
  ];
}

/** What a row runs, its shapes, its gradient and what it keeps. */
function columnMarks(scene: NetScene, row: PlacedNetRow, totals: RowTotals, largest: number, used: number) {
  const { columns } = scene.layout;
  return [
    ...(columns.parts === null ? [] : partMarks(scene, row, Math.max(columns.parts, used + 12))),
    columns.shape !== null &&
      used < columns.shape &&
      shapeMark(row, columns.shape, columns.norm - columns.shape - 8, row.h / 2),
    ...normMarks(scene, row, totals, largest, used + 10),
    ...(columns.kept === null ? [] : savedMemoryMarks(row, totals, columns.kept)),
  ];
}

/** At an end of a finding, what happened there takes the place of the middle columns. */
function endMarks(scene: NetScene, row: PlacedNetRow, { text, tone, step }: RowEnd, x: number) {
  const { layout, i, say } = scene;
  const { columns, width } = layout;
  const said = text.replaceAll("`", "");
  const plain = step === i ? said : say("net_end_at", { step: step + 1, said });
  const title = titleMark(plain);
  const line = (text: string, from: number, y: number, room: number) =>
    h("text", { class: `net-end ${tone}`, x: from, y }, fitText(text, room, 12.2), title);
  if (!row.body?.top) {
    const learns = columns.learns !== null && textWidth(plain, 12.2) < columns.learns - x - 12;
    return [
      line(plain, x, row.h / 2 + 4.5, (learns ? (columns.learns ?? width) : width) - x - 12),
      ...(learns ? [learningMarkOfRow(scene, row, columns.learns ?? width)] : []),
    ];
  }
  const room = width - columns.name - 10;
  return inTwoLines(plain, 12.2, room).map((text, k) =>
    line(text, columns.name, row.h + 12 + k * ROW_END_TEXT_SIZE.line, room),
  );
}

/** A text in so many pixels: on one line where it fits, else on two. */
function inTwoLines(text: string, size: number, room: number): string[] {
  const words = text.split(" ");
  let count = words.length;
  while (count > 1 && textWidth(words.slice(0, count).join(" "), size) > room) count -= 1;
  return [words.slice(0, count), words.slice(count)].filter((each) => each.length).map((each) => each.join(" "));
}

/** From the cause of a finding to where it shows, left of all rails. */
function causeToEffectMarks({ rows, columns }: NetLayout): VNode[] {
  const cause = rows.find(({ end }) => end?.isCause);
  const shows = rows.find(({ end }) => end && !end.isCause);
  if (!cause || !shows) return [];
  const [from, to] = [cause.y + cause.h / 2, shows.y + shows.h / 2];
  const [x, lane] = [columns.rail - 8, 10];
  const down = to > from ? 1 : -1;
  return [
    pathMark(
      `net-way ${cause.end?.tone}`,
      `M${x} ${from}H${lane + 8}Q${lane} ${from} ${lane} ${from + 8 * down}V${to - 8 * down}Q${lane} ${to} ${lane + 8} ${to}H${x}`,
      "way",
    ),
    pathMark(`net-way-end ${cause.end?.tone}`, `M${x - 2} ${to - 5}l7 5l-7 5z`, "way end"),
  ];
}

/** What comes of a row's parameters in the whole run. */
function learningMarkOfRow({ facts, say }: NetScene, row: PlacedNetRow, x: number) {
  const { parameters } = factsOfRun(facts).of(row.callSites);
  return parameters && learningMark(parameters, { x, y: row.h / 2, isShort: true }, say);
}

/** What the row consists of: boxes for calls, words for nodes, names of inner modules. */
function partMarks(scene: NetScene, row: PlacedNetRow, x: number): VNode[] {
  const { layout, facts, say, i, lines, isBackward } = scene;
  if (layout.columns.shape === null && !row.isNow) return []; // names and gradients take all the width
  const [callSite] = row.callSites;
  // a statement has neither shapes nor a gradient, unless it computes what it runs backward from
  const isBare = callSite.invocations[0].isStatement && row.kind === "callSite" && !netRowTotals(row).nodes;
  const end = isBare ? (layout.columns.learns ?? layout.columns.box) : layout.columns.box;
  const room = end - 8 - x;
  const y = row.h / 2;
  const calls = row.kind === "callSite" ? row.states[0].calls : [];
  if (room < 24) return [];
  if (calls.length > 1) return callBoxes(facts, row.states[0], { x, y, room, isBackward, say });
  if (row.kind === "callSite" && !callSite.inner.length) {
    const chips = operationChipMarks(facts, row.states[0].calls[0]?.invocation, { x, y, room, i, isBackward });
    const left = end - 12 - chips.end;
    const code = callSite.kind === "line" ? codeOfCallSite(facts, callSite, lines) : "";
    const isRead = left > textWidth("m".repeat(14), 12) || textWidth(code, 12) <= left;
    if (code && isRead && left > 60)
      chips.marks.push(textMark("net-code", chips.end + 4, y + 4, fitText(code, left, 12)));
    return chips.marks;
  }
  const { nodes } = netRowTotals(row);
  if (row.kind === "lines") {
    const code = codeOfCallSite(facts, callSite, lines);
    return [textMark("net-code", x, y + 4, fitText(code, room, 12))];
  }
  const inner =
    row.callSites.length === 1 ? callSite.inner.filter(({ kind }) => kind === "module").map(({ name }) => name) : [];
  const text = (count: number) =>
    [nodes ? say("net_nodes", { n: nodes }) : "", inner.slice(0, count).join(" ")].filter(Boolean).join(" · ") +
    (count < inner.length ? " …" : "");
  let count = inner.length;
  while (count && textWidth(text(count), 12) > room) count -= 1;
  return textWidth(text(count), 12) > room ? [] : [textMark("net-class", x, y + 4, text(count))];
}

function dotMark(row: PlacedNetRow, totals: RowTotals, x: number) {
  const y = row.dot;
  const isFull = totals.visited ? totals.visited >= totals.nodes : totals.hasRun;
  if (row.isNow)
    return h("g", { class: "net-dot now" }, [
      circleMark("net-halo", x, y, 13),
      h("circle", { cx: x, cy: y, r: 7 }),
      row.joins && plusMark(x, y),
    ]);
  if (row.joins)
    return h("g", { class: classNames("net-dot join", isFull && "full") }, [
      h("circle", { cx: x, cy: y, r: 7.5 }),
      plusMark(x, y),
    ]);
  // several rows in one
  const isSeveral = row.kind === "fold" || row.kind === "repeat";
  const others = isSeveral && pathMark("net-fold-dots", `M${x} ${y - 8}h0M${x} ${y + 8}h0`);
  const isStatement = !totals.nodes && row.callSites.every(({ invocations }) => invocations[0].isStatement);
  const dot = isStatement
    ? h("rect", { x: x - 4, y: y - 4, width: 8, height: 8 })
    : h("circle", { cx: x, cy: y, r: 4.5 });
  return h("g", { class: classNames("net-dot", isFull && "full") }, dot, others);
}

function plusMark(x: number, y: number) {
  return pathMark("net-plus", `M${x - 4} ${y}h8M${x} ${y - 4}v8`);
}

function shapeMark({ states }: PlacedNetRow, x: number, room: number, y: number) {
  const state = states.at(-1);
  if (!state?.output || !state.hasBegun) return null;
  const [input, output] = [states[0].input ? shapeText(states[0].input) : "", shapeText(state.output)];
  const both = input && input !== output ? `${input} → ${output}` : output;
  return textMark("net-shape", x, y + 4, textWidth(both, 12) <= room ? both : fitText(output, room, 12), {
    title: both,
  });
}

function normMarks(
  { layout, say, isBackward }: NetScene,
  row: PlacedNetRow,
  totals: RowTotals,
  largest: number,
  from: number,
): VNode[] {
  const x = layout.columns.norm;
  const y = row.h / 2;
  const norm = gradientNormOf(row);
  // a long name takes the place of the bar
  if (from > x)
    return norm === null || from > x + BAR_WIDTH + 8
      ? []
      : [textMark(classNames("net-number", !Number.isFinite(norm) && "bad"), x + BAR_WIDTH + 8, y + 4, normText(norm))];
  if (norm !== null) {
    const share = norm > 0 && largest > 0 ? 1 + Math.log10(norm / largest) / BAR_DECADES : 0;
    const isBad = !Number.isFinite(norm);
    const width = isBad || norm === 0 ? 2 : BAR_WIDTH * Math.max(0.04, Math.min(1, share));
    return [
      rectMark("net-bar-ground", x, y - 5, BAR_WIDTH, 10, { rx: 2 }),
      rectMark(classNames("net-bar", isBad && "bad"), x, y - 5, width, 10, { rx: width === 2 ? 0 : 2 }),
      textMark(classNames("net-number", isBad && "bad"), x + BAR_WIDTH + 8, y + 4, normText(norm)),
    ];
  }
  if (totals.visited) {
    const unknown = titleMark(say("net_unknown"));
    return [h("text", { class: "net-shape", x, y: y + 4 }, "–", unknown)];
  }
  if (!isBackward || !totals.hasBegun || row.callSites.every(({ invocations }) => invocations[0].isStatement))
    return [];
  if (totals.isLeftOut || !totals.nodes)
    return [textMark("net-none", x, y + 4, say("net_none"), { title: say("net_none_why") })];
  return [rectMark("net-bar-waits", x + 0.5, y - 4.5, BAR_WIDTH - 1, 9, { rx: 2, title: say("net_waits_why") })];
}

function savedMemoryMarks({ h: height }: PlacedNetRow, { kept, holds, letGoNow }: RowTotals, x: number): VNode[] {
  if (!kept) return [];
  const y = height / 2;
  return [
    rectMark(classNames("net-kept-box", holds > 0 && "full"), x - 9, y - 4, 8, 8, { rx: 1 }),
    textMark(classNames("net-kept", !holds && "gone", letGoNow && "now"), x - 16, y + 4, bytesText(kept)),
  ];
}
