/** Memory of `torch.empty` and its like that an operation reads before anything has written to it. */

import { diagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";

export const FINDINGS = [
  diagnosis({
    kind: "uninitialized",
    severity: "warning",
    of: (facts) => facts.eventsOfKind("uninitialized_read"),
    once: ({ tensor, step }, facts) => facts.storageOf(tensor, step),
    say: (facts, { tensor, step }) => {
      const source = sourceOfCopies(facts, tensor, step);
      const made = facts.birthStep(facts.storageOf(source, step));
      const maker = made < 0 ? null : facts.opsAt(made).find(isAllocationOfProgram);
      if (!maker || facts.isInsideBackward(step) || !isReadByOperation(facts, tensor, step)) return null;
      return {
        cause: made,
        chain: [
          [made, "made", [source]],
          [step, "read", [tensor]],
        ],
        facts: { x: facts.nameFact(source, step), read: facts.lineOf(step) },
      };
    },
  }),
];

const COPYING_OPERATION = /^(?:_to_copy|to|type_as|clone|contiguous)$/;

/** What a tensor is a copy of, of another dtype or of the same; itself where it is none. */
function sourceOfCopies(facts: RunFacts, uid: string, step: number): string {
  let source = uid;
  for (let op = facts.producingOperation(source); op; op = facts.producingOperation(source)) {
    if (!COPYING_OPERATION.test(operationName(op.name)) || !facts.storageOf(op.inputs[0], step)) break;
    source = op.inputs[0];
  }
  return source;
}

/** Whether an operation of the step reads a tensor's memory; the text of a tensor does, too, and computes nothing. */
function isReadByOperation(facts: RunFacts, tensor: string, step: number) {
  const storage = facts.storageOf(tensor, step);
  return facts.opsAt(step).some(({ inputs }) => inputs.some((uid) => facts.storageOf(uid, step) === storage));
}

/** A function of torch that reserves memory for itself knows what it does. */
function isAllocationOfProgram({ name, direct }: Operation) {
  return direct && /^(?:new_)?empty/.test(operationName(name));
}
