/** The finding of a write that shows through another name: a view, an array, a state dict, a second variable. */

import {
  asFound,
  chainLink,
  codeFact,
  diagnosis,
  nameTextOfFact,
  operationName,
  phrase,
  placeAt,
} from "../diagnosis.ts";
import type { ChainLink, Diagnosis, Fact, RunFacts } from "../diagnosis.ts";
import { itemsOfChange } from "../facts/object_history.ts";
import { findEntity } from "../../trace/entities.ts";
import { referencedUid, type NameTag } from "../../trace/names.ts";
import { calleePath, firstNameOf, pathText, rootName } from "../../syntax/expressions.ts";
import { isOnlyBound } from "../../syntax/name_uses.ts";
import { assignments, singleAssignment } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import { secondNameFindings } from "../modules/same_module.ts";
import {
  isGradcheckStep,
  isOptimizerStep,
  inPlaceOperationOfWrite,
  isWrittenByCalledModule,
} from "../facts/write_origins.ts";
import type { WriteEvent } from "../facts/write_origins.ts";
import {
  handlesReadingStorage,
  hasOtherReaders,
  isStatementTarget,
  laterReader,
  nextReaderByName,
  stepsUsingNames,
} from "./later_readers.ts";
import type { LaterReader } from "./later_readers.ts";

/** Finding names walks over all living objects, so only this many writes are examined. */
const MAX_WRITES_EXAMINED = 24;
const MAX_SHARING_FINDINGS = 6;
/** What a statement of a loop writes is stored, and has a second reader, after the first write only. */
const MAX_WRITES_OF_STATEMENT = 2;

export const FINDINGS = [
  diagnosis({ kind: "shared_memory", severity: "note", of: shallowCopies, say: asFound }),
  diagnosis({ kind: "shared_memory", severity: "note", of: writesSeenThroughOtherNames, say: asFound }),
];

/** A write with a span came from statements that were not recorded: which of them wrote is unknown. */
function writesSeenThroughOtherNames(facts: RunFacts): Diagnosis[] {
  const stepsByName = stepsUsingNames(facts);
  /** by the line and the name */
  const out = new Map<string, Diagnosis>();
  let examinedCount = 0;
  const seen = new Map<string, number>();
  for (const write of facts.eventsOfKind("written")) {
    if (write.span || isGradcheckStep(facts, write.step)) continue;
    const key = `${write.storage} ${facts.steps[write.step].stmt}`;
    const times = seen.get(key) ?? 0;
    if (times >= MAX_WRITES_OF_STATEMENT || !hasOtherReaders(facts, write)) continue;
    seen.set(key, times + 1);
    if (examinedCount++ >= MAX_WRITES_EXAMINED || out.size >= MAX_SHARING_FINDINGS) break;
    const reader = laterReader(facts, write, stepsByName);
    const line = `${facts.steps[write.step].line} ${reader?.tag.text}`;
    if (reader && !out.has(line)) out.set(line, diagnosisOf(facts, write, reader));
  }
  const secondNames = secondNameFindings(facts);
  const linesTold = new Set([...secondNames.values()].map(({ cause }) => placeAt(facts, cause).line));
  const isToldAsSecondName = ({ facts: { y, shared } }: Diagnosis) =>
    secondNames.has(firstNameOf(nameTextOfFact(y))) || linesTold.has(Number(shared));
  return [...out.values()].filter((found) => !isToldAsSecondName(found));
}

/** Modules made by `copy.copy`, whose parameters an optimizer or the program writes later. */
function shallowCopies(facts: RunFacts): Diagnosis[] {
  const stepsByName = stepsUsingNames(facts);
  return facts.steps.flatMap((traceStep, i) => {
    const target = traceStep.kind === "statement" ? nameOfShallowCopy(facts.syntax(i)) : null;
    const copy = target ? facts.meaningsOf(traceStep.frame, target).find((meaning) => meaning.step === i) : null;
    if (copy?.uid[0] !== "o") return [];
    for (const write of facts.eventsOfKind("written")) {
      if (write.step <= i || !write.by || write.span) continue;
      const tags = facts.namesAt(write.step).tags.get(write.by) ?? [];
      const tag = tags.find(({ text }) => text.startsWith(`${target}.`));
      const reader = tag && tags.length > 1 ? nextReaderByName(facts, write.by, [tag], write.step, stepsByName) : null;
      if (!reader) continue;
      const diagnosis = diagnosisOf(facts, write, reader);
      const y = codeFact(`${target}`);
      return [
        {
          ...diagnosis,
          variant: "shallow_copy",
          cause: i,
          chain: [[i, "shares", [copy.uid, write.by], { y }], ...diagnosis.chain.slice(1)],
          names: [y, ...(diagnosis.names ?? [])],
          facts: { ...diagnosis.facts, y, tensor: reader.tag.text, shared: facts.steps[i].line },
          fixes: [["deepcopy_instead"]],
        },
      ];
    }
    return [];
  });
}

/** The name that a statement gives to what `copy.copy` returns. */
function nameOfShallowCopy(tree: SyntaxNode | null) {
  const named = tree && singleAssignment(tree);
  return named?.value.kind === "Call" && calleePath(named.value) === "copy.copy" ? named.name : null;
}

function diagnosisOf(facts: RunFacts, write: WriteEvent, { uid, tag, used: useStep }: LaterReader): Diagnosis {
  const { by, step } = write;
  const writer = writingHandle(facts, write, uid, tag);
  const y = codeFact(tag.text);
  const gradient = facts.naming.gradPathAt(by ?? "", step);
  const writtenName = gradient ? codeFact(gradient) : writerName(facts, write, writer, uid, tag.text);
  const sharingStep = sharingStepBefore(facts, uid, writer, step, tag);
  const sharingPlace = facts.place(sharingStep);
  const isByLayer = isWrittenByCalledModule(facts, write);
  const isArgument = isByLayer && uid === by && tag.kind === "var" && facts.mentionsAt(step).names.has(tag.text);
  const x = isArgument ? y : isByLayer && by ? facts.nameFact(by, sharingStep) : writtenName;
  const told = nameTextOfFact(x) === tag.text ? nameWithFunction(facts, tag, useStep) : y;
  const op = inPlaceOperationOfWrite(facts, write) ?? "";
  const called = linkOfCall(facts, sharingStep, uid, x, y);
  const isCopyMissing =
    !isArgument && sharingStep < step && (isWrittenByTorch(facts, write) || isKeptWithoutCopy(facts, uid, tag, step));
  return {
    variant: isArgument ? "argument" : isByLayer ? "module" : sharedMemoryVariant(facts, write, writer, uid, tag),
    cause: isCopyMissing ? sharingPlace : facts.place(step),
    chain: [
      !isArgument && {
        ...chainLink(sharingPlace, "shares", { y: told, x, code: facts.statementFact(sharingStep) }, [uid, by]),
        ...called,
      },
      [step, "written", [by, write.storage]],
      [useStep, "read", [uid], { x: y }],
    ],
    names: [y, x],
    facts: {
      line: facts.steps[step].line,
      x,
      y: told,
      n: write.changed ?? 0,
      shared: sharingPlace.line,
      code: facts.statementFact(step),
      op: codeFact(op),
      effect: facts.steps[useStep].line,
    },
    fixes: isArgument ? [] : [["clone_shared", { x: tag.text }, sharingPlace]],
  };
}

/** A variable's name with the function that it is of, where another function has one of the same name. */
function nameWithFunction(facts: RunFacts, { text, frame }: NameTag, step: number): Fact {
  const owner = findEntity(facts.opened.state(step), frame, "frame");
  if (!owner?.caller) return phrase("finding.name_of_module", { name: codeFact(text) });
  return phrase("finding.name_of_call", { name: codeFact(text), call: codeFact(`${owner.name}()`) });
}

/** That what a call is given has a name in the function, which the caller does not read. */
function linkOfCall(facts: RunFacts, step: number, uid: string, x: Fact, y: Fact): Partial<ChainLink> {
  const { kind, set } = facts.steps[step];
  const bound = kind === "call" ? facts.bindingsOf(uid).find((binding) => binding.step === step) : null;
  const entered = bound ? set?.[bound.frame]?.name : null;
  if (!bound || !entered) return {};
  const [inner, outer] = nameTextOfFact(x) === bound.name ? [x, y] : [y, x];
  if (nameTextOfFact(inner) !== bound.name) return {};
  const words = { kind: "shared_memory", variant: "passed" };
  const called = { x: inner, y: outer, function: codeFact(`${entered}()`), code: facts.statementFact(step) };
  return { words, facts: called };
}

/**
 * Whether the program put something into a container and went on to write it, so that the copy is missing where it was
 * put in; false where the program took from the container what it writes.
 */
function isKeptWithoutCopy(facts: RunFacts, uid: string, tag: NameTag, step: number) {
  const stored = tag.kind === "item" ? stepStored(facts, uid, tag, step) : null;
  if (stored === null) return false;
  if (facts.steps[stored].line === facts.steps[facts.birthStep(uid)]?.line) return true;
  return facts.bindingsOf(uid).some((binding) => binding.step <= stored) ?? true;
}

/** Whether a backward, an optimizer or a layer wrote, so that the statement cannot be the mistake. */
function isWrittenByTorch(facts: RunFacts, write: WriteEvent) {
  if (facts.steps[write.step].visit) return true;
  return isOptimizerStep(facts, write.step) || isWrittenByCalledModule(facts, write);
}

/** The step that put a tensor into the container that `text` names; null where that is unknown. */
function stepStored(facts: RunFacts, uid: string, { text }: NameTag, before: number) {
  const container = text.replace(/(?:\[[^\]]*\]|\.[^.[\]]+)$/, "");
  const { paths } = facts.namesAt(before);
  const change = facts.index.objectChanges.findLast(
    ({ uid: object, step, fields }) =>
      step < before &&
      paths.get(object) === container &&
      itemsOfChange(fields.items, fields.splice).some((item) => referencedUid(item) === uid),
  );
  return change?.step ?? null;
}

/**
 * The handle to name as the writer: the one written, if it has a name; else the statement's target, since `x[0] = 1`
 * writes through an unnamed view; else another named handle of the same memory. `tag` is the reader's name.
 */
function writingHandle(
  facts: RunFacts,
  { by, step, storage }: WriteEvent,
  reader: string,
  tag: NameTag,
): string | null {
  if (by && (by === reader || facts.naming.nameAt(by, step))) return by;
  const { targets } = facts.mentionsAt(step);
  const { tags } = facts.opened.names(step);
  const livingHandles = handlesReadingStorage(facts, storage, step);
  const target = livingHandles.find((uid) => isStatementTarget(tags.get(uid) ?? [], targets));
  if (target && (target !== reader || !targets.has(tag.text))) return target;
  if (!by) return null;
  const others = [facts.tensor(by, step)?.base, ...livingHandles];
  return others.find((uid) => uid && uid !== reader && facts.naming.nameAt(uid, step)) ?? by;
}

/** The name of what was written, or the statement's target. */
function writerName(
  facts: RunFacts,
  { step, storage }: WriteEvent,
  writer: string | null,
  reader: string,
  readerName: string,
) {
  const target = [...facts.mentionsAt(step).targets].find((name) => !isOnlyBound(facts.syntax(step), name));
  const written = target ? pathWritten(facts, step, target, storage) : null;
  for (const uid of [writer, ...handlesReadingStorage(facts, storage, step)])
    if (uid && uid !== reader && facts.naming.nameAt(uid, step)) return facts.nameFact(uid, step);
  const other = reader === writer && !written ? otherNameOf(facts, reader, step, readerName) : null;
  if (other) return codeFact(other);
  return written ? codeFact(written) : facts.statementFact(step);
}

/** Another path to a tensor than a name, that the running function sees: `model.weight` of what is also `before`. */
function otherNameOf(facts: RunFacts, uid: string, step: number, name: string) {
  return (
    facts.naming
      .namesAsRead(step)
      .namesOf(uid)
      .find(({ text, scope }) => text !== name && !scope)?.text ?? null
  );
}

/** As much of a target's path as leads to a tensor or an array of the memory: of `x.grad.data[0]` it is `x.grad`. */
function pathWritten(facts: RunFacts, step: number, name: string, storage: string): string | null {
  const tree = facts.syntax(step);
  const readers = handlesReadingStorage(facts, storage, step);
  const targets = (tree ? assignments(tree) : []).map(({ target }) => target).filter((each) => rootName(each) === name);
  for (const target of targets)
    for (let part: SyntaxNode | undefined = target; part?.kind; part = part.children[0])
      if (readers.includes(facts.resolve(part, step) ?? "")) return pathText(part);
  return targets.some(({ kind }) => kind !== "Name") ? null : name;
}

/** The step from which reader and writer share memory. */
function sharingStepBefore(facts: RunFacts, uid: string, writer: string | null, step: number, tag: NameTag) {
  if ((uid === writer || !writer) && tag.kind === "item") {
    const stored = stepStored(facts, uid, tag, step);
    if (stored !== null) return stored;
  }
  if (uid === writer || !writer) {
    const isFree = (name: string, frame: string | null | undefined) =>
      facts.scan.initialFields(frame)?.free?.includes(name) ?? false;
    const bindings = facts.bindingsOf(uid).filter((binding) => binding.step <= step);
    const bound = isFree(tag.text, tag.frame)
      ? bindings.find(({ name }) => name === tag.text)
      : facts.meaningsOf(tag.frame, tag.text).findLast((meaning) => meaning.step <= step);
    const other = bindings.findLast(({ name, frame }) => name !== tag.text || !isFree(name, frame));
    return Math.max(bound?.step ?? facts.birthStep(uid), writer ? (other?.step ?? 0) : 0);
  }
  const sharingStepOf = (handleUid: string) =>
    facts.history.fieldChanges(handleUid, "storage").findLast((change) => change.step < step)?.step ??
    facts.birthStep(handleUid);
  const laterStep = Math.max(sharingStepOf(uid), sharingStepOf(writer));
  return laterStep < step ? laterStep : sharingStepOf(uid);
}

/** Whether `detach()` made a handle, or `.data`, which records no operation. */
function isMadeByDetach(facts: RunFacts, uid: string) {
  const op = facts.producingOperation(uid);
  return !op || operationName(op.name) === "detach";
}

/** The variant of the finding; `by` is the handle that was written through. */
function sharedMemoryVariant(
  facts: RunFacts,
  { step, storage }: WriteEvent,
  by: string | null,
  uid: string,
  tag: NameTag,
) {
  if (facts.steps[step].visit) return "grad";
  if (uid === by && facts.naming.gradPathAt(uid, step)) return "grad_written";
  if (uid[0] === "a" && (!by || by[0] === "a")) return "arrays";
  if (!by || uid[0] === "a" || by[0] === "a") return "numpy";
  if (
    uid === by ||
    (tag.kind === "item" && !facts.tensor(uid, step)?.base && facts.mentionsAt(step).targets.has(firstNameOf(tag.text)))
  )
    return tag.kind === "item" ? "stored" : "same_tensor";
  const [reader, writer] = [facts.tensor(uid, step), facts.tensor(by, step)];
  if (reader?.stride?.includes(0)) return "expanded";
  if (reader?.base && reader.base === by) return "view";
  if (writer?.base === uid) return "base";
  if (reader?.base && reader.base === writer?.base) return "views";
  const isBase = handlesReadingStorage(facts, storage, step).some((handle) => facts.tensor(handle, step)?.base === uid);
  if (reader?.base || isBase) return "views";
  const isInContainer = [uid, by].some((handle) => facts.nameText(handle, step)?.endsWith("]"));
  if (tag.kind === "item" && isInContainer) return "container";
  if (facts.isParameter(uid) && facts.isParameter(by)) return "parameters";
  return isMadeByDetach(facts, uid) || isMadeByDetach(facts, by) ? "detached" : "same_memory";
}
