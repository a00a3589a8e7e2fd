/** A loop that hangs up one hook more on the same module or tensor in every round and takes none down. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { addToList } from "../../trace/multimap.ts";
import { mayCallMethod } from "../../syntax/statements.ts";
import { nodesOfKind, statementTrees } from "../../syntax/tree.ts";
import { hookRegistrations } from "./hook_registration.ts";

export const FINDINGS = [
  diagnosis({
    kind: "hooks_pile_up",
    severity: "warning",
    when: (facts) => !mayTakeDown(facts),
    of: registrationsByOwner,
    once: ([{ step }], facts) => facts.lineOf(step),
    /** Null where the hooks are not all on one thing that is called or reached by a backward after the last of them. */
    say: (facts, all) => {
      if (all.length < MIN_REGISTRATIONS) return null;
      const [{ owner }, second] = all;
      const last = all[all.length - 1];
      const useAfter = (step: number) => stepsThatUse(facts, owner).find((use) => use > step);
      const used = useAfter(last.step);
      if (used === undefined || !all.every(({ step }, k) => !k || (useAfter(all[k - 1].step) ?? Infinity) < step))
        return null;
      const x = facts.nameFact(owner, last.step);
      return {
        cause: second.step,
        chain: [
          [all[0].step, "hooked", [owner]],
          [last.step, "hooked", [owner]],
          [used, "used", [owner]],
        ],
        facts: { x, n: all.length },
      };
    },
  }),
];

const MIN_REGISTRATIONS = 3;

interface HookRegistration {
  step: number;
  owner: string;
}

/** What each statement hangs up on each thing, in order. */
function registrationsByOwner(facts: RunFacts): HookRegistration[][] {
  const registrations = new Map<string, HookRegistration[]>();
  for (const { step, stmt, found } of facts.findInStatements((tree) => hookRegistrations(tree))) {
    const owner = facts.resolve(found.object, step);
    if (owner) addToList(registrations, `${stmt} ${owner}`, { step, owner });
  }
  return [...registrations.values()];
}

/** Whether any statement of the program removes a handle, or uses one as a context, or may do so. */
function mayTakeDown(facts: RunFacts): boolean {
  const { program } = facts.trace;
  if (mayCallMethod(program, "remove") || mayCallMethod(program, "clear")) return true;
  return statementTrees(program).some(
    (tree) =>
      tree &&
      ((["With", "AsyncWith"].includes(tree.kind) && hookRegistrations(tree).length > 0) ||
        nodesOfKind(tree, "Attribute").some(({ value }) => /^_(?:forward|backward)\w*_hooks$/.test(String(value)))),
  );
}

/** The steps at which a module is called; of a tensor those at which a gradient reaches it. */
function stepsThatUse(facts: RunFacts, owner: string): number[] {
  return owner[0] === "t"
    ? facts.eventsOfKind("grad_accumulated").flatMap(({ tensor, step }) => (tensor === owner ? [step] : []))
    : facts.eventsOfKind("module_called").flatMap(({ module, step }) => (module === owner ? [step] : []));
}
