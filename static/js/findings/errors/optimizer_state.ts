/** Where an optimizer refuses a state: the groups of the one that was saved, its own, and what it lacks of a model. */

import { phrase, type Fact, type Facts, type Link, type RunFacts } from "../diagnosis.ts";
import { tensorsOfModule } from "../facts/module_tensors.ts";
import { callArgument, methodCalls, receiver } from "../../syntax/expressions.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import type { Value } from "../../trace/wire.ts";

interface OptimizerStateDifference {
  facts: Facts;
  links: Link<number>[];
}

const KEY = "finding.unexplained_error";

/** How the groups differ; nothing is told where the trace does not show both. */
export function optimizerStateDifference(facts: RunFacts, step: number): OptimizerStateDifference {
  const nothing = { facts: { counts: "", left_out: "" }, links: [] };
  const [call] = methodCalls(facts.syntax(step), "load_state_dict");
  const optimizer = facts.optimizer(call && facts.resolve(receiver(call), step));
  const sizes = call && savedGroupSizes(facts, callArgument(call, "state_dict", 0), step);
  const groups = optimizer ? facts.groupsOf(optimizer.uid, step) : [];
  if (!optimizer || !sizes || !groups.length || groups.some(({ complete }) => !complete)) return nothing;
  const own = groups.map(({ parameters }) => parameters.length);
  const group = sizes.lengths.findIndex((length, k) => length !== own[k]);
  const isCount = own.length !== sizes.lengths.length;
  const [saved, held] = isCount ? [sizes.lengths.length, own.length] : [sizes.lengths[group], own[group]];
  if (saved === held) return nothing;
  const what = isCount ? "groups" : "group";
  const names = { optimizer: facts.nameFact(optimizer.uid, step), saved, held, group };
  const parameters = groups.flatMap((each) => each.parameters);
  const total = sizes.lengths.reduce((sum, length) => sum + length, 0);
  return {
    facts: {
      counts: phrase(`${KEY}.${what}_differ`, names),
      left_out: textOfParametersLeftOut(facts, names.optimizer, parameters, total, step),
    },
    links: [
      [facts.birthStep(sizes.uid), "counted", [sizes.uid], { has: phrase(`${KEY}.${what}_saved`, names) }],
      [optimizer.made, "counted", [optimizer.uid], { has: phrase(`${KEY}.${what}_held`, names) }],
    ],
  };
}

/** How many parameters the groups of a saved state have; null where it is not shown. */
function savedGroupSizes(facts: RunFacts, argument: SyntaxNode | null, step: number) {
  const uid = facts.resolve(argument, step);
  const [state, list] = [
    facts.object(uid, step),
    (key: string, from: typeof state) => entryOfDict(facts, from, key, step),
  ];
  const groups = list("param_groups", state);
  const lengths = (groups?.items ?? []).map(
    (group) => list("params", facts.object(referencedUid(group as Value), step))?.len,
  );
  const isShown = (length: unknown): length is number => typeof length === "number";
  return uid && lengths.length && lengths.length === groups?.len && lengths.every(isShown) ? { uid, lengths } : null;
}

function entryOfDict(facts: RunFacts, object: ReturnType<RunFacts["object"]>, key: string, step: number) {
  const value = object && keyValuePairs(object)?.find(([name]) => name === key)?.[1];
  return facts.object(referencedUid(value), step);
}

/** Of a module with as many parameters as were saved: those that an optimizer does not hold. */
function textOfParametersLeftOut(facts: RunFacts, optimizer: Fact, held: string[], total: number, step: number) {
  for (const uid of facts.index.modules.keys()) {
    if (typeof facts.object(uid, step)?.training !== "boolean") continue;
    const own = tensorsOfModule(facts, uid, step);
    const missing = own.filter((each) => !held.includes(each));
    if (own.length !== total || !missing.length || missing.length + held.length !== total) continue;
    const isFrozen = missing.every((each) => facts.tensor(each, step)?.requires_grad === false);
    return phrase(`${KEY}.${isFrozen ? "left_out_frozen" : "left_out"}`, {
      optimizer,
      module: facts.nameFact(uid, step),
      x: facts.nameFact(missing[0], step),
      n: missing.length,
      total,
    });
  }
  return "";
}
