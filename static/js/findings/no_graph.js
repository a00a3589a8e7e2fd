/** Backward was asked of a tensor that no graph leads back from: what cut it, or that nothing ever required grad. */

import { checkpointStep } from "./checkpoint_call.js";
import { cutFixes } from "./cut_fixes.js";
import { mentionedTensors, receiver } from "./expressions.js";
import { code, fix, link, nameOf, namesOf } from "./finding.js";
import { gradOffAt } from "./grad_mode.js";
import { originOf } from "./graph_walk.js";
import { lastConversion, numberLoss } from "./number_loss.js";
import { operationName } from "./operation_name.js";
import { tensorHistory } from "./tensor_history.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */
/** @typedef {import("./finding.js").Fact} Fact */

const MESSAGE = /does not require grad and does not have a grad_fn|that (?:doesn't require|has requires_grad)/;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function noGraph(facts) {
  const step = facts.errorStep;
  const root = rootWithoutGraph(facts, step);
  if (!root) return numberLoss(facts);
  const { tensors, cuts } = originOf(facts, root, step);
  const cut = cuts[0] ?? numberCut(facts, tensors);
  if (cut) return [cutDiagnosis(facts, root, cut, step)];
  return [
    frozenDiagnosis(facts, root, tensors, step) ??
      lateDiagnosis(facts, root, tensors, step) ??
      neverDiagnosis(facts, root, tensors, step),
  ];
}

/** The tensor that backward was asked to start from, where it has no graph. @param {RunFacts} facts @param {number} step */
function rootWithoutGraph(facts, step) {
  const call = facts.backwards.findLast((backward) => facts.raiseSteps.includes(backward.step));
  const lacks = (/** @type {string | null | undefined} */ uid) => facts.tensor(uid, step)?.requires_grad === false;
  const root = call?.roots.find(lacks);
  if (root && (call?.step ?? -1) >= step) return root;
  if (!MESSAGE.test(facts.error?.message ?? "")) return null;
  const asked = ["backward", "register_hook", "retain_grad"]
    .map((method) => receiver(facts, step, method)?.uid)
    .find(Boolean);
  if (asked && lacks(asked)) return asked;
  return mentionedTensors(facts, step).find(({ uid }) => lacks(uid))?.uid ?? null;
}

/** The cut through a Python number or an array: the tensor was made anew from values that had left the graph.
 * @param {RunFacts} facts @param {string[]} tensors @returns {import("./graph_walk.js").Cut | null} */
function numberCut(facts, tensors) {
  for (const uid of tensors) {
    const cut = lastConversion(facts, facts.birth(uid));
    if (cut) return { tensor: cut.tensor, result: uid, step: cut.step, op: cut.name, reason: cut.reason };
  }
  return null;
}

/** @param {RunFacts} facts @param {string} rootUid @param {import("./graph_walk.js").Cut} recorded @param {number} step @returns {Diagnosis} */
function cutDiagnosis(facts, rootUid, recorded, step) {
  const cut = refineCut(facts, recorded);
  const y = facts.nameFact(rootUid, step);
  const walk = cut.reason === "create_graph" ? facts.backwardAt(cut.step) : undefined;
  const x = facts.nameFact(walk?.roots[0] ?? cut.tensor, cut.step);
  const { reason } = cut;
  const end = walk ? walk.end + 1 : cut.step;
  const result =
    boundAt(facts, cut.step) ??
    (end > cut.step ? boundWithin(facts, cut.step, end) : null) ??
    facts.nameFact(cut.result, cut.step);
  const all = { x, y, z: result, op: operationName(cut.op), code: facts.codeFact(cut.step) };
  const asked = { ...all, code: facts.codeFact(step) };
  const off = reason === "no_grad" ? gradOffAt(facts, cut.step) : null;
  const turned = off ? { ...all, code: code(off.code) } : all;
  return {
    variant: off?.isSwitch ? "grad_mode" : reason,
    cause: off?.isSwitch ? facts.place(off.step) : facts.place(cut.step),
    chain: [
      ...(off && off.line !== facts.place(cut.step).line ? [link(off, "way", turned)] : []),
      link(facts.place(cut.step), "cut", all, [cut.tensor, cut.result]),
      ...linksToRoot(facts, rootUid, cut, step),
      link(facts.place(step), "checked", asked, [rootUid]),
    ],
    names: namesOf(y, result, x),
    facts: { ...turned, cut_line: facts.place(cut.step).line },
    fixes: off?.isSwitch
      ? [fix("grad_on", facts.place(cut.step)), fix("remove_line", facts.place(off.step))]
      : cutFixes(reason).map((kind) => fix(kind, facts.place(cut.step), { name: nameOf(result) })),
    explainsError: true,
  };
}

/** Where and why a history ends, by what the statement says where the trace has less. @param {RunFacts} facts
 * @param {import("./graph_walk.js").Cut} cut */
function refineCut(facts, cut) {
  const { reason, step } = cut;
  if (reason === "detach" && /\.data\b/.test(facts.code(step))) return { ...cut, reason: "data" };
  const checkpoint = reason === "no_grad" ? checkpointStep(facts, step) : null;
  return checkpoint === null ? cut : { ...cut, reason: "checkpoint", step: checkpoint };
}

/** The step that made the root, where it lies between. @param {RunFacts} facts @param {string} rootUid @param {import("./graph_walk.js").Cut} cut @param {number} step */
function linksToRoot(facts, rootUid, cut, step) {
  const birthStep = facts.birth(rootUid);
  if (birthStep <= cut.step || birthStep >= step) return [];
  return [
    link(facts.place(birthStep), "made", { x: facts.nameFact(rootUid, birthStep), code: facts.codeFact(birthStep) }, [
      rootUid,
    ]),
  ];
}

/** The first name that one of several steps gave to a tensor. @param {RunFacts} facts @param {number} first @param {number} last
 * @returns {Fact | null} */
function boundWithin(facts, first, last) {
  for (let step = first; step <= Math.min(last, facts.steps.length - 1); step++) {
    const name = boundAt(facts, step);
    if (name) return name;
  }
  return null;
}

/** The name that a step gave to a tensor. @param {RunFacts} facts @param {number} step @returns {Fact | null} */
export function boundAt(facts, step) {
  const { frame, set } = facts.steps[step];
  const names = Object.entries(set?.[frame ?? ""]?.vars ?? {}).flatMap(([name, value]) =>
    value && typeof value === "object" && "ref" in value && value.ref[0] === "t" ? [name] : [],
  );
  return names.length === 1 ? code(names[0]) : null;
}

/** Where a leaf behind it was told not to require grad any more. @param {RunFacts} facts @param {string} rootUid @param {string[]} tensors @param {number} step
 * @returns {Diagnosis | null} */
function frozenDiagnosis(facts, rootUid, tensors, step) {
  for (const uid of tensors) {
    const frozen = stepThatStoppedGrad(facts, uid);
    if (frozen === undefined) continue;
    const all = { x: facts.nameFact(uid, step), y: facts.nameFact(rootUid, step), code: facts.codeFact(frozen) };
    return {
      variant: "frozen",
      cause: facts.place(frozen),
      chain: [
        link(facts.place(frozen), "cut", all, [uid]),
        link(facts.place(step), "checked", { ...all, code: facts.codeFact(step) }, [rootUid]),
      ],
      names: namesOf(all.x, all.y),
      facts: all,
      fixes: [fix("remove_line", facts.place(frozen))],
      explainsError: true,
    };
  }
  return null;
}

/** Where a leaf behind it came to require grad only after it had been used. @param {RunFacts} facts @param {string} rootUid
 * @param {string[]} tensors @param {number} step @returns {Diagnosis | null} */
function lateDiagnosis(facts, rootUid, tensors, step) {
  for (const uid of tensors) {
    if (uid === rootUid || !facts.tensor(uid, step)?.requires_grad) continue;
    const asked = tensorHistory(facts)
      .changes(uid, "requires_grad")
      .find((change) => change.step < step && change.value === true)?.step;
    const used = asked === undefined ? -1 : firstUse(facts, uid, asked);
    if (asked === undefined || used < 0) continue;
    const all = {
      x: facts.nameFact(uid, asked),
      y: facts.nameFact(rootUid, step),
      use: facts.steps[used].line,
      code: facts.codeFact(asked),
    };
    return {
      variant: "late",
      cause: facts.place(asked),
      chain: [
        link(facts.place(used), "way", { ...all, code: facts.codeFact(used) }, [uid]),
        link(facts.place(asked), "moved", all, [uid]),
        link(facts.place(step), "checked", { ...all, code: facts.codeFact(step) }, [rootUid]),
      ],
      names: namesOf(all.x, all.y),
      facts: all,
      fixes: [fix("require_grad", facts.place(facts.birth(uid)), { name: nameOf(all.x) })],
      explainsError: true,
    };
  }
  return null;
}

/** The first step before another at which an operation took a tensor; -1 where none did. @param {RunFacts} facts @param {string} uid
 * @param {number} before */
function firstUse(facts, uid, before) {
  for (let step = Math.max(0, facts.birth(uid)); step < before; step++)
    if (facts.opsAt(step).some(({ inputs, outputs }) => inputs.includes(uid) && !outputs.includes(uid))) return step;
  return -1;
}

/** Nothing behind it ever required grad. @param {RunFacts} facts @param {string} rootUid @param {string[]} tensors @param {number} step @returns {Diagnosis} */
function neverDiagnosis(facts, rootUid, tensors, step) {
  const leaves = tensors.filter(
    (uid) => uid !== rootUid && facts.nameText(uid, step) && /float|complex/.test(facts.handle(uid, step)?.dtype ?? ""),
  );
  const origins = leaves.filter((uid) => !facts.producer(uid)?.inputs.length);
  const named = origins.length ? origins : leaves;
  const leaf = named.at(-1) ?? rootUid;
  const birthStep = Math.max(0, facts.birth(leaf));
  const all = {
    y: facts.nameFact(rootUid, step),
    x: facts.nameFact(leaf, birthStep),
    leaves: named.map((uid) => facts.nameFact(uid, step)),
  };
  return {
    variant: leaf === rootUid ? "alone" : "never",
    cause: facts.place(birthStep),
    chain: [
      link(facts.place(birthStep), "made", { ...all, code: facts.codeFact(birthStep) }, [leaf]),
      link(facts.place(step), "checked", { ...all, code: facts.codeFact(step) }, [rootUid]),
    ],
    names: namesOf(all.y, all.x),
    facts: all,
    fixes: [fix("require_grad", facts.place(birthStep), { name: facts.nameText(leaf, birthStep) ?? "" })],
    explainsError: true,
  };
}

/** The step at which a tensor that required grad at first last came not to. @param {RunFacts} facts @param {string} uid */
function stepThatStoppedGrad(facts, uid) {
  if (!facts.scan.initialFields(uid)?.requires_grad) return undefined;
  return tensorHistory(facts)
    .changes(uid, "requires_grad")
    .findLast(({ value }) => value === false)?.step;
}
