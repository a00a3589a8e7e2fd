/** Parameters that a module holds and does not know: in a plain list or dict, or as a tensor that is no `nn.Parameter`. */

import { find } from "../trace/entities.js";
import { pairsOf, refOf } from "../trace/names.js";
import { code, fix, link, namesOf } from "./finding.js";
import { attributeChanges } from "./object_history.js";
import { optimizersOf, parametersOf } from "./optimizers.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */
/** @typedef {import("../trace/entities.js").Lookup} Entities */
/** @typedef {import("./object_history.js").Replacement} Replacement */

const CONTAINERS = new Set(["list", "tuple", "dict"]);
const MAX_VISITED_TENSORS = 200;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function unregistered(facts) {
  const modules = moduleTypes(facts);
  if (!modules.size) return [];
  /** @type {Map<string, Diagnosis>} by line and attribute */
  const out = new Map();
  for (const change of attributeChanges(facts)) {
    const type = facts.scan.initialFields(change.owner)?.type ?? "";
    const key = `${facts.steps[change.step].line} ${change.name}`;
    if (!modules.has(type) || !change.after || out.has(key)) continue;
    const hiddenUids = hiddenParameters(facts, change);
    const diagnosis = hiddenUids.length ? diagnosisOf(facts, change, hiddenUids) : null;
    if (diagnosis) out.set(key, diagnosis);
  }
  return [...out.values()];
}

/** The classes of the program that derive from `nn.Module`. @param {RunFacts} facts @returns {Set<string>} */
function moduleTypes(facts) {
  /** @type {Set<string>} */
  const out = new Set();
  for (const line of facts.source) {
    const match = /^\s*class\s+(\w+)\s*\(([^)]*)\)/.exec(line);
    const bases = (match?.[2] ?? "").split(",").map((base) => base.trim());
    if (match && bases.some((base) => /(^|\.)Module$/.test(base) || out.has(base))) out.add(match[1]);
  }
  return out;
}

/** The leaves that an attribute leads to and `parameters()` does not give. @param {RunFacts} facts @param {Replacement} change
 * @returns {string[]} */
function hiddenParameters(facts, { after, step }) {
  const entities = facts.state(step);
  const tensor = find(entities, after, "tensor");
  const frame = find(entities, facts.steps[step].frame, "frame");
  if (tensor) {
    const isMeantAsParameter = tensor.requires_grad && tensor.type !== "Parameter" && frame?.name === "__init__";
    return isMeantAsParameter && after ? [after] : [];
  }
  const container = find(entities, after, "object");
  return container && CONTAINERS.has(container.type ?? "") ? trainableWithin(entities, String(after)) : [];
}

/** @param {Entities} entities @param {string} rootUid @returns {string[]} */
function trainableWithin(entities, rootUid) {
  const seen = new Set([rootUid]);
  /** @type {string[]} */
  const out = [];
  for (const uid of seen) {
    if (seen.size > MAX_VISITED_TENSORS) break;
    const tensor = find(entities, uid, "tensor");
    if (tensor?.type === "Parameter" && tensor.requires_grad) out.push(uid);
    const object = find(entities, uid, "object");
    if (!object) continue;
    const items = pairsOf(object)?.map(([, value]) => value) ?? object.items ?? [];
    for (const value of [...items, ...Object.values(object.attrs ?? {})]) {
      const ref = refOf(/** @type {import("../trace/wire.js").Value} */ (value));
      if (ref) seen.add(ref);
    }
  }
  return out;
}

/** @param {RunFacts} facts @param {Replacement} change @param {string[]} hiddenUids @returns {Diagnosis | null} null where an optimizer
 * was given them all the same, or the program has none */
function diagnosisOf(facts, change, hiddenUids) {
  const { error } = facts;
  const explainsError = error !== null && /empty parameter list/.test(error.message);
  const optimizers = [...optimizersOf(facts).values()];
  const isOptimized = optimizers.some(({ uid, made, steps }) =>
    parametersOf(facts, uid, steps.at(-1) ?? made).some((param) => hiddenUids.includes(param)),
  );
  if (isOptimized || (!optimizers.length && !explainsError)) return null;
  const effect = explainsError ? error.step : optimizers[0].made;
  if (effect < change.step) return null;
  const x = code(change.name);
  const ownerName = facts.nameFact(change.owner, effect);
  const isTensor = change.after?.[0] === "t";
  const leaf = tensorHistory(facts).valueAt(hiddenUids[0], "leaf", change.step);
  return {
    variant: isTensor ? (leaf ? "plain_tensor" : "computed_tensor") : "plain_container",
    severity: explainsError ? "error" : "warning",
    cause: facts.place(change.step),
    chain: [
      link(facts.place(change.step), "made", { x, code: facts.codeFact(change.step) }, [change.after, ...hiddenUids]),
      link(facts.place(effect), "none", { x, code: facts.codeFact(effect) }, [change.owner]),
    ],
    names: namesOf(x, ownerName),
    facts: {
      x,
      owner: ownerName,
      n: hiddenUids.length,
      code: facts.codeFact(change.step),
      effect: facts.steps[effect].line,
    },
    fixes: [fix(isTensor ? "register_parameter" : "module_list", facts.place(change.step), { x: change.name })],
    explainsError: explainsError,
  };
}
