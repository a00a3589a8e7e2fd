/** What the view of a net shows of a trace, for tests. */

import { netMarks } from "../../static/js/nets/net_marks.ts";
import { layoutNet } from "../../static/js/nets/net_layout.ts";
import { netOf } from "../../static/js/nets/net_call_sites.ts";
import { NetFacts } from "../../static/js/nets/net_state.ts";
import { NetStepping } from "../../static/js/nets/net_stepping.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { landingStep } from "../../static/js/trace/steps/landing.ts";
import { vnodeToSvg } from "../../static/js/browser/svg.ts";

const NO_CHOICES = new Map();
const say = (key, args = {}) => `${key} ${Object.values(args).join(" ")}`.trim();

function rowByCallSite(layout) {
  const rows = new Map();
  const add = (callSite, row) => {
    rows.set(callSite, row);
    for (const inner of callSite.inner) add(inner, row);
  };
  for (const row of layout.rows) if (row.kind !== "head") for (const callSite of row.callSites) add(callSite, row);
  return rows;
}

/** Whether each call site that a step runs has a row of its own, whole within the room, named, with its modules in the path. */
function readability(facts, i, layout, room) {
  const callSites = new Set(facts.touchedAt(i).flatMap((invocation) => facts.net.callSiteOfInvocation.get(invocation) ?? []));
  const leaves = [...callSites].filter(({ inner }) => !inner.length);
  if (!leaves.length) return null;
  const rows = rowByCallSite(layout);
  const isNamed = (callSite) => {
    const row = rows.get(callSite);
    if (!row || row.y + row.h > room.height || !row.isNow) return false;
    return ["callSite", "lines"].includes(row.kind);
  };
  const around = leaves[0].parent;
  const hasPath = leaves.length > 1 || !around || layout.path.includes(around);
  return leaves.every(isNamed) && hasPath;
}

function presses(facts, layouts, from, to) {
  const stops = [];
  for (let i = from; i < to; ) {
    const layout = layouts[i];
    const passed = new Set(
      layout.rows.flatMap((row) => (row.joins && row.callSites[0].invocations[0].nodes.length === 1 ? [row.key] : [])),
    );
    const next = new NetStepping(facts, layout.rows, passed).next(i, 1);
    if (next <= i) break;
    stops.push(next);
    i = next;
  }
  return stops;
}

export default function factsOf(trace, width, height) {
  const room = { width, height };
  const opened = openTrace(trace);
  const net = netOf(opened);
  const facts = new NetFacts(opened, net);
  const layouts = trace.steps.map((_, i) => layoutNet(facts, i, { ...room, choices: NO_CHOICES }));
  const steps = layouts.map((layout, i) => ({
    readable: readability(facts, i, layout, room),
    rows: layout.rows.length,
    height: layout.height,
    isVisit: Boolean(trace.steps[i].visit),
  }));
  const first = trace.steps.findLast(({ visit }) => visit)?.i ?? Math.max(0, landingStep(opened));
  const layout = layouts[first];
  const lines = trace.program.source.split("\n");
  const svgAt = (i) =>
    netMarks({ facts, layout: layouts[i], i, isBackward: facts.isBackward(i), say, lines })
      .map(vnodeToSvg)
      .join("");
  const visits = trace.steps.flatMap((step, i) => (step.visit ? [i] : []));
  const end = visits.findIndex((step, k) => visits[k + 1] !== step + 1);
  const stops = visits.length ? presses(facts, layouts, visits[0] - 1, visits[Math.max(0, end)]) : [];
  const counts = new Set();
  const count = (callSite) => {
    for (const node of callSite.invocations.flatMap((invocation) => facts.nodes(invocation))) counts.add(node);
    for (const inner of callSite.inner) count(inner);
  };
  net.top.forEach(count);
  return {
    first: layout.rows.length,
    names: layout.rows.map(({ callSites }) => callSites[0].name),
    lines: net.top.map(({ invocations }) => trace.steps[invocations[0].begins].line),
    steps,
    stops: stops.length,
    svg: svgAt(first),
    svgAtEnd: svgAt(opened.count - 1),
    nodes: net.invocationByNode.size,
    placed: counts.size,
    edges: net.edges.map(({ from, to, runs }) => ({ from: from.name, to: to.name, cut: [...runs.values()].flat().some(({ cut }) => cut) })),
  };
}
