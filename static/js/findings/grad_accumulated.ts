/** A second backward into a `.grad` that was not reset, where what was added up is used again. */

import { addToList } from "../trace/multimap.ts";
import { fix, link, namesOf, type Diagnosis, type Fact } from "./finding.ts";
import { gradName } from "./gradient_name.ts";
import { readsOfGrad } from "./grad_readings.ts";
import { tensorHistory } from "./tensor_history.ts";
import type { RunFacts } from "./run_facts.ts";
import type { Occurrence } from "./scan.ts";

/** of a tensor's life: a gradient added to its `.grad`, its own numbers written, its `.grad` emptied, its `.grad`
 * read */
interface GradMoment {
  step: number;
  event: "added" | "updated" | "reset" | "read";
}

const MAX_NAMES = 8;

export function gradAccumulated(facts: RunFacts): Diagnosis[] {
  const laterAdditions = facts.events("grad_accumulated").filter(({ first }) => !first);
  const tensors = [...new Set(laterAdditions.map(({ tensor }) => tensor))];
  const skippedResets = tensors.length ? possibleResets(facts) : [];
  const out = new Map<string, { diagnosis: Diagnosis; uids: string[] }>();
  for (const uid of tensors) {
    const staleSum = findStaleSum(gradMoments(facts, uid, skippedResets));
    if (!staleSum) continue;
    const key = `${facts.steps[staleSum.again].line} ${staleSum.used ? "used" : "read"}`;
    const sameLine = out.get(key);
    if (sameLine) addTensorTo(sameLine.diagnosis, facts, uid, staleSum.again);
    else out.set(key, { diagnosis: diagnosisOf(facts, uid, staleSum), uids: [uid] });
  }
  return [...out.values()].map(({ diagnosis }) => diagnosis);
}

/** steps: the first sum, what was done with it, the second sum, what is done with that */
interface StaleSum {
  first: number;
  between: number;
  again: number;
  /** it updates the tensor */
  used: boolean;
  effect: number;
}

function diagnosisOf(
  facts: RunFacts,
  uid: string,
  { first: firstSum, between: firstUse, again: secondSum, used, effect }: StaleSum,
): Diagnosis {
  const x = facts.nameFact(uid, secondSum);
  const additionLink = (step: number) =>
    link(facts.place(step), "gradient", { x, grad: gradName(x), code: facts.codeFact(step) }, [
      uid,
      gradOf(facts, uid, step),
    ]);
  const role = used ? "written" : "read";
  const useLink = (step: number) =>
    link(facts.place(step), role, { x, grad: gradName(x), code: facts.codeFact(step) }, [uid]);
  const isLoop = facts.steps[firstSum].stmt === facts.steps[secondSum].stmt;
  return {
    variant: `${used ? "used" : "read"}${isLoop ? "_loop" : ""}`,
    severity: used ? "warning" : "note",
    cause: facts.place(secondSum),
    chain: [additionLink(firstSum), useLink(firstUse), additionLink(secondSum), useLink(effect)],
    names: namesOf(x),
    facts: {
      x,
      grads: [gradName(x)],
      code: facts.codeFact(secondSum),
      first: facts.steps[firstSum].line,
      effect: facts.steps[effect].line,
    },
    fixes: [fix("zero_grad", facts.place(secondSum))],
  };
}

function addTensorTo(diagnosis: Diagnosis, facts: RunFacts, uid: string, step: number) {
  const grads = diagnosis.facts.grads as Fact[];
  const name = facts.nameFact(uid, step);
  if (grads.length >= MAX_NAMES) return;
  grads.push(gradName(name));
  diagnosis.names = namesOf(...diagnosis.names, name);
}

function gradOf(facts: RunFacts, uid: string, step: number) {
  return tensorHistory(facts).valueAt(uid, "grad", step) as string | null;
}

/** Steps before which iterations of a loop were not recorded: a reset may lie among them. */
function possibleResets({ steps }: RunFacts): GradMoment[] {
  return steps.flatMap(({ skipped }, step) => (skipped ? [{ step, event: "reset" }] : []));
}

function addedMoment(step: number): GradMoment {
  return { step, event: "added" };
}

/** What became of a tensor and its `.grad`, in order. */
function gradMoments(facts: RunFacts, uid: string, skippedResets: GradMoment[]): GradMoment[] {
  const history = tensorHistory(facts);
  const moments: GradMoment[] = [...skippedResets, ...additionsTo(facts, uid).map(({ step }) => addedMoment(step))];
  for (const { step, value } of history.changes(uid, "grad")) if (!value) moments.push({ step, event: "reset" });
  const grads = new Set(history.changes(uid, "grad").map(({ value }) => value));
  for (const grad of grads) {
    const storage = history.valueAt(String(grad), "storage", facts.steps.length);
    for (const { step } of facts.writesOf(storage as string | null))
      if (!facts.steps[step].visit) moments.push({ step, event: "reset" });
  }
  const storageUid = history.valueAt(uid, "storage", facts.steps.length) as string | null;
  for (const { step } of facts.writesOf(storageUid)) moments.push({ step, event: "updated" });
  for (const step of readsOfGrad(facts, uid)) moments.push({ step, event: "read" });
  return moments.sort((a, b) => a.step - b.step);
}

/** The first time that a sum was used, added to without a reset, and used again. That alone tells it from gradients
 * that are added up on purpose, and from those of another loss that are thrown away. */
function findStaleSum(moments: GradMoment[]): StaleSum | null {
  let firstStaleSum = null;
  for (const use of ["updated", "read"] as const) {
    let [firstSum, firstUse, secondSum] = [-1, -1, -1];
    for (const { step, event } of moments) {
      if (event === "reset") [firstSum, firstUse, secondSum] = [-1, -1, -1];
      else if (event === "added") {
        if (firstUse >= 0) secondSum = secondSum < 0 ? step : secondSum;
        else firstSum = step;
      } else if (event === use) {
        if (secondSum >= 0) {
          firstStaleSum ??= {
            first: firstSum,
            between: firstUse,
            again: secondSum,
            used: use === "updated",
            effect: step,
          };
          break;
        }
        if (firstSum >= 0) firstUse = step;
      }
    }
  }
  return firstStaleSum;
}

const additionsOfTrace = new WeakMap<object, Map<string, Occurrence<"grad_accumulated">[]>>();

/** The gradients that were added to a tensor's `.grad`, in order. */
function additionsTo(facts: RunFacts, uid: string) {
  let byTensor = additionsOfTrace.get(facts.trace);
  if (!byTensor) {
    byTensor = new Map();
    for (const event of facts.events("grad_accumulated")) addToList(byTensor, event.tensor, event);
    additionsOfTrace.set(facts.trace, byTensor);
  }
  return byTensor.get(uid) ?? [];
}
