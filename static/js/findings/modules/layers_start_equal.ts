/** Parameters that are equal bit for bit when training begins, as one was copied from the other. */

import { codeFact, diagnosis, type Fact, type RunFacts } from "../diagnosis.ts";
import { modulePathAt } from "../../trace/module_calls.ts";
import { referencedUid } from "../../trace/names.ts";
import { addToList } from "../../trace/multimap.ts";
import { stepBeforeStatement } from "../../trace/steps/backward_statement.ts";
import type { Optimizer } from "../facts/optimizers.ts";

export const FINDINGS = [
  diagnosis({
    kind: "layers_start_equal",
    severity: "note",
    of: equalParameters,
    once: ({ copied }, facts) => facts.lineOf(copied),
    say: (facts, { uids, copied, used }) => {
      const [x, y] = uids.map((uid) => nameInModule(facts, uid, used));
      return {
        cause: copied,
        chain: [
          [copied, "made", [uids[1]]],
          [used, "used", uids],
        ],
        facts: { x, y, n: uids.length, step: facts.lineOf(used) },
        concerns: uids,
      };
    },
  }),
];

/** Matrices of so many elements are not equal by chance. */
const MIN_ELEMENTS = 4;

interface EqualParameters {
  uids: string[];
  /** the step that made the second of them, and the optimizer's first step */
  copied: number;
  used: number;
}

function equalParameters(facts: RunFacts): EqualParameters[] {
  return facts.optimizers.flatMap((optimizer) => equalParametersOfOptimizer(facts, optimizer));
}

/** The equal ones of an optimizer's matrices before its first step, those of one statement together. */
function equalParametersOfOptimizer(facts: RunFacts, { uid: optimizer, steps }: Optimizer): EqualParameters[] {
  const [used] = steps;
  if (used === undefined) return [];
  const before = stepBeforeStatement(facts.steps, used);
  const byShape = new Map<string, string[]>();
  for (const uid of new Set(facts.parametersOf(optimizer, used))) {
    const { shape = [], dtype } = facts.tensor(uid, before) ?? {};
    if (shape && shape.length > 1) addToList(byShape, `${dtype} ${shape}`, uid);
  }
  const byNumbers = new Map<string, string[]>();
  for (const [shape, uids] of byShape)
    for (const uid of uids.length > 1 ? uids : []) {
      const numbers = facts.numbersOf(uid, before);
      if (!numbers || numbers.length < MIN_ELEMENTS || new Set(numbers).size < MIN_ELEMENTS) continue;
      addToList(byNumbers, `${shape} ${numbers}`, uid);
    }
  const copies = new Map<number, string[]>();
  for (const uids of byNumbers.values()) {
    const inOrder = facts.index.sortUidsByAppearance(uids);
    if (uids.length < 2 || inOrder.slice(1).some((uid) => !isCopiedOnly(facts, uid, used))) continue;
    const copied = facts.birthStep(inOrder[1]);
    copies.set(copied, [...(copies.get(copied) ?? []), ...inOrder]);
  }
  return [...copies].map(([copied, uids]) => ({ uids, copied, used }));
}

/** Whether a parameter has its numbers since it was made, and not by a draw of its own. */
function isCopiedOnly(facts: RunFacts, uid: string, before: number): boolean {
  const birth = facts.birthStep(uid);
  if (facts.opsAt(birth).some(({ inputs, outputs }) => inputs.includes(uid) && outputs.includes(uid))) return false;
  const storages = facts.history.fieldChanges(uid, "storage");
  return storages.every(
    ({ step, value }) =>
      step <= birth &&
      !facts.writesOf(value as string | null).some((write) => write.step > birth && write.step < before),
  );
}

/** What modules call a parameter, `encoder.layers.0.linear1.weight`; else any name. */
function nameInModule(facts: RunFacts, uid: string, step: number): Fact {
  const owner = facts.index.moduleOfTensor.get(uid);
  const path = owner ? modulePathAt(facts.opened, owner, step) : null;
  const attributes = Object.entries(facts.object(owner, step)?.attrs ?? {});
  const attribute = attributes.find(([, value]) => referencedUid(value) === uid)?.[0];
  return path && attribute ? codeFact(`${path}.${attribute}`) : facts.nameFact(uid, step);
}
