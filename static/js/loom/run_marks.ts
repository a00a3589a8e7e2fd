/** What a run by its modules looks like, as descriptions of SVG. */

import { bytesLabel } from "../trace/memory_totals.ts";
import { classNames, h, type VNode } from "../browser/svg.ts";
import { netRowName } from "../nets/net_marks.ts";
import { normText } from "../nets/net_texts.ts";
import { namesThatFit, pathThatFits } from "../layout/loom/loom_names.ts";
import { textWidth } from "../layout/text/metrics.ts";
import { columnBox, heightOfStep } from "./run_layout.ts";
import { keptBytesAt } from "./run_kept.ts";
import { normOfChangeByStep, countOfNumbers } from "./run_parameters.ts";
import { isStepOfRun, arrivedGradientNorm, outputText, progressOfRun } from "./run_state.ts";
import {
  barSentence,
  boxSentence,
  columnSentence,
  groupSentence,
  hiddenSentence,
  canColumnOpen,
  roundText,
  sectionSentence,
  stepSentence,
  edgeSentence,
} from "./run_sentences.ts";
import type { RunBox, KeptBar, PhasePlace, RunLayout, SectionPlace, StepBox, BoxEdge } from "./run_plan.ts";
import type { ModuleColumn, ColumnGroup } from "./run_columns.ts";
import type { NetFacts } from "../nets/net_state.ts";
import type { Say } from "../words/sentences.ts";

export interface RunScene {
  facts: NetFacts;
  layout: RunLayout;
  i: number;
  say: Say;
  /** of the program, by line */
  lines: string[];
  /** the mark that the Tab key reaches, by its key */
  reached: string;
}

const TEXT = 12;
const GROUP_HEIGHT = 20;
/** A box that is lower has no text. */
const MIN_TEXT_HEIGHT = 12;
/** Of a bar, beside which edges go down and up. */
const BAR_MARGIN = 26;
const LINE = 15;

/** What can be pressed, over what is drawn there: a target, a name, and a place in the order of keys. */
function pressable(
  scene: RunScene,
  key: string,
  sentence: string,
  place: { x: number; y: number; width: number; height: number; rx?: number },
  isOpen: boolean | null = null,
) {
  return h(
    "rect",
    {
      ...place,
      class: "run-hit",
      role: "button",
      tabindex: scene.reached === key ? 0 : -1,
      "aria-label": sentence,
      "aria-expanded": isOpen === null ? null : String(isOpen),
      target: { kind: "loom part", key },
    },
    h("title", {}, sentence),
  );
}

/** The heads of the columns, and of what is opened. */
export function runHeadMarks(scene: RunScene): VNode[] {
  const { layout } = scene;
  const now = columnsNow(scene);
  return [
    ...layout.groups.map((group) => groundMark(layout, group, layout.head, GROUP_HEIGHT * group.depth + 2)),
    ...layout.groups.map((group) => groupMark(scene, group)),
    ...layout.columns.map((column) => columnMark(scene, column, now.has(column))),
    h("path", { key: "rule", class: "run-rule", d: `M0 ${layout.head - 0.5}H${layout.width}` }),
  ];
}

function columnsNow({ facts, layout, i }: RunScene): Set<ModuleColumn> {
  const found = new Set<ModuleColumn>();
  for (const unit of facts.touchedAt(i)) {
    let outer: typeof unit | null = unit;
    while (outer && !facts.net.placeOfUnit.has(outer)) outer = outer.parent;
    const column = outer && layout.columnOf.get(facts.net.placeOfUnit.get(outer) as never);
    if (column) found.add(column);
  }
  return found;
}

function groundMark(layout: RunLayout, { key, from, to, depth }: ColumnGroup, height: number, y: number) {
  const x = layout.left + from * layout.columnWidth + depth * 2;
  const width = (to - from + 1) * layout.columnWidth - depth * 4;
  return h("rect", {
    key: `ground ${key}`,
    class: classNames("run-ground", depth % 2 === 1 && "inner"),
    x,
    y,
    width,
    height,
  });
}

function groupMark(scene: RunScene, group: ColumnGroup) {
  const { layout } = scene;
  const { key, place, depth, from, to } = group;
  const x = layout.left + from * layout.columnWidth + 4 + depth * 2;
  const width = (to - from + 1) * layout.columnWidth - 8 - depth * 4;
  const y = depth * GROUP_HEIGHT + 2;
  const sentence = groupSentence(scene, group);
  return h(
    "g",
    { key: `group ${key}`, class: "run-group opens" },
    h("path", { class: "run-fold", d: `M${x + 4} ${y + 6}h8l-4 6z` }),
    h("text", { class: "run-name", x: x + 16, y: y + 13 }, pathThatFits(place.name, charactersIn(width - 20))),
    pressable(scene, `group ${key}`, sentence, { x, y, width, height: GROUP_HEIGHT - 2, rx: 4 }, true),
  );
}

function charactersIn(width: number) {
  return Math.max(3, Math.floor(width / textWidth("m", TEXT)));
}

function columnMark(scene: RunScene, column: ModuleColumn, isNow: boolean) {
  const { facts, layout, say } = scene;
  const { x, w } = columnBox(layout, column);
  const y = layout.head - 36;
  const opens = canColumnOpen(column);
  const sentence = columnSentence(scene, column);
  const [place] = column.row.places;
  const isLine = column.row.kind === "lines" || (column.row.kind === "place" && place.kind === "line");
  const fits = column.row.kind === "fold" ? namesThatFit : pathThatFits;
  const name = fits(netRowName(column.row), charactersIn(w - (opens ? 12 : 2)));
  const nameWidth = textWidth(name, TEXT) + (opens ? 10 : 0);
  const start = x + Math.max(0, (w - nameWidth) / 2);
  const head = { x, y: y + 1, width: w, height: 32, rx: 4 };
  return h(
    "g",
    { key: `column ${column.key}`, class: classNames("run-column", isNow && "now", opens && "opens") },
    isNow && h("rect", { class: "run-column-now", ...head }),
    opens && h("path", { class: "run-fold", d: `M${start} ${y + 6}v8l6 -4z` }),
    h("text", { class: classNames("run-name", isLine && "line"), x: start + (opens ? 10 : 0), y: y + 14 }, name),
    h("text", { class: "run-size mid", x: x + w / 2, y: y + 29 }, secondLine(column, charactersIn(w), facts, say)),
    pressable(scene, `column ${column.key}`, sentence, head, opens ? false : null),
  );
}

/** How many numbers it learns, else its class or line, as far as there is room. */
function secondLine({ row, parameters }: ModuleColumn, most: number, facts: NetFacts, say: Say): string {
  const [place] = row.places;
  const numbers = shortCount(countOfNumbers(facts, parameters));
  const texts = parameters.length
    ? [say("loom_numbers", { numbers }), numbers]
    : row.kind === "place" && place.kind === "module"
      ? [place.type, say("net_line", { line: place.line })]
      : row.kind === "fold"
        ? [say("loom_columns", { n: row.places.length })]
        : [say("net_line", { line: place.line })];
  if (row.kind === "repeat") texts.unshift(`${place.type} ×${row.places.length}`, `×${row.places.length}`);
  return texts.find((text) => text.length <= most + 1) ?? "";
}

/** `872`, `24.6k`, `1.3M`. */
function shortCount(count: number) {
  if (count < 10_000) return String(count);
  const [unit, size] = count < 1e6 ? ["k", 1e3] : count < 1e9 ? ["M", 1e6] : ["G", 1e9];
  return `${(count / size).toPrecision(3)}${unit}`.replace(/\.0+(?=\D)/, "");
}

/** The body: what ran, what is kept, what came back, below the heads. */
export function runBodyMarks(scene: RunScene): VNode[] {
  const { layout } = scene;
  const full = layout.sections.find(({ isFull }) => isFull);
  const marks: VNode[] = layout.groups.map((group) => groundMark(layout, group, layout.height, 0));
  marks.push(...layout.sections.flatMap((section) => sectionGroundMarks(scene, section)));
  if (full) marks.push(...nowMarks(scene, full));
  for (const section of layout.sections) {
    marks.push(...section.bars.flatMap((bar) => barMarks(scene, section, bar)));
    marks.push(...section.edges.map((edge) => edgeMark(scene, edge)));
    for (const phase of section.phases) {
      marks.push(...phase.boxes.map((box) => boxMark(scene, section, box)));
      marks.push(...phase.stepBoxes.map((box) => stepMark(scene, section, box)));
    }
    marks.push(...(section.isFull ? section.bars.flatMap((bar) => barTextMarks(scene, section, bar)) : []));
    marks.push(...labelMarks(scene, section));
  }
  marks.push(...layout.hidden.map((hidden) => hiddenMark(scene, hidden)));
  return marks;
}

function sectionGroundMarks(scene: RunScene, { section, y, h: height, isFull }: SectionPlace): VNode[] {
  const { layout } = scene;
  const marks = [];
  if (y > 8)
    marks.push(h("path", { key: `rule ${section.stretch}`, class: "run-rule", d: `M0 ${y - 3.5}H${layout.width}` }));
  if (!isFull) {
    const sentence = sectionSentence(scene, section);
    marks.push(
      h(
        "g",
        { key: `section ${section.stretch}`, class: "run-section opens" },
        pressable(scene, `section ${section.stretch}`, sentence, {
          x: 0,
          y: y - 2,
          width: layout.width,
          height: height + 4,
        }),
      ),
    );
  }
  return marks;
}

/** The row of the step across all columns, and the moment itself. */
function nowMarks({ layout, i }: RunScene, section: SectionPlace): VNode[] {
  const boxes = section.phases.flatMap(({ boxes }) => boxes).filter(({ run }) => isStepOfRun(run, i));
  const phase = section.phases.find((each) => each.phase.kind === "step" && each.phase.first === i);
  const y = heightOfStep(section, i);
  const [top, bottom] = boxes.length
    ? [Math.min(...boxes.map((box) => box.y)), Math.max(...boxes.map((box) => box.y + box.h))]
    : phase
      ? [phase.y, phase.y + phase.h]
      : [y - 1, y + 1];
  return [
    h("rect", { key: "now", class: "run-now", x: 0, y: top - 1, width: layout.width, height: bottom - top + 2 }),
    h("rect", { key: "now edge", class: "run-now-edge", x: 0, y: top - 1, width: 4, height: bottom - top + 2 }),
  ];
}

/** Widths of bars: of the most bytes that a column keeps in the section, the square root. */
function barScale({ layout }: RunScene, { bars, isFull }: SectionPlace) {
  const most = Math.max(1, ...bars.map(({ pieces }) => pieces.reduce((sum, { bytes }) => sum + bytes, 0)));
  const widest = Math.max(10, layout.columnWidth - 6 - (isFull ? 2 * BAR_MARGIN : 12));
  return (bytes: number) => Math.max(3, widest * Math.sqrt(bytes / most));
}

function barMarks(scene: RunScene, section: SectionPlace, bar: KeptBar): VNode[] {
  const { layout, i } = scene;
  const { x, w } = columnBox(layout, bar.column);
  const { kept, holds } = keptBytesAt(bar, i);
  if (!kept) return [];
  const widthOf = barScale(scene, section);
  const now = heightOfStep(section, i);
  const pieces = bar.pieces.filter(({ birth }) => birth <= i);
  const d = outline(pieces, x + w / 2, widthOf);
  const until = outline(
    pieces.map((piece) => ({ ...piece, to: Math.min(piece.to, now) })),
    x + w / 2,
    widthOf,
  );
  const sentence = barSentence(scene, bar);
  return [
    h(
      "g",
      {
        key: `bar ${bar.key}`,
        class: classNames("run-bar", holds ? "held" : "gone"),
        target: { kind: "loom part", key: `bar ${bar.key}` },
      },
      holds > 0 && h("path", { class: "run-bar-coming", d }),
      h("path", { class: "run-bar-kept", d: until }),
      h("title", {}, sentence),
    ),
  ];
}

/** A bar as wide as what is kept at each height. */
function outline(
  pieces: { bytes: number; from: number; to: number }[],
  center: number,
  widthOf: (bytes: number) => number,
): string {
  const changes = new Map<number, number>();
  for (const { bytes, from, to } of pieces) {
    if (to <= from) continue;
    changes.set(from, (changes.get(from) ?? 0) + bytes);
    changes.set(to, (changes.get(to) ?? 0) - bytes);
  }
  const edges = [...changes.keys()].sort((a, b) => a - b);
  let [d, bytes] = ["", 0];
  edges.forEach((from, k) => {
    bytes += changes.get(from) ?? 0;
    const to = edges[k + 1];
    if (to === undefined || bytes <= 0) return;
    const width = widthOf(bytes);
    d += `M${round(center - width / 2)} ${round(from)}h${round(width)}v${round(to - from)}h${round(-width)}z`;
  });
  return d;
}

function round(value: number) {
  return Math.round(value * 10) / 10;
}

/** How much it is, where nothing else of the column stands. */
function barTextMarks({ layout, i }: RunScene, section: SectionPlace, bar: KeptBar): VNode[] {
  const { kept, holds } = keptBytesAt(bar, i);
  if (!kept) return [];
  const { x, w } = columnBox(layout, bar.column);
  const text = bytesLabel(holds || kept);
  const gap = gapAfterForward(section, bar.column);
  if (!gap || gap.to - gap.from < LINE || textWidth(text, TEXT) > w) return [];
  return [
    h(
      "text",
      {
        key: `kept ${bar.key}`,
        class: classNames("run-kept mid", !holds && "gone"),
        x: x + w / 2,
        y: (gap.from + gap.to) / 2 + 4,
      },
      text,
    ),
  ];
}

/** Between what a column ran first and what ran in it next, or the end of the section. */
function gapAfterForward({ phases, y, h: height }: SectionPlace, column: ModuleColumn) {
  const boxes = phases.flatMap(({ boxes, stepBoxes }) => [...boxes, ...stepBoxes]);
  const own = boxes.filter((box) => box.column === column).sort((a, b) => a.y - b.y);
  const gaps = own.flatMap((box, k) =>
    "run" in box && box.run.phase.kind !== "backward" ? [{ from: box.y + box.h, to: own[k + 1]?.y ?? y + height }] : [],
  );
  return gaps.sort((a, b) => b.to - b.from - (a.to - a.from))[0];
}

function edgeMark(scene: RunScene, edge: BoxEdge): VNode {
  const { i } = scene;
  const { key, kind, from, to, skips, cut, step } = edge;
  const sentence = edgeSentence(scene, edge);
  const d = edgePath(from, to);
  const fresh = step === i;
  return h(
    "g",
    {
      key: `edge ${key}`,
      class: classNames("run-edge", kind, skips && "around", cut && "cut", step > i && "waits", fresh && "fresh"),
      target: { kind: "loom part", key: `edge ${key}` },
    },
    h("path", { class: "run-edge-hit", d }),
    h("path", { class: "run-edge-line", d }),
    cut &&
      h("path", {
        class: "run-edge-cut",
        d: `M${to.x - 10} ${to.y + to.h / 2 - 4}l5 8M${to.x - 15} ${to.y + to.h / 2 - 4}l5 8`,
      }),
    h("title", {}, sentence),
  );
}

/** Down from the earlier box to the height of the later one, and to its side. */
function edgePath(before: RunBox, after: RunBox) {
  const y = after.y + Math.min(after.h, 18) / 2;
  const isRight = after.column.at > before.column.at;
  const end = isRight ? after.x : after.x + after.w;
  if (y <= before.y + before.h) {
    const start = isRight ? before.x + before.w : before.x;
    return `M${round(start)} ${round(y)}H${round(end)}`;
  }
  const x = isRight ? before.x + before.w - 9 : before.x + 9;
  const isOver = isRight ? end < x : end > x;
  return `M${round(x)} ${round(before.y + before.h)}V${round(y)}${isOver ? "" : `H${round(end)}`}`;
}

function boxMark(scene: RunScene, { isFull }: SectionPlace, box: RunBox): VNode {
  const { facts, i, say } = scene;
  const { run, x, y, w, h: height } = box;
  const progress = progressOfRun(run, i);
  const kind = run.phase.kind === "backward" ? "backward" : "forward";
  const isNow = isFull && isStepOfRun(run, i);
  const name = classNames("run-box", kind, progress, isNow && "now", run.phase.kind === "again" && "again");
  if (!isFull) return h("rect", { key: `box ${run.key}`, class: `${name} small`, x, y, width: w, height });
  const sentence = boxSentence(scene, box);
  const came = run.arrived.some(({ step }) => step <= i);
  return h(
    "g",
    { key: `box ${run.key}`, class: name },
    h("rect", { x, y, width: w, height, rx: 3 }),
    ...tickMarks(scene, box),
    height >= MIN_TEXT_HEIGHT &&
      h("text", { class: "mid", x: x + w / 2 - (came ? 4 : 0), y: y + height / 2 + 4.2 }, boxText(facts, box, i, say)),
    came && h("circle", { class: "run-arrived", cx: x + w - 6, cy: y + height / 2, r: 2.6 }),
    pressable(scene, `box ${run.key}`, sentence, { x, y, width: w, height, rx: 3 }),
  );
}

/** A tick for the step within a box that is higher than a row. */
function tickMarks({ i }: RunScene, { run, x, y, w, h: height }: RunBox) {
  if (height < 30 || !isStepOfRun(run, i)) return [];
  const share = (run.steps.findLastIndex((step) => step <= i) + 0.5) / run.steps.length;
  return [h("path", { class: "run-tick", d: `M${x} ${round(y + height * share)}h${w}` })];
}

function boxText(facts: NetFacts, { run, w }: RunBox, i: number, say: Say): string {
  const progress = progressOfRun(run, i);
  if (progress === "waits") return "";
  const most = charactersIn(w - 14);
  const n = run.units.length;
  if (n > 1) {
    const texts = [say("net_calls", { n }), `${n}×`];
    return texts.find((text) => text.length <= most) ?? "";
  }
  if (run.phase.kind === "backward") {
    const norm = arrivedGradientNorm(facts, run, i);
    return norm === null ? "" : normText(norm);
  }
  return progress === "done" ? shapeTextThatFits(outputText(facts, run), charactersIn(w - 4)) : "";
}

/** Of a shape that is too long its last dimensions. */
function shapeTextThatFits(text: string, most: number): string {
  let shown = text;
  for (let rest = text; shown.length > most && rest.includes("×"); ) {
    rest = rest.slice(rest.indexOf("×") + 1);
    shown = `…×${rest}`;
  }
  return shown.length <= most ? shown : "";
}

function stepMark(scene: RunScene, { isFull }: SectionPlace, box: StepBox): VNode {
  const { facts, i } = scene;
  const { key, x, y, w, h: height, parameters, step } = box;
  const name = classNames("run-box step", step > i ? "waits" : "done", isFull && step === i && "now");
  if (!isFull) return h("rect", { key: `step ${key}`, class: `${name} small`, x, y, width: w, height });
  const sentence = stepSentence(scene, box);
  const moved = step > i ? null : normOfChangeByStep(facts, parameters, step);
  return h(
    "g",
    { key: `step ${key}`, class: name },
    h("rect", { x, y, width: w, height, rx: 3 }),
    moved !== null &&
      height >= MIN_TEXT_HEIGHT &&
      h("text", { class: "mid", x: x + w / 2, y: y + height / 2 + 4.2 }, normText(moved)),
    pressable(scene, `step ${key}`, sentence, { x, y, width: w, height, rx: 3 }),
  );
}

/** At the left: which round it is, and of each phase what it is and the statement. */
function labelMarks(scene: RunScene, section: SectionPlace): VNode[] {
  const { layout, say, lines } = scene;
  const isWide = layout.left > 100;
  const key = `label ${section.section.stretch}`;
  const name = roundText(say, section.section);
  if (!section.isFull) {
    const text = isWide ? name || say("loom_outside") : (name.match(/\d+/)?.[0] ?? "");
    const y = section.y + Math.min(section.h / 2 + 4, 12);
    const missing = section.section.round?.missing;
    return [
      h("text", { key, class: "run-label", x: 12, y }, text),
      ...(missing && isWide
        ? [
            h(
              "text",
              { key: `missing ${key}`, class: "run-code", x: 12, y: y + LINE },
              say("loom_missing", { n: missing }),
            ),
          ]
        : []),
    ];
  }
  return section.phases.flatMap((place, k) => phaseLabels(scene, place, k ? "" : name, section, lines));
}

function phaseLabels(
  { layout, say, i }: RunScene,
  place: PhasePlace,
  round: string,
  section: SectionPlace,
  lines: string[],
): VNode[] {
  const isWide = layout.left > 100;
  const { kind, first, line } = place.phase;
  const next = section.phases[section.phases.indexOf(place) + 1];
  const room = (next?.y ?? section.y + section.h) - place.y;
  const what = say(`loom_${kind}`);
  const missing = section.section.round?.missing ?? 0;
  const code = `${line} ${(lines[line - 1] ?? "").trim()}`;
  const most = charactersIn(layout.left - 18);
  const cut = (text: string) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const texts = isWide
    ? [
        { text: round && room >= 2 * LINE ? round : "", name: "run-label" },
        { text: what, name: "run-label" },
        { text: cut(code), name: "run-code" },
        { text: round && missing ? say("loom_missing", { n: missing }) : "", name: "run-code" },
      ]
    : [{ text: say(`loom_${kind}_short`), name: "run-label" }];
  const fitting = texts.filter(({ text }) => text).slice(0, Math.max(1, Math.floor((room + 2) / LINE)));
  return fitting.map(({ text, name }, k) =>
    h(
      "text",
      {
        key: `label ${first} ${k}`,
        class: classNames(name, first > i && "waits"),
        x: 12,
        y: place.y + 11.5 + k * LINE,
      },
      text,
    ),
  );
}

function hiddenMark(scene: RunScene, hidden: RunLayout["hidden"][number]): VNode {
  const { layout, say } = scene;
  const { y, h: height, count, section } = hidden;
  const sentence = hiddenSentence(scene, hidden);
  return h(
    "g",
    { key: `section ${section.stretch}`, class: "run-section opens" },
    h("text", { class: "run-label", x: 12, y: y + 15 }, say("loom_hidden", { n: count })),
    pressable(scene, `section ${section.stretch}`, sentence, { x: 0, y, width: layout.width, height: height - 2 }),
  );
}
