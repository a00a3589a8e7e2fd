/** How a sentence counts the rounds of a loop, and what it calls the parameters and modules of a training. */

import { codeFact, nameTextOfFact, type Fact, type RunFacts } from "../diagnosis.ts";

/** The iteration of the innermost loop around a step, from 0; 0 where there is no loop. */
export function innermostIteration(facts: RunFacts, step: number) {
  return facts.steps[step]?.iter?.at(-1) ?? 0;
}

/** The name of a module as the program can write it: `net[0]` for `net.0`. */
export function modulePath(name: Fact): string {
  return nameTextOfFact(name).replace(/\.(\d+)(?![^.[])/g, "[$1]");
}

/**
 * The outermost module around a parameter that has none of the `others`; the parameter's own uid where no module has
 * it.
 */
export function outermostModuleWithout(
  facts: RunFacts,
  uid: string,
  others: Iterable<string>,
  step: number | null = null,
): string {
  const around = new Set([...others].flatMap((other) => modulesAround(facts, other)));
  const found = modulesAround(facts, uid).findLast(
    (module) => !around.has(module) && isModule(facts, module) && (step === null || facts.index.isAlive(module, step)),
  );
  return found ?? uid;
}

/** Whether an object is a module: what has a mode. */
function isModule(facts: RunFacts, uid: string) {
  return (
    typeof facts.scan.initialFields(uid)?.training === "boolean" ||
    facts.index.objectChanges.some((change) => change.uid === uid && typeof change.fields.training === "boolean")
  );
}

/** The object that has a parameter, and those around it, outwards. */
export function modulesAround(facts: RunFacts, uid: string): string[] {
  const out: string[] = [];
  for (
    let module = facts.index.moduleOfTensor.get(uid);
    module && !out.includes(module);
    module = facts.index.modules.get(module)?.within ?? undefined
  )
    out.push(module);
  return out;
}

/** What a reader calls the module that has a parameter, or the parameter where no module has it. */
export function owningModuleFact(facts: RunFacts, uid: string, step: number): Fact {
  const owner = facts.index.moduleOfTensor.get(uid);
  const name = owner ? facts.nameText(owner, step) : null;
  return name ? codeFact(name) : facts.nameFact(uid, step);
}

/**
 * The norm of several tensors' gradients together after a step; null where the trace does not list all of their
 * elements.
 */
export function gradientNormAt(facts: RunFacts, uids: string[], step: number): number | null {
  let sum = 0;
  for (const uid of uids) {
    const grad = facts.gradOf(uid, step);
    const elements = typeof grad === "string" ? facts.numbersOf(grad, step) : null;
    if (!elements) return null;
    for (const element of elements) sum += element * element;
  }
  return Math.sqrt(sum);
}

/** A number in a sentence, to three digits. */
export function roundedNumber(value: number): string {
  return String(Number(value.toPrecision(3))).replace(/-/g, "−");
}

/** Whether an optimizer steps between any two of some steps that follow each other. */
export function isUpdatedBetween(facts: RunFacts, steps: number[]): boolean {
  const updates = facts.optimizers.flatMap((optimizer) => optimizer.steps);
  return steps.slice(1).every((step, k) => updates.some((at) => at > steps[k] && at < step));
}
