/** The optimizers of a run: the tensors in their groups, and the steps at which they update them. */

import { findEntity } from "../trace/entities.ts";
import { keyValuePairs, referencedUid } from "../trace/names.ts";
import { resolvePath } from "./resolve.ts";
import type { Value } from "../trace/wire.ts";
import type { RunFacts } from "./run_facts.ts";

interface Optimizer {
  uid: string;
  made: number;
  /** at which its `step()` had run */
  steps: number[];
  /** the same with the place in the step's log, as far as the trace has events of it */
  stepped: OptimizerStep[];
  /** of its steps in iterations that were not recorded */
  unrecorded: number;
}

interface OptimizerStep {
  step: number;
  at: number;
}

const optimizersByTrace = new WeakMap<object, Map<string, Optimizer>>();

/** The optimizers by uid. */
export function optimizersOf(facts: RunFacts): Map<string, Optimizer> {
  const cached = optimizersByTrace.get(facts.trace);
  if (cached) return cached;
  const optimizers = new Map<string, Optimizer>();
  for (const { uid, step, fields } of facts.index.objectChanges)
    if (fields.kind && fields.attrs && "param_groups" in fields.attrs && !optimizers.has(uid))
      optimizers.set(uid, { uid, made: step, steps: [], stepped: [], unrecorded: 0 });
  if (facts.eventsOfKind("optimizer_stepped").length) addRecordedSteps(facts, optimizers);
  else if (optimizers.size) addStepsOfText(facts, optimizers);
  optimizersByTrace.set(facts.trace, optimizers);
  return optimizers;
}

function addRecordedSteps(facts: RunFacts, optimizers: Map<string, Optimizer>) {
  for (const { optimizer: uid, unrecorded, step, at } of facts.eventsOfKind("optimizer_stepped")) {
    const optimizer = optimizers.get(uid ?? "");
    if (!optimizer) continue;
    if (unrecorded) optimizer.unrecorded += unrecorded;
    else {
      if (optimizer.steps.at(-1) !== step) optimizer.steps.push(step);
      optimizer.stepped.push({ step, at });
    }
  }
}

/** Of a trace without such events. */
function addStepsOfText(facts: RunFacts, optimizers: Map<string, Optimizer>) {
  /** what a path meant when it was last looked up, by the statement and its frame */
  const uidByExpression = new Map<string, string | null>();
  facts.steps.forEach((traceStep, i) => {
    if (traceStep.kind !== "statement" && traceStep.kind !== "return") return;
    const match = /\b([A-Za-z_][\w.]*(?:\[[^\]]*\])*)\.step\(/.exec(facts.statementCode(i));
    if (!match) return;
    const key = `${traceStep.stmt} ${traceStep.frame}`;
    if (!uidByExpression.has(key)) uidByExpression.set(key, resolvePath(facts, match[1], i));
    optimizers.get(uidByExpression.get(key) ?? "")?.steps.push(i);
  });
}

/** The tensors in an optimizer's groups after a step. */
export function optimizerParameters(facts: RunFacts, uid: string, step: number): string[] {
  const entities = facts.stateAt(step);
  const groups =
    findEntity(entities, referencedUid(findEntity(entities, uid, "object")?.attrs?.param_groups), "object")?.items ??
    [];
  return groups.flatMap((group) => {
    const dict = findEntity(entities, referencedUid(group as Value), "object");
    const params = dict ? (keyValuePairs(dict) ?? []).find(([key]) => key === "params")?.[1] : null;
    const items = findEntity(entities, referencedUid(params), "object")?.items ?? [];
    return items.flatMap((item) => referencedUid(item as Value) ?? []);
  });
}
