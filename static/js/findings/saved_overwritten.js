/** Backward stopped because numbers that it had kept were overwritten: which, where they were kept, and by which line. */

import { extent, plainDtype, reads } from "../layout/reads.js";
import { code, fix, link, nameOf, namesOf, phrase } from "./finding.js";
import { operationName } from "./operation_name.js";
import { isInPlace } from "./refused_write.js";
import { isOwnResult, savedHandle } from "./saved_values.js";
import { writerAt } from "./write_facts.js";

/** So many elements of a kept tensor are compared with those that were written. */
const MAX_ELEMENTS = 4096;

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function savedOverwritten(facts) {
  const failed = facts.failedVisit;
  if (!failed) return [];
  const slot = facts.slotsOfNode(failed.node).find(({ stale }) => stale !== null && stale <= failed.step);
  if (!slot || slot.stale === null) return [];
  const stale = facts.events("saved_stale").find((event) => event.node === slot.node && event.slot === slot.slot);
  const step = stale?.step ?? slot.stale;
  const by = stale?.by ?? null;
  const write = facts.writesOf(slot.storage).find((event) => event.step === step && (!by || event.by === by));
  const op = (write && facts.opOf(write)?.name) ?? writeWithin(facts, step, slot.storage)?.name ?? "";
  const saved = savedHandle(facts, slot);
  const x = nameOrGradPath(facts, saved, slot.birth);
  const y = facts.nameFact(by ?? saved, step);
  const wrote = writerAt(facts, step, op);
  const writer = wrote === "program" && isBuffer(facts, saved, slot.birth) ? "buffer" : wrote;
  const beside = missesSavedElements(facts, slot, step);
  const alias = by !== null && by !== saved && JSON.stringify(x) !== JSON.stringify(y);
  const all = {
    x,
    y,
    op: facts.operation(slot.node),
    write: op ? operationName(op) : "=",
    code: facts.codeFact(step),
    saved_line: facts.place(slot.birth).line,
    check_line: facts.place(failed.step).line,
    expected: slot.expected ?? 0,
    version: versionAt(facts, slot.counter, failed.step),
    needs: phrase(
      `finding.saved_overwritten.needs_${isOwnResult(slot) || isOutput(facts, slot, saved) ? "result" : "input"}`,
    ),
    flags: flagPhrase(facts),
  };
  const chain = [link(facts.place(slot.birth), "saved", all, [slot.node, saved], slot.key)];
  const shared = by ? facts.birth(by) : -1;
  if (alias && shared > slot.birth && shared < step) chain.push(link(facts.place(shared), "shares", all, [by, saved]));
  chain.push(link(facts.place(step), "written", all, [by, slot.storage]));
  chain.push(link(facts.place(failed.step), "checked", all, [slot.node], slot.key));
  return [
    {
      variant: writer === "program" ? variantOf(alias, beside) : writer,
      cause: facts.place(step),
      chain,
      names: namesOf(x, y),
      facts: all,
      fixes: fixesFor(writer, facts, slot, step, all),
      explainsError: true,
    },
  ];
}

/** @param {boolean} alias @param {boolean} beside */
function variantOf(alias, beside) {
  if (beside) return "beside";
  return alias ? "alias" : undefined;
}

/** Whether all that a step wrote in the memory of a saved tensor lies beside the elements that were saved: the counter moved
 * and those numbers did not. @param {RunFacts} facts @param {import("../trace_index.js").SavedSlot} slot @param {number} step */
function missesSavedElements(facts, slot, step) {
  const saved = facts.node(slot.node, slot.birth)?.saved?.[slot.slot];
  const regions = facts.writesOf(slot.storage).flatMap((event) => (event.step === step ? [event.region] : []));
  if (!saved?.shape?.every(Boolean) || !saved.stride || !regions.length) return false;
  return regions.every((region) => {
    if (!region || plainDtype(region.dtype) !== plainDtype(saved.dtype)) return false;
    const held = extent({ ...saved, storage: slot.storage });
    const touched = extent({ ...region, storage: slot.storage });
    if (!held || !touched) return false;
    if (touched[1] < held[0] || held[1] < touched[0]) return true;
    const kept = new Set(reads(saved, MAX_ELEMENTS).map(({ cell }) => cell));
    const written = reads({ ...region, storage: slot.storage }, MAX_ELEMENTS);
    return kept.size > 0 && written.length > 0 && written.every(({ cell }) => !kept.has(cell));
  });
}

/** The in-place operation of a step on memory that the step itself allocated: there is no event of that.
 * @param {RunFacts} facts @param {number} step @param {string} storageUid */
function writeWithin(facts, step, storageUid) {
  return facts
    .opsAt(step)
    .findLast(({ name, inputs }) => isInPlace(name) && facts.handle(inputs[0], step)?.storage === storageUid);
}

/** Whether a handle is what the node itself gave. @param {RunFacts} facts @param {import("../trace_index.js").SavedSlot} slot
 * @param {string | null} uid */
function isOutput(facts, slot, uid) {
  return uid !== null && facts.index.outputsOf(slot.node, slot.birth).includes(uid);
}

/** A gradient by its path, `x.grad`; anything else by its name. @param {RunFacts} facts @param {string | null} uid @param {number} step */
function nameOrGradPath(facts, uid, step) {
  const gradient = uid ? facts.naming.gradient(uid, step) : null;
  return gradient ? code(gradient) : facts.nameFact(uid, step);
}

/** Whether a tensor is a module's and no parameter. @param {RunFacts} facts @param {string | null} uid @param {number} step */
function isBuffer(facts, uid, step) {
  return uid !== null && facts.index.moduleOf.has(uid) && facts.tensor(uid, step)?.requires_grad === false;
}

/** The lines that ask modules to work in place, where there are any. @param {RunFacts} facts */
function flagPhrase(facts) {
  const lines = facts.source.flatMap((text, k) => (/inplace\s*=\s*True/.test(text) ? [k + 1] : []));
  return lines.length ? phrase("finding.saved_overwritten.flag_lines", { lines }) : "";
}

/** @param {RunFacts} facts @param {string | null} counterUid @param {number} step */
function versionAt(facts, counterUid, step) {
  const entity = facts.state(step).get(counterUid ?? "");
  return (entity?.kind === "counter" ? entity.value : null) ?? "?";
}

/**
 * @param {import("./write_facts.js").Writer} writer @param {RunFacts} facts @param {import("../trace_index.js").SavedSlot} slot
 * @param {number} step @param {import("./finding.js").Facts} all @returns {import("./finding.js").FixHint[]}
 */
function fixesFor(writer, facts, slot, step, all) {
  const write = facts.place(step);
  const saved = facts.place(slot.birth);
  if (writer === "optimizer")
    return [
      fix("forward_again", saved, { to: write.line }),
      fix("step_after_backward", write, { to: facts.error?.line ?? 0 }),
      fix("detach_carried", saved),
    ];
  if (writer === "module")
    return [
      fix("not_inplace", write),
      fix("clone_saved", saved, { name: nameOf(all.x) }),
      fix("clone_before", write, { name: nameOf(all.y) }),
    ];
  if (writer === "accumulated") return [fix("clone_saved", saved, { name: nameOf(all.x) })];
  return [
    fix("clone_before", write, { name: nameOf(all.y) }),
    fix("out_of_place", write, { name: nameOf(all.y) }),
    fix("clone_saved", saved, { name: nameOf(all.x) }),
  ];
}
