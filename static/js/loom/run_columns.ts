/** The columns of a run by its modules, the same at every step, and what ran in each in one piece. */

import { netRowsOfWholeRun, type OpenedRows, type NetRow } from "../nets/net_rows.ts";
import { parameterUidsOf } from "./run_parameters.ts";
import type { NetFacts } from "../nets/net_state.ts";
import type { Phase, Section } from "./run_sections.ts";
import type { NetPlace } from "../nets/net_places.ts";
import type { Unit } from "../nets/net_calls.ts";

export interface ModuleColumn {
  key: string;
  row: NetRow;
  /** from the left */
  at: number;
  /** uids, of modules within it too */
  parameters: string[];
}

/** A frame around the columns of what is opened. */
export interface ColumnGroup {
  key: string;
  place: NetPlace;
  depth: number;
  from: number;
  to: number;
}

export interface ModuleColumns {
  columns: ModuleColumn[];
  groups: ColumnGroup[];
  columnOf: Map<NetPlace, ModuleColumn>;
  sections: SectionRuns[];
}

/** What ran in a column in one piece, or interleaved with others again and again. */
export interface ModuleRun {
  key: string;
  column: ModuleColumn;
  phase: Phase;
  /** among the phase's moments that have a column: the first, and the one after the last */
  from: number;
  to: number;
  /** in order, without repetition */
  steps: number[];
  /** of the column's own places, in order */
  units: Unit[];
  /** leaves whose gradient came, each with the step */
  arrived: { leaf: string; step: number }[];
}

export interface PhaseRuns {
  phase: Phase;
  /** one after the other, those that began first */
  runs: ModuleRun[];
  /** steps of the moments that have a column */
  steps: number[];
}

export interface SectionRuns {
  section: Section;
  phases: PhaseRuns[];
}

/** Up to so many pieces of a column's run stand apart; more are one with a count. */
const MAX_PIECES = 3;

/** `width` is what there is for columns, `least` that of one column, `most` how many there may be. */
export function columnsOfRun(
  facts: NetFacts,
  sections: Section[],
  { width, least, most, choices }: { width: number; least: number; most: number; choices: OpenedRows },
): ModuleColumns {
  const room = Math.max(width, least);
  const count = Number.POSITIVE_INFINITY;
  const size = { room: Math.min(room, most * least), head: 0, row: least, least, most: count, isSparing: true };
  const rows = netRowsOfWholeRun(facts, size, choices);
  const columns: ModuleColumn[] = [];
  const columnOf = new Map<NetPlace, ModuleColumn>();
  for (const row of rows) {
    if (row.kind === "head") continue;
    const column = { key: row.key, row, at: columns.length, parameters: parameterUidsOf(facts, row.places) };
    columns.push(column);
    const add = (place: NetPlace) => {
      columnOf.set(place, column);
      place.inner.forEach(add);
    };
    row.places.forEach(add);
  }
  const found = sections.map((section) => ({
    section,
    phases: section.phases.flatMap((phase) => {
      const runs = runsOf(facts, phase, columnOf);
      return runs.runs.length || phase.kind === "step" ? [runs] : [];
    }),
  }));
  const shown = found.filter(({ phases }) => phases.length > 0);
  return { columns, groups: groupsOf(rows, columns), columnOf, sections: shown };
}

function groupsOf(rows: NetRow[], columns: ModuleColumn[]): ColumnGroup[] {
  return rows.flatMap((head) => {
    const [place] = head.places;
    const inside = columns.filter(({ row }) => row.within.includes(place));
    if (head.kind !== "head" || !inside.length) return [];
    return [{ key: head.key, place, depth: head.depth, from: inside[0].at, to: inside[inside.length - 1].at }];
  });
}

function runsOf(facts: NetFacts, phase: Phase, columnOf: Map<NetPlace, ModuleColumn>): PhaseRuns {
  const moments = phase.moments.filter(({ place }) => columnOf.has(place));
  const pieces = new Map<ModuleColumn, { from: number; to: number }[]>();
  moments.forEach(({ place }, k) => {
    const column = columnOf.get(place) as ModuleColumn;
    const list = pieces.get(column) ?? [];
    pieces.set(column, list);
    const last = list.at(-1);
    if (last?.to === k) last.to = k + 1;
    else list.push({ from: k, to: k + 1 });
  });
  const runs: ModuleRun[] = [];
  for (const [column, list] of pieces) {
    const bounds = list.length > MAX_PIECES ? [{ from: list[0].from, to: list[list.length - 1].to }] : list;
    for (const { from, to } of bounds) {
      const key = `${phase.first} ${column.key} ${from}`;
      const run: ModuleRun = { key, column, phase, from, to, steps: [], units: [], arrived: [] };
      const own = new Set(column.row.places);
      const units = new Set<Unit>();
      for (const { place, step, unit, leaf } of moments.slice(from, to)) {
        if (columnOf.get(place) !== column) continue;
        if (run.steps.at(-1) !== step) run.steps.push(step);
        if (leaf) run.arrived.push({ leaf, step });
        let outer: Unit | null = unit;
        while (outer && !own.has(facts.net.placeOfUnit.get(outer) as NetPlace)) outer = outer.parent;
        if (outer) units.add(outer);
      }
      run.units = [...units].sort((a, b) => a.begins - b.begins || a.order - b.order);
      runs.push(run);
    }
  }
  runs.sort((a, b) => a.from - b.from || a.to - b.to);
  return { phase, runs, steps: moments.map(({ step }) => step) };
}
