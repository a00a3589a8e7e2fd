/** How a sentence counts the rounds of a loop, and what it calls the parameters and modules of a training. */

import { codeFact, nameTextOfFact, type Fact, type RunFacts } from "../diagnosis.ts";

/** a loop that a step is in, and its iteration then, from 0 */
interface RunningLoop {
  /** of the function's call, and how many loops are around it there */
  loop: string;
  iteration: number;
}

/** The loops around a step, outermost first; with those that call its function. */
function loopsAround(facts: RunFacts, step: number): RunningLoop[] {
  const { frame, iter } = facts.steps[step] ?? {};
  const own = (iter ?? []).map((iteration, level) => ({ loop: `${frame} ${level}`, iteration }));
  const called = facts.birthStep(frame);
  const isCalled = called < step && facts.steps[called]?.kind === "call" && facts.steps[called].frame !== frame;
  return isCalled ? [...loopsAround(facts, called), ...own] : own;
}

/** The iteration of the innermost loop around a step, from 0; 0 where there is no loop. */
export function innermostIteration(facts: RunFacts, step: number) {
  return loopsAround(facts, step).at(-1)?.iteration ?? 0;
}

/** The loop whose iterations are between two steps; null where they run in the same iteration of all that both have. */
export function loopBetween(facts: RunFacts, earlier: number, later: number): string | null {
  const [before, after] = [loopsAround(facts, earlier), loopsAround(facts, later)];
  const level = after.findIndex(({ loop, iteration }, k) => {
    return before[k]?.loop !== loop || before[k].iteration !== iteration;
  });
  const isOneLoop = level >= 0 && before[level]?.loop === after[level].loop;
  return isOneLoop && before[level].iteration < after[level].iteration ? after[level].loop : null;
}

/** The iteration of a loop at a step in it, from 0; null where the step is outside. */
export function iterationOfLoop(facts: RunFacts, of: string | null, step: number): number | null {
  return loopsAround(facts, step).find(({ loop }) => loop === of)?.iteration ?? null;
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
