/** Backwards whose gradients a reset dropped before anything used them: micro batches that are emptied one by one. */

import { diagnosis, gradNameOf, type BackwardCall, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { innermostIteration } from "./training_facts.ts";
import { gradientLedgers, type LedgerEntry } from "../account/gradient_ledger.ts";

export const FINDINGS = [
  diagnosis({
    kind: "gradients_dropped",
    severity: "warning",
    lookedFor: "optimizers",
    of: (facts) => groupBy(fatesOfBackwards(facts), ({ call }) => call.stmt),
    say: (facts, fates) => diagnosisOf(facts, fates) ?? restDiagnosis(facts, fates),
  }),
];

/** what became of all that one backward added; open: nothing yet, or it is not known */
interface BackwardFate {
  call: BackwardCall;
  fate: "used" | "dropped" | "open";
  /** of the first tensor that it reached */
  uid: string;
  end: LedgerEntry | null;
}

/** Backwards one after the other with one fate at one step. */
interface FateGroup {
  fates: BackwardFate[];
  end: number;
}

function groupsOfFates(fates: BackwardFate[]): FateGroup[] {
  const groups: FateGroup[] = [];
  for (const fate of fates) {
    const last = groups.at(-1);
    const end = fate.end?.step ?? -1;
    if (last?.end === end && last.fates[0].fate === fate.fate) last.fates.push(fate);
    else groups.push({ fates: [fate], end });
  }
  return groups;
}

/** Where micro batches add up by so many, and what is left over at the end of each epoch is reset unused. */
function restDiagnosis(facts: RunFacts, fates: BackwardFate[]): Diagnosis | null {
  if (!facts.ranToItsEnd || facts.steps.some(({ skipped }) => skipped)) return null;
  const groups = groupsOfFates(fates);
  const [used, dropped] = ["used", "dropped"].map((fate) => groups.filter((group) => group.fates[0].fate === fate));
  const size = used[0]?.fates.length ?? 0;
  const rest = dropped[0]?.fates.length ?? 0;
  if (size < 2 || used.some((group) => group.fates.length !== size) || dropped.length < 2 || rest >= size) return null;
  if (dropped.some((group) => group.fates.length !== rest)) return null;
  if (new Set(dropped.map(({ end }) => facts.steps[end].stmt)).size !== 1) return null;
  const [{ call, uid }] = dropped[0].fates;
  const [{ end: useStep }] = used;
  const resetStep = dropped[0].end;
  const x = facts.nameFact(uid, call.end);
  const names = {
    x,
    n: rest,
    size,
    backward: facts.placeOfBackward(call).line,
    step: facts.place(useStep).line,
  };
  return {
    variant: "rest",
    severity: "note",
    cause: resetStep,
    chain: [
      [useStep, "used", [uid]],
      [call, "gradient", [uid]],
      [resetStep, "released", [uid]],
    ],
    facts: names,
  };
}

/** Of each backward that filled a `.grad`, in order. */
function fatesOfBackwards(facts: RunFacts): BackwardFate[] {
  const fates = new Map<string, BackwardFate>();
  const calls = new Map(facts.backwardCalls.map((call) => [call.uid, call]));
  for (const { uid, entries } of gradientLedgers(facts))
    for (const [k, entry] of entries.entries()) {
      const call = entry.kind === "added" ? calls.get(entry.by) : undefined;
      if (!call) continue;
      const end = entries.slice(k + 1).find(({ kind }) => kind !== "added" && kind !== "clipped") ?? null;
      const fate = !end || end.kind === "unseen" ? "open" : end.kind === "reset" ? "dropped" : "used";
      const known = fates.get(call.uid);
      if (!known) fates.set(call.uid, { call, fate, uid, end });
      else if (known.fate === "dropped" || fate === "used") fates.set(call.uid, { ...known, fate });
    }
  return [...fates.values()].sort((a, b) => a.call.step - b.call.step);
}

/**
 * Where about as many backwards of one statement are dropped as used, or more, by the same reset: one of a batch that
 * is skipped now and then is dropped on purpose.
 */
function diagnosisOf(facts: RunFacts, fates: BackwardFate[]): Diagnosis | null {
  const dropped = fates.filter(({ fate }) => fate === "dropped");
  const used = fates.filter(({ fate }) => fate === "used");
  if (dropped.length < 2 || dropped.length < used.length || !facts.ranToItsEnd) return null;
  if (!dropped.every((fate) => hasFiniteLoss(facts, fate))) return null;
  const ends = new Set(dropped.map(({ end }) => facts.steps[end?.step ?? 0].stmt));
  const optimizer = facts.optimizers.find(({ uid, stepped }) =>
    stepped.some(({ step }) => facts.parametersOf(uid, step).includes(dropped[0].uid)),
  );
  if (ends.size !== 1 || !optimizer) return null;
  const variant = used.length ? undefined : "before_step";
  const [{ call, uid, end }] = dropped;
  const step = optimizer.stepped.find((stepped) => stepped.step > call.end) ?? optimizer.stepped[0];
  const resetStep = end?.step ?? call.step;
  const resetPlace = facts.place(resetStep);
  if (variant && !isResetBeforeStep(facts, call, end, step.step)) return null;
  const x = facts.nameFact(uid, call.end);
  const optimizerName = facts.nameFact(optimizer.uid, step.step);
  const isOneLine = facts.place(step.step).line === resetPlace.line;
  return {
    variant,
    cause: resetPlace,
    chain: [
      [call, "gradient", [uid], { grad: gradNameOf(x), iteration: innermostIteration(facts, call.step) }],
      [
        resetPlace,
        "released",
        [uid],
        { iteration: innermostIteration(facts, resetStep), code: facts.statementFact(resetStep) },
      ],
      [step.step, "used", [optimizer.uid], { iteration: innermostIteration(facts, step.step), x: optimizerName }],
    ],
    names: [x, optimizerName],
    facts: {
      x,
      optimizer: optimizerName,
      dropped: dropped.length,
      total: dropped.length + used.length,
      code: facts.statementFact(resetStep),
      step: facts.place(step.step).line,
    },
    fixes: isOneLine ? [] : [["zero_grad_later", { to: facts.place(step.step).line }]],
  };
}

/**
 * Whether a reset comes between backward and the next step of any optimizer. Of one that leaves None `grad_none`
 * speaks, but where a step comes before the first backward: what it lacks was not reset.
 */
function isResetBeforeStep(facts: RunFacts, call: BackwardCall, end: LedgerEntry | null, step: number) {
  const next = facts.eventsOfKind("optimizer_stepped").find((event) => event.step > call.end);
  const isStepFirst = facts.eventsOfKind("optimizer_stepped").some((event) => event.step < facts.backwardCalls[0].step);
  return end !== null && (end.at !== Infinity || isStepFirst) && next?.step === step && end.step < step;
}

function hasFiniteLoss(facts: RunFacts, { call }: BackwardFate) {
  const elements = call.roots.flatMap((root) => (root && facts.numbersOf(root, call.step)) || []);
  return elements.every(Number.isFinite);
}
