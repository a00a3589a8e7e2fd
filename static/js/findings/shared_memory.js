/** A write that is seen through a name which the statement does not write to: a view, an array, a state dict, a second name. */

import { refOf } from "../layout/names.js";
import { reads } from "../layout/reads.js";
import { addToList } from "../multimap.js";
import { code, fix, link, namesOf } from "./finding.js";
import { gradientTensors } from "./gradient_tensors.js";
import { overlappingWrites } from "./overlapping_write.js";
import { mentionsAt } from "./program_text.js";
import { tensorHistory } from "./tensor_history.js";
import { isGradcheck } from "./write_facts.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */
/** @typedef {import("../layout/names.js").Tag} Tag */
/** @typedef {import("./scan.js").Occurrence<"written">} Write */
/** @typedef {{uid: string, tag: Tag, used: number}} Reader   used: the step at which its name is next used */
/** @typedef {Map<string, {at: number, isBound: boolean}[]>} Uses   the steps that use a name; isBound: they only give it a
 *   meaning */

const MAX_ELEMENTS = 4096;
/** Names cost a walk over all that lives: so many writes are looked at closely. */
const MAX_WRITES = 24;
const MAX_FINDINGS = 6;
const COMPARISON = /\b(?:equal|allclose|isclose|array_equal)\(|[=!]=|\w\s+-\s+\w/;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function sharedMemory(facts) {
  const uses = nameUses(facts);
  /** @type {Map<string, Diagnosis>} by the line and the name */
  const out = new Map();
  let looked = 0;
  const seen = new Set();
  for (const write of facts.events("written")) {
    if (isGradcheck(facts, write.step)) continue;
    const { stmt, visit, frame } = facts.steps[write.step];
    const key = `${write.storage} ${stmt}`;
    if (seen.has(key) || !mayBeSeen(facts, write)) continue;
    seen.add(key);
    if (looked++ >= MAX_WRITES || out.size >= MAX_FINDINGS) break;
    const reader = visit ? gradReader(facts, write, uses) : readerOf(facts, write, frame ?? "", uses);
    const line = `${facts.steps[write.step].line} ${reader?.tag.text}`;
    if (reader && !out.has(line)) out.set(line, diagnosisOf(facts, write, reader));
  }
  return [...overlappingWrites(facts), ...shallowCopies(facts, uses), ...out.values()];
}

/** Parameters that a module made by `copy.copy` shares with its original, and that an optimizer or the program goes on to write.
 * @param {RunFacts} facts @param {Uses} uses @returns {Diagnosis[]} */
function shallowCopies(facts, uses) {
  return facts.steps.flatMap((traceStep, i) => {
    const target = traceStep.kind === "statement" ? /^(\w+)\s*=\s*(?:copy\.)?copy\(/.exec(facts.code(i))?.[1] : null;
    const copy = target
      ? facts.scan.meanings.get(`${traceStep.frame}/${target}`)?.find((meaning) => meaning.step === i)
      : null;
    if (copy?.uid[0] !== "o") return [];
    for (const write of facts.events("written")) {
      if (write.step <= i || !write.by) continue;
      const tags = facts.names(write.step).tags.get(write.by) ?? [];
      const tag = tags.find(({ text }) => text.startsWith(`${target}.`));
      const reader = tag && tags.length > 1 ? usedLater(facts, write.by, [tag], write.step, uses) : null;
      if (!reader) continue;
      const diagnosis = diagnosisOf(facts, write, reader);
      const y = code(`${target}`);
      const shared = link(facts.place(i), "shares", { y, x: diagnosis.facts.x, code: facts.codeFact(i) }, [
        copy.uid,
        write.by,
      ]);
      const said = { ...diagnosis.facts, y, tensor: reader.tag.text, shared: facts.steps[i].line };
      const fixes = [fix("deepcopy_instead", facts.place(i))];
      return [
        {
          ...diagnosis,
          variant: "shallow_copy",
          chain: [shared, ...diagnosis.chain.slice(1)],
          names: namesOf(y, ...diagnosis.names),
          facts: said,
          fixes,
        },
      ];
    }
    return [];
  });
}

/** Whether anything else that lives on may read what was written, or know it by a second name. @param {RunFacts} facts @param {Write} write */
function mayBeSeen(facts, { storage, step, by }) {
  const { bindings } = facts.scan;
  if (facts.steps[step].visit) return Boolean(by && bindings.has(by));
  const isParameter =
    tensorHistory(facts).value(by ?? "", "leaf", step) && tensorHistory(facts).value(by ?? "", "requires_grad", step);
  const isNamedTwice = isParameter || (by && gradientTensors(facts).has(by)); // by the path of the parameter, or its gradient
  if ((bindings.get(by ?? "")?.length ?? 0) > (isNamedTwice ? 0 : 1)) return true;
  const isStored = by && storedTensors(facts).has(by);
  if (
    isStored &&
    !(tensorHistory(facts).value(by, "leaf", step) && tensorHistory(facts).value(by, "requires_grad", step))
  )
    return true;
  return livingBefore(facts, storage, step).some((uid) => uid !== by);
}

/** @type {WeakMap<object, Set<string>>} */
const stored = new WeakMap();

/** The tensors that ever were items of a list, tuple or dict. @param {RunFacts} facts @returns {Set<string>} */
function storedTensors(facts) {
  const known = stored.get(facts.trace);
  if (known) return known;
  /** @type {Set<string>} */
  const out = new Set();
  for (const { items, splice } of facts.index.objectChanges.map(({ fields }) => fields)) {
    const edits = /** @type {[number, number, import("../trace.js").Item[]][]} */ (splice ?? []);
    const inserted = edits.flatMap((edit) => edit[2]);
    for (const item of [...(items ?? []), ...inserted]) {
      const ref = refOf(/** @type {import("../trace.js").Value} */ (Array.isArray(item) ? item[1] : item));
      if (ref?.[0] === "t") out.add(ref);
    }
  }
  stored.set(facts.trace, out);
  return out;
}

/** The handles that read a storage before a step and after it. @param {RunFacts} facts @param {string} storageUid @param {number} step */
function livingBefore(facts, storageUid, step) {
  return facts.index.handlesOf(storageUid, step).filter((uid) => facts.birth(uid) < step);
}

/** @param {RunFacts} facts @param {Write} write @param {string} frameUid @param {Uses} uses @returns {Reader | null} */
function readerOf(facts, write, frameUid, uses) {
  const { targets } = mentionsAt(facts, write.step);
  if (!write.by && !hasArray(facts, write)) return null;
  const region = regionCells(write);
  for (const uid of livingBefore(facts, write.storage, write.step)) {
    if (uid === write.by) continue;
    const { tags } = facts.names(write.step);
    if (isTarget(tags.get(uid) ?? [], targets)) continue;
    const handle = facts.handle(uid, write.step);
    const cells = region && handle ? reads(handle, MAX_ELEMENTS) : [];
    if (region && cells.length && !cells.some(({ cell }) => region.has(cell))) continue;
    const own = receiverName(facts, write.step);
    const names = (tags.get(uid) ?? []).filter(
      ({ text, kind }) => kind !== "grad" && !targets.has(rootOf(text)) && !(kind === "item" && rootOf(text) === own),
    );
    const reader = usedLater(facts, uid, names, write.step, uses);
    if (reader) return reader;
  }
  return aliasOf(facts, write, frameUid, uses);
}

/** The object whose method a statement calls and does no more: that it changes what it holds is no surprise.
 * @param {RunFacts} facts @param {number} step */
function receiverName(facts, step) {
  return /^(\w+)(?:\.\w+)+\(/.exec(facts.code(step))?.[1];
}

/** Whether one of a handle's names is what the statement writes to. @param {Tag[]} tags @param {Set<string>} targets */
function isTarget(tags, targets) {
  return tags.some(({ kind, text }) => kind === "var" && targets.has(text));
}

/** Whether an array may have written: one on the memory, or around it. @param {RunFacts} facts @param {Write} write */
function hasArray(facts, { storage, step }) {
  const entity = facts.state(step).get(storage);
  return (
    (entity?.kind === "storage" && entity.within) || livingBefore(facts, storage, step).some((uid) => uid[0] === "a")
  );
}

/** Another name for the tensor that was written: a second variable, or a place in a list or dict that the statement does not
 * mention. A parameter that is updated is none of that. @param {RunFacts} facts @param {Write} write @param {string} frameUid
 * @param {Uses} uses @returns {Reader | null} */
function aliasOf(facts, { by, step, storage }, frameUid, uses) {
  const handle = by ? facts.handle(by, step) : undefined;
  if (!by || !handle) return null;
  if (handle.requires_grad && handle.leaf) return comparedParameter(facts, by, step, uses);
  const { targets, names: mentioned } = mentionsAt(facts, step);
  const [only, ...more] = livingBefore(facts, storage, step).filter((other) => other !== by);
  const uid = facts.naming.at(by, step) || more.length ? by : (only ?? by);
  const tags = facts.names(step).tags.get(uid) ?? [];
  const variables = tags.filter(({ kind }) => kind === "var");
  const isGradient = Boolean(facts.naming.gradient(uid, step));
  const stored = tags.filter(({ kind, text }) => kind === "item" && !text.includes("."));
  const written = variables.some(({ text, frame: of }) => targets.has(text) && of === frameUid);
  const others =
    written || isGradient ? variables.filter(({ text, frame: of }) => !targets.has(text) || of !== frameUid) : [];
  const elsewhere = stored.filter(({ text }) => !mentioned.has(rootOf(text)));
  const again = stored.filter(({ text }) => targets.has(rootOf(text))).slice(1);
  return usedLater(facts, uid, [...others, ...elsewhere, ...again], step, uses);
}

/** A variable that was to remember a parameter, and is compared with it after an update. @param {RunFacts} facts @param {string} uid
 * @param {number} step @param {Uses} uses @returns {Reader | null} */
function comparedParameter(facts, uid, step, uses) {
  const { targets } = mentionsAt(facts, step);
  const tags = (facts.names(step).tags.get(uid) ?? []).filter(({ kind, text }) => kind === "var" && !targets.has(text));
  const named = facts.scan.bindings.get(uid)?.[0]?.step ?? 0;
  for (const tag of tags) {
    const bound = facts.scan.bindings.get(uid)?.find(({ name, frame }) => name === tag.text && frame === tag.frame);
    const isSecondName = bound && facts.steps[bound.step].kind === "statement" && bound.step > facts.birth(uid);
    if (!isSecondName && (bound?.step ?? named) <= named) continue; // what it has been called from the start
    const reader = usedLater(facts, uid, [tag], step, uses);
    if (reader && COMPARISON.test(facts.code(reader.used)) && facts.code(reader.used).includes(tag.text)) return reader;
  }
  return null;
}

/** A name that the program gave to a `.grad` into which a backward adds. @param {RunFacts} facts @param {Write} write
 * @param {Uses} uses @returns {Reader | null} */
function gradReader(facts, { by, step }, uses) {
  const names = (facts.names(step).tags.get(by ?? "") ?? []).filter(({ kind }) => kind !== "grad");
  return by ? usedLater(facts, by, names, step, uses) : null;
}

/** @param {RunFacts} facts @param {string} uid @param {Tag[]} tags @param {number} step @param {Uses} uses
 * @returns {Reader | null} */
function usedLater(facts, uid, tags, step, uses) {
  for (const tag of tags) {
    const next = uses
      .get(rootOf(tag.text))
      ?.find(({ at }) => at > step && (!tag.frame || facts.steps[at].frame === tag.frame));
    if (!next || next.isBound) continue;
    const used = next.at;
    const means = facts.scan.meanings.get(`${tag.frame}/${tag.text}`)?.findLast((meaning) => meaning.step < used);
    if (tag.kind !== "var" || means?.uid === uid) return { uid, tag, used };
  }
  return null;
}

/** @param {string} path */
function rootOf(path) {
  return /^\w+/.exec(path)?.[0] ?? path;
}

/** The steps that use each name. @param {RunFacts} facts @returns {Uses} */
function nameUses(facts) {
  /** @type {Uses} */
  const out = new Map();
  facts.steps.forEach((traceStep, i) => {
    if (traceStep.kind === "statement" || traceStep.kind === "return" || traceStep.kind === "head")
      for (const name of mentionsAt(facts, i).names)
        addToList(out, name, { at: i, isBound: isOnlyBound(facts.code(i), name) });
  });
  return out;
}

/** Whether a statement gives a name a new meaning and does not read it. @param {string} text @param {string} name */
function isOnlyBound(text, name) {
  const [first, rest = ""] = text.split(/=(.*)/s);
  return first.trim() === name && !rest.startsWith("=") && !new RegExp(`\\b${name}\\b`).test(rest);
}

/** @param {Write} write @returns {Set<number> | null} null where the trace does not say which elements */
function regionCells({ region, storage }) {
  if (!region) return null;
  const cells = reads({ ...region, storage }, MAX_ELEMENTS).map(({ cell }) => cell);
  return cells.length ? new Set(cells) : null;
}

/** @param {RunFacts} facts @param {Write} write @param {Reader} reader @returns {Diagnosis} */
function diagnosisOf(facts, write, { uid, tag, used }) {
  const { by, step } = write;
  const writer = writerOf(facts, write, uid, tag);
  const y = code(tag.text);
  const gradient = facts.naming.gradient(by ?? "", step);
  const x = gradient ? code(gradient) : writerName(facts, write, writer, uid);
  const shared = sharedSince(facts, uid, writer, step, tag);
  const at = facts.place(shared);
  return {
    variant: variantOf(facts, write, writer, uid, tag),
    severity: "note",
    cause: facts.place(step),
    chain: [
      link(at, "shares", { y, x, code: facts.codeFact(shared) }, [uid, by]),
      link(facts.place(step), "written", { x, code: facts.codeFact(step) }, [by, write.storage]),
      link(facts.place(used), "read", { x: y, code: facts.codeFact(used) }, [uid]),
    ],
    names: namesOf(y, x),
    facts: { x, y, n: write.changed ?? 0, shared: at.line, code: facts.codeFact(step) },
    fixes: [fix("clone_shared", at, { x: tag.text })],
  };
}

/** The handle through which a statement writes: what was written if it has a name, else the one of the statement's target,
 * for `x[0] = 1` writes through a view without a name, else another of the memory that has a name.
 * @param {RunFacts} facts @param {Write} write @param {string} reader @param {Tag} tag of the reader @returns {string | null} */
function writerOf(facts, { by, step, storage }, reader, tag) {
  if (!by || by === reader || facts.naming.at(by, step)) return by ?? null;
  const { targets } = mentionsAt(facts, step);
  const { tags } = facts.opened.names(step);
  const living = livingBefore(facts, storage, step);
  const target = living.find((uid) => isTarget(tags.get(uid) ?? [], targets));
  if (target && (target !== reader || !targets.has(tag.text))) return target;
  const others = [facts.tensor(by, step)?.base, ...living];
  return others.find((uid) => uid && uid !== reader && facts.naming.at(uid, step)) ?? by;
}

/** The name of what was written, or the statement's target. @param {RunFacts} facts @param {Write} write
 * @param {string | null} writer @param {string} reader */
function writerName(facts, { step, storage }, writer, reader) {
  const [target] = mentionsAt(facts, step).targets;
  for (const uid of [writer, ...livingBefore(facts, storage, step)])
    if (uid && uid !== reader && facts.naming.at(uid, step)) return facts.nameFact(uid, step);
  return target ? code(target) : facts.codeFact(step);
}

/** The step since which both read the same memory. @param {RunFacts} facts @param {string} uid @param {string | null} writer
 * @param {number} step @param {Tag} tag */
function sharedSince(facts, uid, writer, step, tag) {
  if (uid === writer || !writer) {
    const bound = facts.scan.meanings.get(`${tag.frame}/${tag.text}`)?.findLast((meaning) => meaning.step <= step);
    const other = facts.scan.bindings.get(uid)?.findLast((binding) => binding.step < step);
    return Math.max(bound?.step ?? facts.birth(uid), writer ? (other?.step ?? 0) : 0);
  }
  const since = (/** @type {string} */ handleUid) =>
    tensorHistory(facts)
      .changes(handleUid, "storage")
      .findLast((change) => change.step < step)?.step ?? facts.birth(handleUid);
  const later = Math.max(since(uid), since(writer));
  return later < step ? later : since(uid);
}

/** @param {RunFacts} facts @param {Write} write @param {string | null} by the handle that was written through
 * @param {string} uid @param {Tag} tag */
function variantOf(facts, { step, storage }, by, uid, tag) {
  if (facts.steps[step].visit) return "grad";
  if (uid === by && facts.naming.gradient(uid, step)) return "grad_written";
  if (uid[0] === "a" || livingBefore(facts, storage, step).some((handle) => handle[0] === "a" && handle !== uid))
    return "numpy";
  if (!by) return "numpy";
  if (
    uid === by ||
    (tag.kind === "item" && !facts.tensor(uid, step)?.base && mentionsAt(facts, step).targets.has(rootOf(tag.text)))
  )
    return tag.kind === "item" ? "stored" : "same_tensor";
  const [reader, writer] = [facts.tensor(uid, step), facts.tensor(by, step)];
  if (reader?.stride?.includes(0)) return "expanded";
  if (reader?.base && reader.base === by) return "view";
  if (writer?.base === uid) return "base";
  if (reader?.base && reader.base === writer?.base) return "views";
  const isBase = livingBefore(facts, storage, step).some((handle) => facts.tensor(handle, step)?.base === uid);
  if (reader?.base || isBase) return "views";
  return tag.kind === "item" ? "container" : "detached";
}
