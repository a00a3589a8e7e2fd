/** What a path of the program's text, like `net[0].weight`, refers to at a step. */

import { find } from "../trace/entities.js";
import { pairsOf, refOf } from "../trace/names.js";

/** @typedef {import("../trace/entities.js").Lookup} Entities */
/** @typedef {import("../trace/entities.js").Value} Value */

/**
 * The uid that a path refers to in the state after a step.
 * @param {import("./run_facts.js").RunFacts} facts @param {string} path of names, attributes and constant indices
 * @param {number} step whose frame it is read in @param {number} [stateStep] the step after which the state is asked
 * @returns {string | null} null where the trace doesn't show it
 */
export function resolve(facts, path, step, stateStep = step) {
  const frameUid = facts.steps[step]?.frame ?? null;
  const entities = facts.state(stateStep);
  const [root, ...rest] = path.match(/[A-Za-z_]\w*|\[[^\]]*\]/g) ?? [];
  let value = root ? variableValue(entities, frameUid, root) : undefined;
  for (const part of rest) {
    const ref = refOf(value);
    if (!ref) return null;
    value = part.startsWith("[")
      ? itemValue(entities, ref, indexKey(entities, frameUid, part))
      : attributeValue(entities, ref, part);
  }
  return refOf(value);
}

/** A variable as a frame sees it: its own, else one of the frames around. @param {Entities} entities
 * @param {string | null} frameUid @param {string} name @returns {Value | undefined} */
function variableValue(entities, frameUid, name) {
  for (let uid = frameUid, depth = 0; uid && depth < 50; depth++) {
    const found = find(entities, uid, "frame");
    if (found?.vars.has(name)) return found.vars.get(name);
    uid = found?.caller ?? null;
  }
  return undefined;
}

/** @param {Entities} entities @param {string | null} frameUid @param {string} part in brackets */
function indexKey(entities, frameUid, part) {
  const text = part.slice(1, -1);
  if (/^-?\d+$/.test(text)) return Number(text);
  if (/^['"]/.test(text)) return text.slice(1, -1);
  return variableValue(entities, frameUid, text);
}

/** @param {Entities} entities @param {string} uid @param {Value | undefined} key @returns {Value | undefined} */
function itemValue(entities, uid, key) {
  const object = find(entities, uid, "object");
  if (!object) return undefined;
  const pairs = pairsOf(object);
  if (pairs) return pairs.find(([k]) => k === key)?.[1];
  const items = object.items ?? [];
  if (typeof key === "number" && items.length) return /** @type {Value} */ (items.at(key));
  return object.attrs?.[String(key)];
}

/** @param {Entities} entities @param {string} uid @param {string} name @returns {Value | undefined} */
function attributeValue(entities, uid, name) {
  if (name === "grad") {
    const grad = find(entities, uid, "tensor")?.grad;
    return grad ? { ref: grad } : null;
  }
  return find(entities, uid, "object")?.attrs?.[name];
}
