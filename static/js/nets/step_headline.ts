/** What a step did, in one sentence, with the names of modules and lines: for steps that a row of a net is about. */

import { bytesText } from "../trace/format.ts";
import { objectNamesAt } from "../trace/object_names.ts";
import { isLoop } from "./net_rounds.ts";
import { openCallSiteOf } from "./net_rows.ts";
import { normText, operationLabel, shapeText } from "./net_words.ts";
import { gradNorm, type NetFacts } from "./net_state.ts";
import type { CallSite } from "./net_call_sites.ts";
import type { Say } from "../words/sentences.ts";
import type { Invocation } from "./net_calls.ts";

/** Null for a step that its own caption tells best: a statement, and what runs in several places at once. */
export function stepHeadline(facts: NetFacts, i: number, say: Say): string | null {
  const { visit } = facts.opened.trace.steps[i];
  if (visit?.accumulates) return arrivalSentence(facts, i, visit.accumulates, say);
  const touched = facts.touchedAt(i);
  const places = new Set(touched.flatMap((unit) => facts.net.callSiteOfInvocation.get(unit) ?? []));
  const leaves = [...places].filter(({ inner }) => !inner.length);
  const place = openCallSiteOf(facts, i);
  if (!place) return null;
  if (leaves.length > 1 && !visit) {
    const whole = callSiteAroundAll(facts, i, leaves);
    return (
      whole &&
      forwardSentence(
        facts,
        i,
        facts.stateAt(whole, i).calls.map(({ unit }) => unit),
        whole,
        say,
      )
    );
  }
  if (leaves.length !== 1 || leaves[0] !== place) return null;
  return visit ? visitSentence(facts, i, visit.node, place, say) : forwardSentence(facts, i, touched, place, say);
}

/** The outermost module that a step has run to its end, where all that it ran is within it. */
function callSiteAroundAll(facts: NetFacts, i: number, leaves: CallSite[]): CallSite | null {
  let found: CallSite | null = null;
  const isAround = (outer: CallSite, place: CallSite | null): boolean =>
    place !== null && (place === outer || isAround(outer, place.parent));
  for (
    let outer = leaves[0].parent;
    outer && leaves.every((leaf) => isAround(outer as CallSite, leaf));
    outer = outer.parent
  )
    if (outer.kind === "module" && facts.stateAt(outer, i).calls.some(({ unit }) => unit.ends === i)) found = outer;
  return found;
}

/** The module around a place, as the rows call it; empty where there is none. */
export function modulePathOf(place: CallSite | null): string {
  const names: string[] = [];
  for (let outer = place; outer; outer = outer.parent)
    if (outer.kind === "module" && !(outer.isBare && outer.parent) && outer.name) names.unshift(outer.name);
  return names.length > 1 && names[0] === "model" ? names.slice(1).join(".") : names.join(".");
}

function visitSentence(facts: NetFacts, i: number, node: string, place: CallSite, say: Say) {
  const { visit } = facts.opened.trace.steps[i];
  const operation = operationLabel(facts.opened.index.nodes.get(node)?.name ?? "");
  const count = (visit?.grad_inputs ?? []).filter((grad) => grad).length;
  const module = modulePathOf(place);
  const { stmt } = facts.touchedAt(i).find((unit) => facts.net.callSiteOfInvocation.get(unit) === place) ?? {};
  // of iterations that were not recorded nothing smaller is known than the loop
  const isOfLoop = isLoop(facts.opened.trace.program.statements ?? [], stmt ?? null);
  const key = isOfLoop ? "net_headline_visit_loop" : "net_headline_visit_line";
  if (!module) return say(key, { operation, line: place.line, n: count });
  return say("net_headline_visit", { operation, module, n: count });
}

function arrivalSentence(facts: NetFacts, i: number, leaf: string, say: Say) {
  const name = objectNamesAt(facts.opened, i).nameOf(leaf);
  const grads = facts.opened.trace.steps[i].visit?.grad_outputs ?? [];
  const norm = grads.length === 1 && grads[0] ? gradNorm(grads[0]) : null;
  if (!name || norm === null) return null;
  return say("net_headline_arrived", { name: `${name}.grad`, norm: normText(norm) });
}

function forwardSentence(facts: NetFacts, i: number, touched: Invocation[], place: CallSite, say: Say) {
  const unit = touched.findLast((each) => facts.net.callSiteOfInvocation.get(each) === place);
  const { kind } = facts.opened.trace.steps[i];
  if (!unit || unit.isStatement || unit.ends > i) return null;
  // what a call is given is not what its statement names, and of several names each has a shape of its own
  if (place.kind !== "module" && (kind === "call" || kind === "resume" || place.name.includes(","))) return null;
  const shape = facts.outputShape(unit);
  const module = modulePathOf(place);
  if (!shape || !module) return null;
  const { kept } = facts.stateAt(place, i);
  const size = kept ? bytesText(kept) : "";
  const args = { module, name: place.name, shape: shapeText(shape), size };
  if (place.kind === "module") return say(kept ? "net_headline_module_keeps" : "net_headline_module", args);
  return say(kept ? "net_headline_line_keeps" : "net_headline_line", args);
}
