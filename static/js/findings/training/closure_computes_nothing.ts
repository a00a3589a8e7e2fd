/** An optimizer that calls a closure several times, which gives it the old gradients each time. */

import { codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import type { Optimizer } from "../facts/optimizers.ts";
import { referencedUid } from "../../trace/names.ts";
import { stepBeforeStatement } from "../../trace/steps/backward_statement.ts";

export const FINDINGS = [
  diagnosis({
    kind: "closure_computes_nothing",
    severity: "warning",
    of: (facts) => facts.optimizers.filter(({ uid, made }) => facts.object(uid, made)?.type === "LBFGS"),
    say: (facts, optimizer) => {
      const said = optimizer.steps.map((step) => oldGradients(facts, optimizer.uid, step));
      return said.includes(null) ? null : said[0];
    },
  }),
];

const MIN_CALLS = 2;

/** Null where a step calls its closure once, or a gradient of what it moves changes meanwhile. */
function oldGradients(facts: RunFacts, uid: Optimizer["uid"], step: number): Diagnosis | null {
  const before = stepBeforeStatement(facts.steps, step);
  const { frame, depth } = facts.steps[step];
  const inside = facts.steps.slice(before + 1, step);
  const calls = inside.filter((each) => each.kind === "return" && each.depth === depth + 1);
  const [first] = calls;
  if (calls.length < MIN_CALLS || calls.some(({ stmt }) => stmt !== first.stmt)) return null;
  const closure = facts.scan.initialFields(first.frame);
  if (!closure || closure.caller !== frame || inside.some(({ visit }) => visit)) return null;
  const parameters = facts.parametersOf(uid, step);
  const withGradient = parameters.find((parameter) => facts.gradOf(parameter, before));
  if (!withGradient || parameters.some((parameter) => hasGradientChanged(facts, parameter, before, step))) return null;
  const computes = inside.some(({ i, depth: of }) => of > depth && facts.opsAt(i).length);
  const last = facts.gradientsTo(withGradient).findLast((event) => event.step <= before);
  const optimizer = facts.nameFact(uid, step);
  return {
    variant: computes ? "forward" : undefined,
    cause: first.i,
    chain: [
      last && [facts.backwardAt(last.step) ?? last.step, "gradient", [withGradient]],
      [first.i, "none", [referencedUid(first.value ?? null)]],
      [step, "used", [uid]],
    ],
    names: [optimizer],
    facts: {
      optimizer,
      x: facts.nameFact(withGradient, step),
      closure: codeFact(String(closure.name)),
      n: calls.length,
      used: facts.lineOf(step),
    },
  };
}

/** Whether a gradient is another after a step than before, or was written meanwhile. */
function hasGradientChanged(facts: RunFacts, parameter: string, before: number, step: number) {
  const grad = facts.gradOf(parameter, before);
  const changes = facts.history.fieldChanges(parameter, "grad");
  return (
    changes.some((change) => change.step > before && change.step <= step) ||
    (grad && facts.writesTo(grad, before).some((write) => write.step > before && write.step <= step))
  );
}
