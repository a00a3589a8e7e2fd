/** What a step did, in one sentence, with the names of modules and lines: for steps that a row of a net is about. */

import { bytesText } from "../trace/format.ts";
import { objectNamesAt } from "../trace/object_names.ts";
import { isLoop } from "./net_rounds.ts";
import { openCallSiteOf } from "./net_rows.ts";
import { normText, operationLabel, shapeText } from "./net_words.ts";
import { gradNorm, type NetFacts } from "./net_state.ts";
import type { CallSite } from "./net_call_sites.ts";
import type { Translate } from "../words/sentences.ts";
import type { Invocation } from "./net_calls.ts";

/** Null for a step that its own caption tells best: a statement, and what runs in several call sites at once. */
export function stepHeadline(facts: NetFacts, i: number, say: Translate): string | null {
  const { visit } = facts.opened.trace.steps[i];
  if (visit?.accumulates) return arrivalSentence(facts, i, visit.accumulates, say);
  const touched = facts.touchedAt(i);
  const callSites = new Set(touched.flatMap((invocation) => facts.net.callSiteOfInvocation.get(invocation) ?? []));
  const leaves = [...callSites].filter(({ inner }) => !inner.length);
  const callSite = openCallSiteOf(facts, i);
  if (!callSite) return null;
  if (leaves.length > 1 && !visit) {
    const whole = callSiteAroundAll(facts, i, leaves);
    return (
      whole &&
      forwardSentence(
        facts,
        i,
        facts.stateAt(whole, i).calls.map(({ invocation }) => invocation),
        whole,
        say,
      )
    );
  }
  if (leaves.length !== 1 || leaves[0] !== callSite) return null;
  return visit ? visitSentence(facts, i, visit.node, callSite, say) : forwardSentence(facts, i, touched, callSite, say);
}

/** The outermost module that a step has run to its end, where all that it ran is within it. */
function callSiteAroundAll(facts: NetFacts, i: number, leaves: CallSite[]): CallSite | null {
  let found: CallSite | null = null;
  const isAround = (outer: CallSite, callSite: CallSite | null): boolean =>
    callSite !== null && (callSite === outer || isAround(outer, callSite.parent));
  for (
    let outer = leaves[0].parent;
    outer && leaves.every((leaf) => isAround(outer as CallSite, leaf));
    outer = outer.parent
  )
    if (outer.kind === "module" && facts.stateAt(outer, i).calls.some(({ invocation }) => invocation.ends === i))
      found = outer;
  return found;
}

/** The module around a call site, as the rows call it; empty where there is none. */
export function modulePathOf(callSite: CallSite | null): string {
  const names: string[] = [];
  for (let outer = callSite; outer; outer = outer.parent)
    if (outer.kind === "module" && !(outer.isTransparent && outer.parent) && outer.name) names.unshift(outer.name);
  return names.length > 1 && names[0] === "model" ? names.slice(1).join(".") : names.join(".");
}

function visitSentence(facts: NetFacts, i: number, node: string, callSite: CallSite, say: Translate) {
  const { visit } = facts.opened.trace.steps[i];
  const operation = operationLabel(facts.opened.index.nodes.get(node)?.name ?? "");
  const count = (visit?.grad_inputs ?? []).filter((grad) => grad).length;
  const module = modulePathOf(callSite);
  const { stmt } =
    facts.touchedAt(i).find((invocation) => facts.net.callSiteOfInvocation.get(invocation) === callSite) ?? {};
  // of iterations that were not recorded nothing smaller is known than the loop
  const isOfLoop = isLoop(facts.opened.trace.program.statements ?? [], stmt ?? null);
  const key = isOfLoop ? "net_headline_visit_loop" : "net_headline_visit_line";
  if (!module) return say(key, { operation, line: callSite.line, n: count });
  return say("net_headline_visit", { operation, module, n: count });
}

function arrivalSentence(facts: NetFacts, i: number, leaf: string, say: Translate) {
  const name = objectNamesAt(facts.opened, i).nameOf(leaf);
  const grads = facts.opened.trace.steps[i].visit?.grad_outputs ?? [];
  const norm = grads.length === 1 && grads[0] ? gradNorm(grads[0]) : null;
  if (!name || norm === null) return null;
  return say("net_headline_arrived", { name: `${name}.grad`, norm: normText(norm) });
}

function forwardSentence(facts: NetFacts, i: number, touched: Invocation[], callSite: CallSite, say: Translate) {
  const invocation = touched.findLast((each) => facts.net.callSiteOfInvocation.get(each) === callSite);
  const { kind } = facts.opened.trace.steps[i];
  if (!invocation || invocation.isStatement || invocation.ends > i) return null;
  // what a call is given is not what its statement names, and of several names each has a shape of its own
  if (callSite.kind !== "module" && (kind === "call" || kind === "resume" || callSite.name.includes(","))) return null;
  const shape = facts.outputShape(invocation);
  const module = modulePathOf(callSite);
  if (!shape || !module) return null;
  const { kept } = facts.stateAt(callSite, i);
  const size = kept ? bytesText(kept) : "";
  const args = { module, name: callSite.name, shape: shapeText(shape), size };
  if (callSite.kind === "module") return say(kept ? "net_headline_module_keeps" : "net_headline_module", args);
  return say(kept ? "net_headline_line_keeps" : "net_headline_line", args);
}
