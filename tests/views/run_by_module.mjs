/** What the loom by module shows of a trace, for tests. */

import { readFileSync } from "node:fs";

import { heightOfStep } from "../../static/js/loom/run_layout.ts";
import { keptBytesAt } from "../../static/js/loom/run_kept.ts";
import { runBodyMarks, runHeadMarks } from "../../static/js/loom/run_marks.ts";
import { ModuleLoomPlanner } from "../../static/js/loom/run_planner.ts";
import { isStepOfRun } from "../../static/js/loom/run_state.ts";
import { netOf } from "../../static/js/nets/net_places.ts";
import { pathOfStep } from "../../static/js/nets/net_rows.ts";
import { NetFacts } from "../../static/js/nets/net_state.ts";
import { createLocale } from "../../static/js/words/sentences.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { vnodeToSvg } from "../../static/js/browser/svg.ts";

const sentences = (language) =>
  JSON.parse(readFileSync(new URL(`../../static/locales/net.${language}.json`, import.meta.url), "utf8"));
const locale = createLocale({ en: sentences("en"), zh: sentences("zh") });

/** The numbers of the calls that a place stands for, those within it too. */
function callsIn(place) {
  return [...place.units.flatMap(({ call }) => (call === null ? [] : [call])), ...place.inner.flatMap(callsIn)];
}

function columnOfUnit(facts, layout, unit) {
  let outer = unit;
  while (outer && !facts.net.placeOfUnit.has(outer)) outer = outer.parent;
  return outer ? layout.columnOf.get(facts.net.placeOfUnit.get(outer)) : undefined;
}

/** Whether what a step touched has a column and a box, both whole within the room, and its modules are in the path. */
function sight(facts, i, layout, room) {
  const units = facts.touchedAt(i).filter((unit) => columnOfUnit(facts, layout, unit));
  if (!units.length) return null;
  const full = layout.sections.find(({ isFull }) => isFull);
  const boxes = full.phases.flatMap((phase) => phase.boxes);
  const path = pathOfStep(facts, i);
  const isSeen = (unit) => {
    const column = columnOfUnit(facts, layout, unit);
    const box = boxes.find(({ run }) => run.column === column && isStepOfRun(run, i));
    return box && box.x + box.w <= room.width && layout.head + box.y + box.h <= room.height && box.h >= 12;
  };
  const place = facts.net.placeOfUnit.get(units[0]);
  return units.every(isSeen) && (units.length > 1 || !place?.parent || path.includes(place.parent));
}

function boxFacts(phase, full) {
  return phase.boxes.map(({ run, column, y, h }) => ({
    kind: phase.phase.kind,
    column: column.at,
    steps: run.steps,
    heights: run.steps.map((step) => [heightOfStep(full, step - 1), heightOfStep(full, step)]),
    units: run.units.length,
    arrived: run.arrived,
    y,
    h,
  }));
}

function sectionFacts(facts, layout, full) {
  return {
    first: full.section.first,
    last: full.section.last,
    round: full.section.round,
    phases: full.phases.map(({ phase }) => [phase.kind, phase.first, phase.last, phase.line]),
    boxes: full.phases.flatMap((phase) => boxFacts(phase, full)),
    written: full.phases.flatMap(({ stepBoxes }) => stepBoxes.map(({ column, step, parameters }) => ({ column: column.at, step, parameters }))),
    bars: full.bars.map((bar) => ({
      column: bar.column.at,
      kept: Array.from({ length: full.section.last - full.section.first + 1 }, (_, k) => keptBytesAt(bar, full.section.first + k)),
    })),
    edges: full.edges.map(({ kind, from, to, step }) => [kind, from.column.at, to.column.at, step]),
  };
}

export default function factsOf({ trace, room, opened: chosen = [], language = "en", drawn = [] }) {
  const opened = openTrace(trace);
  const facts = new NetFacts(opened, netOf(opened));
  const planner = new ModuleLoomPlanner(facts);
  const choices = new Map(chosen);
  const layouts = new Set();
  const sights = [];
  const sections = new Map();
  for (let i = 0; i < opened.count; i++) {
    const layout = planner.layout(i, { ...room, choices });
    layouts.add(layout);
    sights.push(sight(facts, i, layout, room));
    const full = layout.sections.find(({ isFull }) => isFull);
    if (full) sections.set(full.section.stretch, sectionFacts(facts, layout, full));
  }
  const layout = planner.layout(0, { ...room, choices });
  const { say } = locale(language);
  const draw = (i) => {
    const at = planner.layout(i, { ...room, choices });
    const scene = { facts, layout: at, i, say, lines: planner.lines, reached: "" };
    return [...runHeadMarks(scene), ...runBodyMarks(scene)].map(vnodeToSvg).join("");
  };
  const callsOfBare = (place) =>
    place.isBare ? [...place.units.flatMap(({ call }) => (call === null ? [] : [call])), ...place.inner.flatMap(callsOfBare)] : place.inner.flatMap(callsOfBare);
  return {
    bare: facts.net.top.flatMap(callsOfBare),
    columns: layout.columns.map(({ row, parameters }) => ({
      key: row.key,
      kind: row.kind,
      names: row.places.map(({ path, name }) => path ?? name),
      opens: row.places.some(({ inner }) => inner.length > 0),
      calls: row.places.flatMap(callsIn),
      parameters,
    })),
    groups: layout.groups.map(({ place, from, to }) => ({ name: place.path ?? place.name, calls: callsIn(place), from, to })),
    columnOfNode: Object.fromEntries(
      [...facts.net.unitOfNode].flatMap(([node, unit]) => {
        const column = columnOfUnit(facts, layout, unit);
        return column ? [[node, column.at]] : [];
      }),
    ),
    width: layout.width,
    height: layout.height + layout.head,
    layouts: layouts.size,
    sights,
    sections: [...sections.values()],
    svgs: drawn.map(draw),
  };
}
