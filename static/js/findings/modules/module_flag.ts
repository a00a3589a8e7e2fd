/** `requires_grad` set on a module, which has none: its parameters stay as they were. */

import { diagnosis, gradNameOf, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { referencedUid } from "../../trace/names.ts";
import { modulePath } from "../training/training_facts.ts";
import { pathText } from "../../syntax/expressions.ts";
import { nodesOfKind, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import type { Value } from "../../trace/wire.ts";

export const FINDINGS = [
  diagnosis({
    kind: "module_flag",
    severity: "warning",
    when: ({ trace }) => !statementTrees(trace.program).some(mentionsOwnFlag),
    of: moduleFlags,
    once: ({ uid, value }) => `${uid} ${value}`,
    say: diagnosisOf,
  }),
];

/** Whether a statement mentions `self.requires_grad`, or is unknown. */
function mentionsOwnFlag(tree: SyntaxNode | null): boolean {
  return tree === null || nodesOfKind(tree, "Attribute").some((node) => pathText(node) === "self.requires_grad");
}

/** A module's attribute, set by the program from outside of its class. */
interface ModuleFlag {
  uid: string;
  step: number;
  value: boolean;
}

function moduleFlags({ index }: RunFacts): ModuleFlag[] {
  return index.objectChanges.flatMap(({ uid, step, fields }) => {
    const value = fields.attrs?.requires_grad;
    return typeof value === "boolean" ? [{ uid, step, value }] : [];
  });
}

/** None where the parameters came to be as the attribute says. */
function diagnosisOf(facts: RunFacts, { uid, step, value }: ModuleFlag): Diagnosis | null {
  const params = parametersWithin(facts, uid);
  const last = facts.steps.length;
  const contrary = params.filter((param) => facts.history.valueAt(param, "requires_grad", last) === !value);
  if (!contrary.length || contrary.length < params.length) return null;
  const gradient = facts
    .eventsOfKind("grad_accumulated")
    .find((event) => event.step > step && contrary.includes(event.tensor));
  if (!value && !gradient) return null;
  const module = facts.nameFact(uid, step);
  const x = facts.nameFact(gradient?.tensor ?? contrary[0], gradient?.step ?? step);
  const names = {
    module,
    x,
    grad: gradNameOf(x),
    n: contrary.length,
    name: modulePath(module),
    value_text: value ? "True" : "False",
  };
  return {
    variant: value ? "unfreeze" : undefined,
    cause: step,
    chain: [
      [step, "made", [uid]],
      gradient ? [gradient.step, "gradient", [gradient.tensor, gradient.grad]] : [last - 1, "none", [contrary[0]]],
    ],
    names: [module, x],
    facts: names,
    fixes: [["requires_grad_method", { name: modulePath(module) }]],
  };
}

/** The parameters of a module and of those in it, at the end of the run. */
function parametersWithin(facts: RunFacts, uid: string): string[] {
  const params: string[] = [];
  const attributesOf = new Map<string, Record<string, Value>>();
  for (const { uid: object, fields } of facts.index.objectChanges)
    if (fields.attrs) attributesOf.set(object, fields.attrs);
  const queue = new Set([uid]);
  for (const object of queue)
    for (const value of Object.values(attributesOf.get(object) ?? {})) {
      const part = referencedUid(value);
      if (part?.[0] === "o") queue.add(part);
      else if (part?.[0] === "t" && facts.isParameter(part)) params.push(part);
    }
  return params;
}
