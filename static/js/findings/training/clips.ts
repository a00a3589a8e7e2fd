/**
 * Gradients that are clipped at the wrong time: after the optimizer's step has used them, while they are still times a
 * GradScaler's scale (so may be a step's), before backward has made them; and a clip that gets a generator of
 * parameters which had been gone through before, so that it clips nothing.
 */

import { codeFact, diagnosis, nameTextOfFact, type Diagnosis, type Facts, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { gradientNormAt, roundedNumber } from "./training_facts.ts";
import { gradientLedgers, type LedgerEntry, type GradientLedger } from "../account/gradient_ledger.ts";
import { callArgument, callsIn, calleeName } from "../../syntax/expressions.ts";
import { gradScalerByBackward, type GradScalerUse } from "../account/scaled_losses.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import { exhaustedGeneratorSteps } from "./exhausted_parameters.ts";

export const FINDINGS = [
  diagnosis({
    kind: "clip_after_step",
    severity: "warning",
    of: (facts) => groupBy(lateClips(facts), ({ clipped }) => facts.lineOf(clipped.step)),
    /** What one line clips. */
    say: (facts, clips) => {
      const [{ added, used, clipped, dropped }] = clips;
      const uids = clips.filter((clip) => clip.clipped.step === clipped.step).map(({ uid }) => uid);
      const [before, after] = [clipped.step - 1, clipped.step].map((step) => gradientNormAt(facts, uids, step));
      const isMeasured = before !== null && after !== null;
      const norms: Facts = isMeasured ? { before: roundedNumber(before), after: roundedNumber(after) } : {};
      const optimizer = facts.nameFact(used.by, used.step);
      return {
        variant: isMeasured ? "measured" : undefined,
        cause: clipped.step,
        chain: [
          [added.step, "gradient", uids],
          [used.step, "used", [used.by]],
          [clipped.step, "written", uids],
          dropped && [dropped.step, "released", uids],
        ],
        names: [optimizer, facts.nameFact(uids[0], clipped.step)],
        facts: {
          optimizer,
          step_code: facts.statementFact(used.step),
          step: facts.place(used.step).line,
          ...norms,
        },
        fixes: [["move_before", { to: facts.place(used.step).line }]],
      };
    },
  }),
  diagnosis({
    kind: "clip_while_scaled",
    severity: "warning",
    of: (facts) => groupBy(takenWhileScaled(facts), ({ taken }) => `${taken.kind} ${facts.lineOf(taken.step)}`),
    say: (facts, gradients) => {
      const [{ added, taken, unscaled, scaler }] = gradients;
      const uids = gradients.filter((gradient) => gradient.taken.step === taken.step).map(({ uid }) => uid);
      const isClip = taken.kind === "clipped";
      const optimizer = facts.optimizers.find(({ uid, made }) =>
        facts.parametersOf(uid, Math.max(made, taken.step)).includes(uids[0]),
      );
      const scalerName = facts.nameFact(scaler.uid, taken.step);
      const optimizerName = facts.nameFact(optimizer?.uid ?? null, taken.step);
      const [before, after] = [taken.step - 1, taken.step].map((step) => gradientNormAt(facts, uids, step));
      const isMeasured = isClip && before !== null && after !== null;
      const norms: Facts = isMeasured
        ? { before: roundedNumber(before), limit: roundedNumber(after), after: roundedNumber(after / scaler.value) }
        : {};
      const [name, optimizer_name] = [scalerName, optimizerName].map(nameTextOfFact);
      return {
        variant: isClip ? (isMeasured ? "measured" : undefined) : "step",
        cause: taken.step,
        chain: [
          [added.step, "gradient", uids],
          [taken.step, isClip ? "written" : "used", uids],
          unscaled && [unscaled.step, "released", uids],
        ],
        names: [scalerName, optimizerName],
        facts: {
          scaler: scalerName,
          optimizer: optimizerName,
          scale: roundedNumber(scaler.value),
          name,
          optimizer_name,
          ...norms,
        },
        fixes: [[isClip ? "unscale_first" : "scaler_step", { name, optimizer: optimizer_name }]],
      };
    },
  }),
  diagnosis({
    kind: "clip_without_gradient",
    severity: "warning",
    when: ({ ranToItsEnd }) => ranToItsEnd,
    of: (facts) => groupBy(clipSteps(facts), ({ stmt }) => stmt),
    /** Null where the statement that clips ever met a gradient, or none came and was used afterwards. */
    say: (facts, clips) => {
      const steps = clips.map(({ step }) => step);
      const ledgers = gradientLedgers(facts);
      if (ledgers.some(({ entries }) => entries.some(({ kind }) => kind === "clipped"))) return null;
      if (steps.some((step) => ledgers.some(({ uid }) => facts.gradOf(uid, step)))) return null;
      const [clip] = steps;
      const entries = ledgers.flatMap((ledger) => ledger.entries.map((entry) => ({ ...entry, uid: ledger.uid })));
      const after = entries.filter(({ step }) => step > clip).sort((a, b) => a.step - b.step);
      const added = after.find(({ kind }) => kind === "added");
      const used = added && after.find(({ kind, step }) => kind === "used" && step > added.step);
      if (!added || !used || (steps[1] ?? Infinity) < used.step) return null;
      const backward = facts.backwardAt(added.step)?.step ?? added.step;
      const optimizer = facts.nameFact(used.by, used.step);
      const names = { optimizer, code: facts.statementFact(clip), backward: facts.place(backward).line };
      return {
        cause: clip,
        chain: [
          [clip, "none"],
          [backward, "gradient", [added.uid]],
          [used.step, "used", [used.by]],
        ],
        names: [optimizer],
        facts: { ...names, backward_code: facts.statementFact(backward), step: facts.place(used.step).line },
        fixes: [["move_after", { to: facts.place(backward).line }]],
      };
    },
  }),
  diagnosis({
    kind: "clip_without_gradient",
    severity: "warning",
    of: clipSteps,
    once: ({ stmt }) => stmt,
    say: (facts, { step, found }) => clipOfUsedUp(facts, step, callArgument(found, "parameters", 0)),
  }),
];

/** a gradient's life in which it was clipped too late; dropped: null where the run ended first */
interface LateClip {
  uid: string;
  added: LedgerEntry;
  used: LedgerEntry;
  clipped: LedgerEntry;
  dropped: LedgerEntry | null;
}

function lateClips(facts: RunFacts): LateClip[] {
  return gradientLedgers(facts).flatMap(
    (ledger) => lateClipsOf(ledger).find(({ uid, clipped }) => changedNumbers(facts, uid, clipped.step)) ?? [],
  );
}

/** None where a clip came in time even once, or where gradients add up: what was clipped is then used after all. */
function lateClipsOf({ uid, entries }: GradientLedger): LateClip[] {
  const out: LateClip[] = [];
  let [added, used, late]: [LedgerEntry | null, LedgerEntry | null, LateClip | null] = [null, null, null];
  for (const entry of entries) {
    if (entry.kind === "added") {
      if (late) return [];
      [added, used] = [entry, null];
    } else if (entry.kind === "used") {
      [used, late] = [entry, null];
    } else if (entry.kind === "clipped") {
      if (added && !used) return [];
      if (added && used) late = { uid, added, used, clipped: entry, dropped: null };
    } else if (entry.kind === "reset" || entry.kind === "unseen") {
      if (late && entry.kind === "reset") out.push({ ...late, dropped: entry });
      [added, used, late] = [null, null, null];
    }
  }
  if (late) out.push(late);
  return out;
}

function changedNumbers(facts: RunFacts, uid: string, step: number) {
  const grad = facts.gradOf(uid, step);
  return facts.writesOf(facts.tensor(grad, step)?.storage).some((write) => write.step === step);
}

/** a gradient that a scaled loss gave, and what was done with it before it was divided again */
interface ScaledGradient {
  uid: string;
  added: LedgerEntry;
  /** clipped or used */
  taken: LedgerEntry;
  unscaled: LedgerEntry | null;
  scaler: GradScalerUse;
}

function takenWhileScaled(facts: RunFacts): ScaledGradient[] {
  const calls = gradScalerByBackward(facts);
  return calls.size
    ? gradientLedgers(facts).flatMap(({ uid, entries }) => firstTakenWhileScaled(uid, entries, calls) ?? [])
    : [];
}

function firstTakenWhileScaled(
  uid: string,
  entries: LedgerEntry[],
  scaledCalls: Map<string, GradScalerUse>,
): ScaledGradient | null {
  let added: LedgerEntry | null = null;
  for (const [k, entry] of entries.entries()) {
    if (entry.kind === "added") added = scaledCalls.has(entry.by) ? entry : null;
    else if (["reset", "unscaled", "unseen", "rewritten", "read"].includes(entry.kind)) added = null;
    const scaler = added && scaledCalls.get(added.by);
    if (added && scaler && (entry.kind === "clipped" || entry.kind === "used")) {
      const next = entries.slice(k + 1).find(({ kind }) => kind !== "clipped");
      return { uid, added, taken: entry, unscaled: next?.kind === "unscaled" ? next : null, scaler };
    }
  }
  return null;
}

const CLIP_FUNCTIONS = new Set(["clip_grad_norm_", "clip_grad_value_"]);

/** The steps that clip gradients, with the call that does. */
function clipSteps(facts: RunFacts): { step: number; stmt: number; found: SyntaxNode }[] {
  const clips = (tree: SyntaxNode) => callsIn(tree).filter((call) => CLIP_FUNCTIONS.has(calleeName(call)));
  return facts.findInStatements((tree) => clips(tree).slice(0, 1)).filter(({ step }) => !facts.steps[step].skipped);
}

/** None where the clip took a gradient, or there was none that a step then used. */
function clipOfUsedUp(facts: RunFacts, clip: number, clipped: SyntaxNode | null): Diagnosis | null {
  const grads = facts.gradientTensors;
  if (clipped?.kind !== "Name" || facts.opsAt(clip).some(({ inputs }) => inputs.some((uid) => grads.has(uid))))
    return null;
  const name = String(clipped.value);
  const generator = exhaustedGeneratorSteps(facts, name, clip);
  const next = nextUpdate(facts, clip);
  if (!generator || !next) return null;
  const { made, used } = generator;
  const x = codeFact(name);
  const names = {
    x,
    optimizer: facts.nameFact(next.optimizer, next.step),
    made: facts.place(made).line,
    read: facts.place(used).line,
    reader: facts.statementFact(used),
    step: facts.place(next.step).line,
  };
  return {
    variant: "used_up",
    cause: clip,
    chain: [
      [made, "made"],
      [used, "read", [], { code: names.reader }],
      [clip, "none"],
      [next.step, "used", [next.optimizer]],
    ],
    names: [x, codeFact("parameters")],
    facts: names,
    fixes: [["list_parameters", {}, made]],
  };
}

/** The next step of an optimizer with gradients in what it holds. */
function nextUpdate(facts: RunFacts, clip: number): { optimizer: string; step: number } | null {
  for (const { uid: optimizer, steps } of facts.optimizers) {
    const step = steps.find((other) => other > clip);
    if (step === undefined) continue;
    if (facts.parametersOf(optimizer, step).some((param) => facts.gradOf(param, clip))) return { optimizer, step };
  }
  return null;
}
