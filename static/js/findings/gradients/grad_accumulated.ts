/** A second backward into a `.grad` that was not reset, where what was added up is used again. */

import { diagnosis, gradNameOf, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { stepsReadingGrad } from "../statements/grad_readings.ts";
import { gradientLedgerOf } from "../account/gradient_ledger.ts";

export const FINDINGS = [
  diagnosis({
    kind: "grad_accumulated",
    severity: "warning",
    of: (facts) => groupBy(staleSums(facts), ({ again, used, other }) => `${facts.steps[again].line} ${used} ${other}`),
    /** The sums are of one line; the first is told. */
    say: (facts, sums) => {
      const [{ uid, first, between, again, used, effect, other }] = sums;
      const names = sums.slice(0, MAX_NAMED_TENSORS).map((sum) => facts.nameFact(sum.uid, sum.again));
      const role = used ? "written" : "read";
      const isLoop = facts.steps[first].stmt === facts.steps[again].stmt;
      return {
        variant: other ? "of_another" : `${used ? "used" : "read"}${isLoop ? "_loop" : ""}`,
        severity: used ? "warning" : "note",
        cause: again,
        chain: [
          [first, "gradient", [uid, facts.gradOf(uid, first)]],
          other ? [between, "used", [other]] : [between, role, [uid]],
          [again, "gradient", [uid, facts.gradOf(uid, again)]],
          [effect, role, [uid]],
        ],
        names,
        facts: {
          x: names[0],
          grad: gradNameOf(names[0]),
          grads: names.map(gradNameOf),
          first: facts.steps[first].line,
          effect: facts.steps[effect].line,
          optimizer: facts.nameFact(other, between),
          between: facts.steps[between].line,
        },
        // where two losses take turns, cleared before the one it is the other that adds to what is left
        fixes:
          used && !other
            ? [
                ["zero_grad", { to: facts.lineOf(between) }],
                ["zero_grad", {}, first],
              ]
            : [["zero_grad"]],
      };
    },
  }),
];

/** of a tensor's life: a gradient added to its `.grad`, its own numbers written, its `.grad` emptied, its `.grad`
 * read */
interface GradEvent {
  step: number;
  event: "added" | "updated" | "reset" | "read";
}

const MAX_NAMED_TENSORS = 8;

/** steps: the first sum, what was done with it, the second sum, what is done with that */
interface StaleGradSum {
  uid: string;
  first: number;
  between: number;
  again: number;
  /** it updates the tensor */
  used: boolean;
  effect: number;
  /** the optimizer that stepped in between, whose loss the first sum is of */
  other?: string;
}

function staleSums(facts: RunFacts): StaleGradSum[] {
  const laterAdditions = facts.eventsOfKind("grad_accumulated").filter(({ first }) => !first);
  const tensors = [...new Set(laterAdditions.map(({ tensor }) => tensor))];
  const skippedResets = tensors.length ? possibleUnrecordedResets(facts) : [];
  return tensors.flatMap((uid) => {
    const events = gradEvents(facts, uid, skippedResets);
    return findStaleGradSum(uid, events) ?? sumWithOtherLoss(facts, uid, events) ?? [];
  });
}

/** Steps before which iterations of a loop were not recorded: a reset may lie among them. */
function possibleUnrecordedResets({ steps }: RunFacts): GradEvent[] {
  return steps.flatMap(({ skipped }, step) => (skipped ? [{ step, event: "reset" }] : []));
}

/** What became of a tensor and its `.grad`, in order. */
function gradEvents(facts: RunFacts, uid: string, skippedResets: GradEvent[]): GradEvent[] {
  const history = facts.history;
  const moments: GradEvent[] = [
    ...skippedResets,
    ...facts.gradientsTo(uid).map(({ step }): GradEvent => ({ step, event: "added" })),
  ];
  for (const { kind, step } of gradientLedgerOf(facts, uid)?.entries ?? [])
    if (kind === "reset") moments.push({ step, event: "reset" });
  const clips = stepsClippingGrad(facts, uid);
  const grads = new Set(history.fieldChanges(uid, "grad").map(({ value }) => value));
  for (const grad of grads) {
    const storage = history.valueAt(String(grad), "storage", facts.steps.length);
    for (const { step } of facts.writesOf(storage as string | null))
      if (!facts.steps[step].visit && !clips.has(step)) moments.push({ step, event: "reset" });
  }
  const storageUid = facts.storageOf(uid, facts.steps.length);
  for (const { step } of facts.writesOf(storageUid))
    if (mayUseGradient(facts, uid, step)) moments.push({ step, event: "updated" });
  for (const step of stepsReadingGrad(facts, uid)) moments.push({ step, event: "read" });
  return moments.sort((a, b) => a.step - b.step);
}

/**
 * Whether a write of a tensor's numbers may have come from its gradient: an optimizer's step, operations on what was
 * computed from the gradient, or a write that no operation made. The average that a target follows is none.
 */
function mayUseGradient(facts: RunFacts, uid: string, step: number) {
  if (facts.eventsOfKind("optimizer_stepped").some((event) => event.step === step)) return true;
  const storage = facts.tensor(uid, step)?.storage;
  const writers = facts
    .opsAt(step)
    .filter(({ outputs }) => outputs.some((output) => storage && facts.handle(output, step)?.storage === storage));
  if (!writers.length || stepsReadingGrad(facts, uid).includes(step)) return true;
  const grads = new Set(facts.history.fieldChanges(uid, "grad").flatMap(({ value }) => (value ? [String(value)] : [])));
  const flow = facts.dataflow;
  const sources = new Set(writers.flatMap(({ inputs }) => inputs));
  for (const source of sources)
    for (const { from } of flow.edgesInto.get(source) ?? []) if (source !== uid) sources.add(from);
  return [...sources].some((source) => grads.has(source));
}

/** The steps that clip a tensor's gradient, which leave the sum in it. */
function stepsClippingGrad(facts: RunFacts, uid: string) {
  const entries = gradientLedgerOf(facts, uid)?.entries ?? [];
  return new Set(entries.flatMap(({ kind, step }) => (kind === "clipped" || kind === "unscaled" ? [step] : [])));
}

/** The first time that a sum was used, added to without a reset, and used again. That alone tells it from gradients
 * that are added up on purpose, and from those of another loss that are thrown away. */
function findStaleGradSum(uid: string, moments: GradEvent[]): StaleGradSum | null {
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
            uid,
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

/**
 * What another optimizer's loss left in the `.grad` of a tensor that its graph goes through, as a generator's does
 * through the discriminator, and that the tensor's own loss is added to.
 */
function sumWithOtherLoss(facts: RunFacts, uid: string, moments: GradEvent[]): StaleGradSum | null {
  for (const [k, { step: again, event }] of moments.entries()) {
    const first = moments[k - 1];
    const effect = moments[k + 1];
    if (event !== "added" || first?.event !== "added" || effect?.event !== "updated") continue;
    const [before, after] = [facts.backwardAt(first.step), facts.backwardAt(again)];
    if (!before || !after || before === after) continue;
    for (const optimizer of facts.optimizers) {
      const between = optimizer.steps.find((step) => step > before.end && step < after.step);
      const held = between === undefined ? [] : facts.parametersOf(optimizer.uid, between);
      if (between === undefined || held.includes(uid)) continue;
      const owns = held.filter((parameter) =>
        facts.gradientsTo(parameter).some(({ step }) => step >= before.step && step <= before.end),
      );
      if (owns.some((parameter) => goesThrough(facts, parameter, uid, before.step)))
        return { uid, first: first.step, between, again, used: true, effect: effect.step, other: optimizer.uid };
    }
  }
  return null;
}

/** Whether what was computed from one parameter met another before a step. */
function goesThrough(facts: RunFacts, from: string, uid: string, before: number): boolean {
  const flow = facts.dataflow;
  const views = new Set([uid]);
  for (const view of views)
    for (const { to, step, op } of flow.edgesOutOf.get(view) ?? []) {
      if (step > before || !op) continue;
      if (op.inputs.length === 1) views.add(to);
      else if (
        flow.shortestPath(
          from,
          op.inputs.filter((input) => !views.has(input)),
          step,
        )
      )
        return true;
    }
  return false;
}
