/** Where everything of a run by its modules stands: time goes down, modules stand beside each other. Pixels. */

import { keptBars } from "./run_kept.ts";
import { parametersWrittenAtStep } from "./run_parameters.ts";
import { addToList } from "../trace/multimap.ts";
import { countStepsUpTo } from "./run_state.ts";
import type { RunBox, PhasePlace, RunLayout, SectionPlace, StepBox, BoxEdge } from "./run_plan.ts";
import type { ModuleColumn, ModuleColumns, PhaseRuns, ModuleRun, SectionRuns } from "./run_columns.ts";
import type { NetFacts } from "../nets/net_state.ts";
import type { Section } from "./run_sections.ts";

export const MIN_COLUMN_WIDTH = 64;
const MAX_COLUMN_WIDTH = 150;
const GROUP_HEIGHT = 20;
const COLUMN_HEAD_HEIGHT = 36;
const LABEL_WIDTH = { wide: 158, narrow: 62 };
const NARROW_WIDTH = 560;
const RIGHT = 10;
export const MIN_ROW_HEIGHT = 14;
const MAX_ROW_HEIGHT = 24;
const STRIP_HEIGHT = 26;
const MAX_STRIP_HEIGHT = 60;
const HIDDEN_HEIGHT = 24;
/** Above the first section. */
const TOP = 4;
const PHASE_GAP = 6;
const SECTION_GAP = 6;
/** A run that others interleave with has more than a row, for its calls. */
const INTERLEAVED_ROWS = 3;

/** The round of step `i` is drawn in full. */
export function layoutRun(
  facts: NetFacts,
  { columns, groups, columnOf, sections }: ModuleColumns,
  i: number,
  { width, height }: { width: number; height: number },
): RunLayout {
  const left = labelWidth(width);
  const columnWidth = Math.max(
    MIN_COLUMN_WIDTH,
    Math.min(MAX_COLUMN_WIDTH, Math.floor((width - left - RIGHT) / Math.max(1, columns.length))),
  );
  const depth = groups.reduce((most, group) => Math.max(most, group.depth + 1), 0);
  const head = depth * GROUP_HEIGHT + COLUMN_HEAD_HEIGHT;
  const layout: RunLayout = {
    width: Math.max(width, left + columns.length * columnWidth + RIGHT),
    height: 0,
    head,
    left,
    columnWidth,
    columns,
    groups,
    columnOf,
    sections: [],
    hidden: [],
  };
  if (!sections.length) return layout;
  const at = sectionAt(sections, i);
  const others = sections.length - 1;
  const rows = leastRowsOfSection(sections[at]);
  const room = height - head - TOP - SECTION_GAP;
  const gaps = heightOfPhaseGaps(sections[at]);
  const stripRoom = (strips: number, hidden: number) => strips * (STRIP_HEIGHT + SECTION_GAP) + hidden * HIDDEN_HEIGHT;
  let strips = others;
  const hiddenOf = (count: number) => (count < others ? Math.min(2, others - count) : 0);
  while (strips > Math.min(2, others) && rows * MIN_ROW_HEIGHT + gaps + stripRoom(strips, hiddenOf(strips)) > room)
    strips -= 1;
  const rowHeight = Math.max(
    MIN_ROW_HEIGHT,
    Math.min(MAX_ROW_HEIGHT, Math.floor((room - gaps - stripRoom(strips, hiddenOf(strips))) / rows)),
  );
  const rest = room - gaps - rows * rowHeight - hiddenOf(strips) * HIDDEN_HEIGHT;
  const stripHeight = strips
    ? Math.max(STRIP_HEIGHT, Math.min(MAX_STRIP_HEIGHT, Math.floor(rest / strips) - SECTION_GAP))
    : 0;
  const { from, to } = shownSections(sections.length, at, strips);
  let y = TOP;
  const hide = (count: number, section: Section) => {
    if (!count) return;
    layout.hidden.push({ y, h: HIDDEN_HEIGHT, count, section });
    y += HIDDEN_HEIGHT;
  };
  hide(from, sections[Math.max(0, from - 1)].section);
  for (let k = from; k <= to; k++) {
    const size = k === at ? { rowHeight, total: null } : { rowHeight: 1, total: stripHeight };
    const placed = placeSection(facts, layout, sections[k], y, size);
    layout.sections.push(placed);
    y += placed.h + SECTION_GAP;
  }
  hide(sections.length - 1 - to, sections[Math.min(sections.length - 1, to + 1)].section);
  layout.height = y;
  return layout;
}

export function labelWidth(width: number) {
  return width < NARROW_WIDTH ? LABEL_WIDTH.narrow : LABEL_WIDTH.wide;
}

/** The section that a step is in, else the last that began before it. */
export function sectionAt(sections: SectionRuns[], i: number): number {
  const within = sections.findIndex(({ section }) => section.first <= i && i <= section.last);
  if (within >= 0) return within;
  return Math.max(
    0,
    sections.findLastIndex(({ section }) => section.first <= i),
  );
}

/** As many around the one in full, evenly. */
function shownSections(count: number, at: number, strips: number) {
  let [from, to] = [at, at];
  while (to - from < Math.min(strips, count - 1)) {
    if (to + 1 < count && (to - at <= at - from || from === 0)) to += 1;
    else from -= 1;
  }
  return { from, to };
}

/** How many rows a section takes at least. */
export function leastRowsOfSection({ phases }: SectionRuns): number {
  return phases.reduce((sum, phase) => sum + lastOf(heightsOf(phase, 1)), 0);
}

function lastOf(heights: number[]) {
  return heights[heights.length - 1];
}

/** Besides the rows of a section: the heads, and others as strips. */
export function heightBesidesRows({ groups, sections }: ModuleColumns): number {
  const depth = groups.reduce((most, group) => Math.max(most, group.depth + 1), 0);
  const strips = Math.min(2, sections.length - 1) * (STRIP_HEIGHT + SECTION_GAP);
  const hidden = sections.length > 3 ? HIDDEN_HEIGHT : 0;
  return depth * GROUP_HEIGHT + COLUMN_HEAD_HEIGHT + TOP + SECTION_GAP + strips + hidden;
}

export function heightOfPhaseGaps({ phases }: SectionRuns): number {
  return Math.max(0, phases.length - 1) * PHASE_GAP;
}

/**
 * The height at which each moment of a phase begins, and last where it ends. Time never goes up; each run has a row at
 * least. What runs interleave with others shares rows.
 */
function heightsOf({ runs, steps, phase }: PhaseRuns, rowHeight: number): number[] {
  const count = steps.length;
  if (phase.kind === "step") return [0, rowHeight];
  const rows = new Map(runs.map((run) => [run, rowsOf(run, runs) * rowHeight]));
  const sizeOf = (run: ModuleRun) => rows.get(run) ?? rowHeight;
  const ending = new Map<number, ModuleRun[]>();
  const beginning = new Map<number, ModuleRun[]>();
  for (const run of runs) {
    addToList(ending, run.to, run);
    addToList(beginning, run.from, run);
  }
  const endsOf = (heights: number[], k: number) => (ending.get(k) ?? []).map((run) => heights[run.from] + sizeOf(run));
  const earliest = [0];
  for (let k = 1; k <= count; k++) earliest.push(Math.max(earliest[k - 1], ...endsOf(earliest, k)));
  const latest = [...earliest];
  for (let k = count - 1; k >= 0; k--)
    latest[k] = Math.min(latest[k + 1], ...(beginning.get(k) ?? []).map((run) => latest[run.to] - sizeOf(run)));
  // between, time goes evenly as far as each run keeps its rows
  const even = evenly(earliest);
  const heights = [0];
  for (let k = 1; k <= count; k++)
    heights.push(Math.max(heights[k - 1], ...endsOf(heights, k), Math.min(even[k], latest[k])));
  return heights;
}

/** Where steps of a staircase are, even slopes. */
function evenly(heights: number[]): number[] {
  const even = [...heights];
  let before = 0;
  for (let k = 1; k < heights.length; k++) {
    if (heights[k] === heights[k - 1]) continue;
    for (let between = before + 1; between < k; between++)
      even[between] = heights[before] + ((heights[k] - heights[before]) * (between - before)) / (k - before);
    before = k;
  }
  return even;
}

function rowsOf(run: ModuleRun, runs: ModuleRun[]) {
  const isInterleaved =
    run.units.length > 3 && runs.some((other) => other !== run && other.from < run.to && run.from < other.to);
  return isInterleaved ? INTERLEAVED_ROWS : 1;
}

function placeSection(
  facts: NetFacts,
  layout: RunLayout,
  { section, phases }: SectionRuns,
  y: number,
  { rowHeight, total }: { rowHeight: number; total: number | null },
): SectionPlace {
  const isFull = total === null;
  const gap = isFull ? PHASE_GAP : 2;
  const rows = phases.reduce((sum, phase) => sum + lastOf(heightsOf(phase, 1)), 0);
  const size = isFull ? rowHeight : Math.max(0.2, (total - gap * (phases.length - 1)) / Math.max(1, rows));
  let top = y;
  const placed = phases.map((phase): PhasePlace => {
    const heights = heightsOf(phase, size).map((each) => top + each);
    const bottom = lastOf(heights);
    const place = { phase: phase.phase, y: top, h: bottom - top, heights, steps: phase.steps };
    top = bottom + gap;
    return { ...place, boxes: boxesOf(layout, phase, heights, isFull), stepBoxes: stepBoxesOf(facts, layout, place) };
  });
  const h = (phases.length ? top - gap : top) - y;
  const result: SectionPlace = { section, isFull, y, h, phases: placed, bars: [], edges: [] };
  result.bars = keptBars(facts, layout, section.stretch);
  for (const { column, pieces } of result.bars)
    for (const piece of pieces) {
      const made = boxAtStep(result, column, piece.birth, false);
      piece.from = made ? made.y + made.h : heightOfStep(result, piece.birth);
      piece.to = piece.released === null ? y + h : heightOfStep(result, piece.released - 1);
    }
  if (isFull) result.edges = edgesOf(facts, layout, result);
  return result;
}

function boxesOf(layout: RunLayout, { runs }: PhaseRuns, heights: number[], isFull: boolean): RunBox[] {
  const margin = isFull ? 1 : 0;
  return runs.map((run) => {
    const y = heights[run.from];
    const h = Math.max(1, heights[run.to] - y - 2 * margin);
    return { run, column: run.column, ...columnBox(layout, run.column), y: y + margin, h };
  });
}

export function columnBox({ left, columnWidth }: Pick<RunLayout, "left" | "columnWidth">, { at }: ModuleColumn) {
  return { x: left + at * columnWidth + 3, w: columnWidth - 6 };
}

function stepBoxesOf(
  facts: NetFacts,
  layout: RunLayout,
  { phase, y, h }: Pick<PhasePlace, "phase" | "y" | "h">,
): StepBox[] {
  if (phase.kind !== "step") return [];
  return layout.columns.flatMap((column) => {
    const parameters = parametersWrittenAtStep(facts, column.parameters, phase.first);
    const key = `${phase.first} ${column.key}`;
    return parameters.length
      ? [{ key, column, step: phase.first, parameters, ...columnBox(layout, column), y: y + 1, h: Math.max(1, h - 2) }]
      : [];
  });
}

/** The box of a column that a step is in. */
function boxAtStep(
  { phases }: SectionPlace,
  column: ModuleColumn,
  step: number,
  isBackward: boolean,
): RunBox | undefined {
  for (const { phase, boxes } of phases) {
    if ((phase.kind === "backward") !== isBackward || phase.first > step || phase.last < step) continue;
    const found = boxes.find(({ run }) => {
      const { steps } = run;
      return run.column === column && steps[0] <= step && step <= steps[steps.length - 1];
    });
    if (found) return found;
  }
  return undefined;
}

/** The edges between boxes of the section, each pair once. */
function edgesOf(facts: NetFacts, layout: RunLayout, place: SectionPlace): BoxEdge[] {
  const boxAt = (column: ModuleColumn, step: number, isBackward: boolean) => boxAtStep(place, column, step, isBackward);
  const edges = new Map<string, BoxEdge>();
  const add = (from: RunBox | undefined, to: RunBox | undefined, edge: Pick<BoxEdge, "kind" | "step" | "cut">) => {
    if (!from || !to || from === to) return;
    const key = `${edge.kind} ${from.run.key} ${to.run.key}`;
    const known = edges.get(key);
    const skips = Math.abs(from.column.at - to.column.at) > 1;
    if (!known || (known.cut && !edge.cut)) edges.set(key, { key, from, to, skips, ...edge });
  };
  for (const edge of facts.net.edges) {
    const [from, to] = [layout.columnOf.get(edge.from), layout.columnOf.get(edge.to)];
    if (!from || !to || from === to) continue;
    for (const { step, from: source, node, edge: k, cut } of edge.runs.get(place.section.stretch) ?? []) {
      const made = boxAt(from, source.ends, false) ?? boxAt(from, source.begins, false);
      add(made, boxAt(to, step, false), { kind: "forward", step, cut });
      const target = node && facts.opened.index.nodes.get(node)?.next[k]?.[0];
      for (const visit of (node && facts.opened.index.visitStepsByNode.get(node)) || []) {
        if (!facts.opened.trace.steps[visit].visit?.grad_inputs[k]) continue;
        const taken = facts.opened.index.visitStepsByNode.get(target ?? "")?.find((each) => each > visit) ?? visit;
        add(boxAt(to, visit, true), boxAt(from, taken, true), { kind: "backward", step: taken, cut: null });
      }
    }
  }
  return [...edges.values()];
}

/** The height at which the step of a section ends. */
export function heightOfStep({ phases, y }: SectionPlace, i: number): number {
  let at = y;
  for (const phase of phases) {
    if (phase.phase.first > i) break;
    if (phase.phase.last <= i) at = phase.y + phase.h;
    else {
      at = phase.heights[countStepsUpTo(phase.steps, i)];
    }
  }
  return at;
}
