/** Memory of `torch.empty` and its like that an operation reads before anything has written to it. */

import { diagnosis, operationName, type Operation } from "../diagnosis.ts";

export const FINDINGS = [
  diagnosis({
    kind: "uninitialized",
    severity: "warning",
    of: (facts) => facts.eventsOfKind("uninitialized_read"),
    once: ({ tensor, step }, facts) => facts.storageOf(tensor, step),
    say: (facts, { tensor, step }) => {
      const made = facts.birthStep(facts.storageOf(tensor, step));
      const maker = made < 0 ? null : facts.opsAt(made).find(isAllocationOfProgram);
      if (!maker || facts.isInsideBackward(step)) return null;
      return {
        cause: made,
        chain: [
          [made, "made", [tensor]],
          [step, "read", [tensor]],
        ],
        facts: { x: facts.nameFact(tensor, step), read: facts.lineOf(step) },
      };
    },
  }),
];

/** A function of torch that reserves memory for itself knows what it does. */
function isAllocationOfProgram({ name, direct }: Operation) {
  return direct && /^(?:new_)?empty/.test(operationName(name));
}
