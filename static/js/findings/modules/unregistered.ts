/**
 * Parameters that a module holds and does not know: in a plain list or dict, or as a tensor that is no `nn.Parameter`.
 */

import { codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { findEntity, type EntityLookup } from "../../trace/entities.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import type { AttributeChange } from "../facts/object_history.ts";
import { statementTrees } from "../../syntax/tree.ts";
import type { Value } from "../../trace/wire.ts";

const PLAIN_CONTAINER_TYPES = new Set(["list", "tuple", "dict"]);
const MAX_VISITED_TENSORS = 200;

export const FINDINGS = [
  diagnosis({
    kind: "parameter_detached",
    severity: "warning",
    lookedFor: "cut",
    of: attributesOfOwnObjects,
    once: ({ step, name }, facts) => `${facts.steps[step].line} ${name}`,
    say: (facts, change) => {
      const hiddenUids = hiddenParameters(facts, change);
      return hiddenUids.length ? diagnosisOf(facts, change, hiddenUids) : null;
    },
  }),
];

/** What objects of the program's classes were given. */
function attributesOfOwnObjects(facts: RunFacts) {
  const classes = statementTrees(facts.trace.program).flatMap((tree) =>
    tree?.kind === "ClassDef" ? [tree.value] : [],
  );
  return facts.attributeChanges.filter(
    ({ owner, after }) => after && classes.includes(facts.scan.initialFields(owner)?.type ?? ""),
  );
}

/** The leaves that an attribute of a module leads to and `parameters()` does not give. */
function hiddenParameters(facts: RunFacts, { owner, after, step }: AttributeChange): string[] {
  if (typeof facts.object(owner, step)?.training !== "boolean") return [];
  const entities = facts.stateAt(step);
  const tensor = findEntity(entities, after, "tensor");
  if (tensor) {
    const isInConstructor = facts.frame(facts.steps[step].frame, step)?.name === "__init__";
    return tensor.requires_grad && tensor.type !== "Parameter" && isInConstructor && after ? [after] : [];
  }
  const container = facts.object(after, step);
  return container && PLAIN_CONTAINER_TYPES.has(container.type ?? "")
    ? trainableTensorsWithin(entities, String(after))
    : [];
}

function trainableTensorsWithin(entities: EntityLookup, rootUid: string): string[] {
  const seen = new Set([rootUid]);
  const out: string[] = [];
  for (const uid of seen) {
    if (seen.size > MAX_VISITED_TENSORS) break;
    const tensor = findEntity(entities, uid, "tensor");
    if (tensor?.type === "Parameter" && tensor.requires_grad) out.push(uid);
    const object = findEntity(entities, uid, "object");
    if (!object) continue;
    const items = keyValuePairs(object)?.map(([, value]) => value) ?? object.items ?? [];
    for (const value of [...items, ...Object.values(object.attrs ?? {})]) {
      const ref = referencedUid(value as Value);
      if (ref) seen.add(ref);
    }
  }
  return out;
}

/** Null where an optimizer was given them all the same, or the program has none. */
function diagnosisOf(facts: RunFacts, change: AttributeChange, hiddenUids: string[]): Diagnosis | null {
  const { error } = facts;
  const explainsError = error !== null && /empty parameter list/.test(error.message);
  const optimizers = facts.optimizers;
  const isOptimized = optimizers.some(({ uid, made, steps }) =>
    facts.parametersOf(uid, steps.at(-1) ?? made).some((param) => hiddenUids.includes(param)),
  );
  if (isOptimized || (!optimizers.length && !explainsError)) return null;
  const effect = explainsError ? error.step : optimizers[0].made;
  if (effect < change.step) return null;
  const x = codeFact(change.name);
  const ownerName = facts.nameFact(change.owner, effect);
  const isTensor = change.after?.[0] === "t";
  const leaf = facts.history.valueAt(hiddenUids[0], "leaf", change.step);
  return {
    variant: isTensor ? (leaf ? "plain_tensor" : "computed_tensor") : "plain_container",
    severity: explainsError ? "error" : "warning",
    cause: change.step,
    chain: [
      [change.step, "made", [change.after, ...hiddenUids]],
      [effect, "none", [change.owner]],
    ],
    names: [x, ownerName],
    facts: { x, owner: ownerName, n: hiddenUids.length, effect: facts.steps[effect].line },
    fixes: [[isTensor ? "register_parameter" : "module_list", { x: change.name }]],
    explainsError,
  };
}
