/**
 * A write that is seen through a name which the statement does not write to: a view, an array, a state dict, a second
 * name.
 */

import { referencedUid, type NameTag } from "../../trace/names.ts";
import { cellReads } from "../../trace/reads.ts";
import { addToList } from "../../trace/multimap.ts";
import { codeFact, fixHint, chainLink, nameTextOfFact, namesInFacts, type Diagnosis } from "../finding.ts";
import { gradientTensors } from "../facts/gradient_tensors.ts";
import { diagnoseOverlappingWrites } from "./overlapping_write.ts";
import { mentionsAt } from "../statements/program_text.ts";
import { diagnoseListAppendedAgain } from "./same_list.ts";
import { resolveNode } from "../facts/resolve.ts";
import {
  calleeName,
  calleePath,
  callsIn,
  comparisonOperators,
  firstNameOf,
  methodCalls,
  pathText,
  receiver,
  rootName,
} from "../../syntax/expressions.ts";
import { isOnlyBound, nameUses } from "../../syntax/name_uses.ts";
import {
  assignments,
  expressionOf,
  isConditional,
  loopHead,
  namedValue,
  rootOfCalls,
} from "../../syntax/statements.ts";
import { nodesOfKind, type SyntaxNode } from "../../syntax/tree.ts";
import { secondNameFindings } from "../modules/same_module.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import { operationName } from "../facts/operation_name.ts";
import { isGradcheckStep, isOptimizerStep, writerKindAt } from "../facts/write_facts.ts";
import type { Item, Value } from "../../trace/wire.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { EventOccurrence, Operation } from "../facts/scan.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "shared_memory", severity: "note", diagnose: diagnoseWriteSeenThroughOtherName },
];

type WriteEvent = EventOccurrence<"written">;

interface LaterReader {
  uid: string;
  tag: NameTag;
  /** the step at which its name is next used */
  used: number;
}

/** the steps that use a name; isBound: they only give it a meaning */
type NameUses = Map<string, { at: number; isBound: boolean }[]>;

const MAX_COMPARED_ELEMENTS = 4096;
/** Names cost a walk over all that lives: so many writes are looked at closely. */
const MAX_WRITES_EXAMINED = 24;
const MAX_SHARING_FINDINGS = 6;
/** Of an optimizer, which a program does not read. */
const OPTIMIZER_STATE = /\.(?:state|param_groups)\[/;
/** A way through attributes to the place where a module keeps a tensor. */
const ATTRIBUTE_PATH = /^[^.[]+(?:\.|\[.*\]\.)/;
const COMPARING_FUNCTIONS = new Set(["equal", "allclose", "isclose", "array_equal", "eq", "ne"]);

function diagnoseWriteSeenThroughOtherName(facts: RunFacts): Diagnosis[] {
  const usesByName = stepsUsingNames(facts);
  /** by the line and the name */
  const out = new Map<string, Diagnosis>();
  let examinedCount = 0;
  const seen = new Set();
  for (const write of facts.eventsOfKind("written")) {
    if (isGradcheckStep(facts, write.step)) continue;
    const { stmt, visit, frame } = facts.steps[write.step];
    const key = `${write.storage} ${stmt}`;
    if (seen.has(key) || !hasOtherReaders(facts, write)) continue;
    seen.add(key);
    if (examinedCount++ >= MAX_WRITES_EXAMINED || out.size >= MAX_SHARING_FINDINGS) break;
    const reader = visit
      ? laterReaderOfGrad(facts, write, usesByName)
      : laterReaderOfWrite(facts, write, frame ?? "", usesByName);
    const line = `${facts.steps[write.step].line} ${reader?.tag.text}`;
    if (reader && !out.has(line)) out.set(line, diagnosisOf(facts, write, reader));
  }
  const isToldAsSecondName = ({ facts: { y } }: Diagnosis) =>
    secondNameFindings(facts).has(firstNameOf(nameTextOfFact(y)));
  return [
    ...diagnoseOverlappingWrites(facts),
    ...shallowCopies(facts, usesByName),
    ...diagnoseListAppendedAgain(facts),
    ...[...out.values()].filter((diagnosis) => !isToldAsSecondName(diagnosis)),
  ];
}

/** Parameters that a module made by `copy.copy` shares with its original, and that an optimizer or the program goes
 * on to write. */
function shallowCopies(facts: RunFacts, usesByName: NameUses): Diagnosis[] {
  return facts.steps.flatMap((traceStep, i) => {
    const target = traceStep.kind === "statement" ? nameOfShallowCopy(facts.syntax(i)) : null;
    const copy = target
      ? facts.scan.meaningsByName.get(`${traceStep.frame}/${target}`)?.find((meaning) => meaning.step === i)
      : null;
    if (copy?.uid[0] !== "o") return [];
    for (const write of facts.eventsOfKind("written")) {
      if (write.step <= i || !write.by) continue;
      const tags = facts.namesAt(write.step).tags.get(write.by) ?? [];
      const tag = tags.find(({ text }) => text.startsWith(`${target}.`));
      const reader = tag && tags.length > 1 ? nextReaderByName(facts, write.by, [tag], write.step, usesByName) : null;
      if (!reader) continue;
      const diagnosis = diagnosisOf(facts, write, reader);
      const y = codeFact(`${target}`);
      const shared = chainLink(facts.place(i), "shares", { y, x: diagnosis.facts.x, code: facts.statementFact(i) }, [
        copy.uid,
        write.by,
      ]);
      const findingFacts = { ...diagnosis.facts, y, tensor: reader.tag.text, shared: facts.steps[i].line };
      const fixes = [fixHint("deepcopy_instead", facts.place(i))];
      return [
        {
          ...diagnosis,
          variant: "shallow_copy",
          cause: facts.place(i),
          chain: [shared, ...diagnosis.chain.slice(1)],
          names: namesInFacts(y, ...diagnosis.names),
          facts: findingFacts,
          fixes,
        },
      ];
    }
    return [];
  });
}

/** The name that a statement gives to what `copy.copy` returns. */
function nameOfShallowCopy(tree: SyntaxNode | null) {
  const named = tree && namedValue(tree);
  return named?.value.kind === "Call" && calleePath(named.value) === "copy.copy" ? named.name : null;
}

/** Whether anything else that lives on may read what was written, or know it by a second name. */
function hasOtherReaders(facts: RunFacts, write: WriteEvent) {
  const { storage, step, by } = write;
  const { bindingsByUid: bindings } = facts.scan;
  if (facts.steps[step].visit) return Boolean(by && (bindings.has(by) || tensorsInCollections(facts).has(by)));
  const isParameter =
    tensorHistoryOf(facts).valueAt(by ?? "", "leaf", step) &&
    tensorHistoryOf(facts).valueAt(by ?? "", "requires_grad", step);
  // by the path of the parameter, or its gradient
  const isNamedTwice = isParameter || (by && gradientTensors(facts).has(by));
  if ((bindings.get(by ?? "")?.length ?? 0) > (isNamedTwice || isWrittenByCalledModule(facts, write) ? 0 : 1))
    return true;
  const isStored = by && tensorsInCollections(facts).has(by);
  if (
    isStored &&
    !(tensorHistoryOf(facts).valueAt(by, "leaf", step) && tensorHistoryOf(facts).valueAt(by, "requires_grad", step))
  )
    return true;
  return handlesReadingStorage(facts, storage, step).some((uid) => uid !== by);
}

/**
 * Whether a tensor was in a list or dict before a variable came to mean it: what was taken out to be written is no
 * surprise there.
 */
function wasStoredBefore(facts: RunFacts, uid: string, name: string, frame: string) {
  const stored = tensorsInCollections(facts).get(uid);
  const bound = facts.scan.bindingsByUid.get(uid)?.find((binding) => binding.name === name && binding.frame === frame);
  return stored !== undefined && bound !== undefined && stored < bound.step;
}

const tensorsInCollectionsByTrace = new WeakMap<object, Map<string, number>>();

/** The tensors that ever were items of a list, tuple or dict, with the first step. */
function tensorsInCollections(facts: RunFacts): Map<string, number> {
  const cached = tensorsInCollectionsByTrace.get(facts.trace);
  if (cached) return cached;
  const out = new Map<string, number>();
  for (const { step, fields } of facts.index.objectChanges)
    for (const item of itemsOfChange(fields.items, fields.splice)) {
      const ref = referencedUid(item);
      if (ref?.[0] === "t" && !out.has(ref)) out.set(ref, step);
    }
  tensorsInCollectionsByTrace.set(facts.trace, out);
  return out;
}

/** What a change put into a list, a tuple or, as values, into a dict. */
function itemsOfChange(items: unknown, splice: unknown): Value[] {
  const inserted = ((splice ?? []) as [number, number, Item[]][]).flatMap((edit) => edit[2]);
  return [...((items ?? []) as Item[]), ...inserted].map((item) => (Array.isArray(item) ? item[1] : item) as Value);
}

/** The handles that read a storage before a step and after it. */
function handlesReadingStorage(facts: RunFacts, storageUid: string, step: number) {
  return facts.index.handlesOfStorage(storageUid, step).filter((uid) => facts.birthStep(uid) < step);
}

function laterReaderOfWrite(
  facts: RunFacts,
  write: WriteEvent,
  frameUid: string,
  usesByName: NameUses,
): LaterReader | null {
  const { targets, names: mentionedNames } = mentionsAt(facts, write.step);
  if (!write.by && !mayArrayHaveWritten(facts, write)) return null;
  if ([...targets].some((name) => isTakenFromStateDict(facts, name, frameUid, write.step))) return null;
  const region = cellsWritten(write);
  const readers = handlesReadingStorage(facts, write.storage, write.step);
  if (!write.by) readers.sort((a, b) => Number(a[0] === "a") - Number(b[0] === "a")); // an array wrote: tensors first
  for (const uid of readers) {
    if (uid === write.by) continue;
    const { tags } = facts.namesAt(write.step);
    if (isStatementTarget(tags.get(uid) ?? [], targets)) continue;
    // the array that NumPy was to write
    if (!write.by && isStatementTarget(tags.get(uid) ?? [], mentionedNames)) continue;
    const isReachedByTarget = isWithinTarget(tags.get(uid) ?? [], targets) || isTargetPath(facts, uid, write.step);
    const handle = facts.handle(uid, write.step);
    const cells = region && handle ? cellReads(handle, MAX_COMPARED_ELEMENTS) : [];
    if (region && cells.length && !cells.some(({ cell }) => region.has(cell))) continue;
    const receiver = receiverName(facts, write.step);
    const names = (tags.get(uid) ?? []).filter(
      ({ text, kind }) =>
        kind !== "grad" &&
        !targets.has(firstNameOf(text)) &&
        !(kind === "item" && (firstNameOf(text) === receiver || OPTIMIZER_STATE.test(text))) &&
        !(isReachedByTarget && ATTRIBUTE_PATH.test(text)),
    );
    const reader = nextReaderByName(facts, uid, names, write.step, usesByName);
    if (reader) return reader;
  }
  return (
    laterReaderByOtherName(facts, write, frameUid, usesByName) ??
    laterReaderOfArgument(facts, write, frameUid, usesByName)
  );
}

/**
 * Whether code of torch wrote, other than an optimizer, and the statement does not ask for it: a layer with
 * `inplace=True`.
 */
function isWrittenByCalledModule(facts: RunFacts, write: WriteEvent) {
  const op = inPlaceOperationOfWrite(facts, write);
  return op !== null && writerKindAt(facts, write.step, op, write.storage) === "module";
}

/** The short name of the operation that wrote in place what it was given; null where none did. */
function inPlaceOperationOfWrite(facts: RunFacts, { by, step }: WriteEvent) {
  const isWriter = ({ name, inputs, outputs }: Operation) =>
    by && inputs[0] === by && outputs.includes(by) && operationName(name).endsWith("_");
  const op = facts.opsAt(step).find(isWriter);
  return op ? operationName(op.name) : null;
}

/**
 * A variable that a statement only hands to a layer, which writes over it, and that the same function goes on to read.
 */
function laterReaderOfArgument(
  facts: RunFacts,
  write: WriteEvent,
  frameUid: string,
  usesByName: NameUses,
): LaterReader | null {
  const { by, step } = write;
  if (!by || !isWrittenByCalledModule(facts, write)) return null;
  const { names, targets } = mentionsAt(facts, step);
  const arguments_ = (facts.namesAt(step).tags.get(by) ?? []).filter(
    ({ kind, text, frame }) => kind === "var" && frame === frameUid && names.has(text) && !targets.has(text),
  );
  const tree = facts.syntax(step);
  const assigned = new Set(tree ? assignments(tree).flatMap(({ target }) => [...nameUses(target).bound.keys()]) : []);
  return nextReaderByName(
    facts,
    by,
    arguments_.filter(({ text }) => !assigned.has(text)),
    step,
    usesByName,
  );
}

/** The object whose method a statement calls and does no more: that it changes what it holds is no surprise. */
function receiverName(facts: RunFacts, step: number) {
  const tree = facts.syntax(step);
  const call = tree && expressionOf(tree);
  const object = call?.kind === "Call" ? receiver(call) : null;
  return object && rootOfCalls(object);
}

/** Whether one of a handle's names is what the statement writes to. */
function isStatementTarget(tags: NameTag[], targets: Set<string>) {
  return tags.some(({ kind, text }) => kind === "var" && targets.has(text));
}

/** Whether a loop takes a variable out of a state dict that has no name: who writes it means the module. */
function isTakenFromStateDict(facts: RunFacts, name: string, frame: string, step: number) {
  const bound = facts.scan.meaningsByName.get(`${frame}/${name}`)?.findLast((meaning) => meaning.step <= step);
  return (
    bound !== undefined && methodCalls(loopHead(facts.syntax(bound.step))?.iterable ?? null, "state_dict").length > 0
  );
}

/**
 * Whether what the statement writes to leads to a handle, like `self` to a parameter that others call `model.weight`.
 */
function isWithinTarget(tags: NameTag[], targets: Set<string>) {
  return tags.some(({ kind, text }) => kind === "item" && targets.has(firstNameOf(text)));
}

/**
 * Whether a path through attributes in the statement's text, which begins with a name that it writes to, leads to a
 * handle.
 */
function isTargetPath(facts: RunFacts, uid: string, step: number) {
  const { targets } = mentionsAt(facts, step);
  return nodesOfKind(facts.syntax(step), "Attribute").some(
    (path) => targets.has(rootName(path) ?? "") && resolveNode(facts, path, step) === uid,
  );
}

/** Whether an array may have written: one on the memory, or around it. */
function mayArrayHaveWritten(facts: RunFacts, { storage, step }: WriteEvent) {
  const entity = facts.stateAt(step).get(storage);
  return (
    (entity?.kind === "storage" && entity.within) ||
    handlesReadingStorage(facts, storage, step).some((uid) => uid[0] === "a")
  );
}

/** Another name for the tensor that was written: a second variable, or a place in a list or dict that the statement
 * does not mention. A parameter that is updated is none of that. */
function laterReaderByOtherName(
  facts: RunFacts,
  { by, step, storage }: WriteEvent,
  frameUid: string,
  usesByName: NameUses,
): LaterReader | null {
  const handle = by ? facts.handle(by, step) : undefined;
  if (!by || !handle) return null;
  if (handle.requires_grad && handle.leaf) return parameterComparedLater(facts, by, step, usesByName);
  const { targets, names: mentionedNames } = mentionsAt(facts, step);
  const [onlyOther, ...moreOthers] = handlesReadingStorage(facts, storage, step).filter((other) => other !== by);
  const uid = facts.naming.nameAt(by, step) || moreOthers.length ? by : (onlyOther ?? by);
  const owner = facts.tensor(uid, step);
  if (uid !== by && owner?.requires_grad && owner.leaf) return parameterComparedLater(facts, uid, step, usesByName);
  const tags = facts.namesAt(step).tags.get(uid) ?? [];
  const names = facts.objectNamesAt(step, frameUid).namesOf(uid);
  // a closure's variable is one variable, though two frames have it
  const variables = tags.filter(
    ({ kind, text, frame: of }) => kind === "var" && names.some((name) => name.text === text && name.frame === of),
  );
  const isGradient = Boolean(facts.naming.gradPathAt(uid, step));
  const isFetched = variables.some(
    ({ text, frame: of }) => targets.has(text) && of === frameUid && wasStoredBefore(facts, uid, text, frameUid),
  );
  const itemTags = isFetched ? [] : tags.filter(({ kind, text }) => kind === "item" && !isPathOfAttribute(text));
  const isTargeted = variables.some(({ text, frame: of }) => targets.has(text) && of === frameUid);
  const otherVariables =
    isTargeted || isGradient ? variables.filter(({ text, frame: of }) => !targets.has(text) || of !== frameUid) : [];
  const unmentionedItems = itemTags.filter(({ text }) => !mentionedNames.has(firstNameOf(text)));
  const laterItems = itemTags.filter(({ text }) => targets.has(firstNameOf(text))).slice(1);
  return nextReaderByName(facts, uid, [...otherVariables, ...unmentionedItems, ...laterItems], step, usesByName);
}

/** A variable that was to remember a parameter, and is compared with it after an update. */
function parameterComparedLater(facts: RunFacts, uid: string, step: number, usesByName: NameUses): LaterReader | null {
  const { targets } = mentionsAt(facts, step);
  const tags = (facts.namesAt(step).tags.get(uid) ?? []).filter(
    ({ kind, text }) => kind === "var" && !targets.has(text),
  );
  const firstNamedStep = facts.scan.bindingsByUid.get(uid)?.[0]?.step ?? 0;
  for (const tag of tags) {
    const binding = facts.scan.bindingsByUid
      .get(uid)
      ?.find(({ name, frame }) => name === tag.text && frame === tag.frame);
    const isSecondName =
      binding && facts.steps[binding.step].kind === "statement" && binding.step > facts.birthStep(uid);
    // what it has been called from the start
    if (!isSecondName && (binding?.step ?? firstNamedStep) <= firstNamedStep) continue;
    const reader = nextReaderByName(facts, uid, [tag], step, usesByName);
    if (
      reader &&
      isComparison(facts.syntax(reader.used)) &&
      mentionsAt(facts, reader.used).names.has(firstNameOf(tag.text))
    )
      return reader;
  }
  return null;
}

/** Whether a statement compares values: by `==`, by a difference, or by a function of torch for that. */
function isComparison(tree: SyntaxNode | null) {
  return (
    callsIn(tree).some((call) => COMPARING_FUNCTIONS.has(calleeName(call))) ||
    nodesOfKind(tree, "BinOp").some(({ value }) => value === "-") ||
    nodesOfKind(tree, "Compare").some(
      (node) =>
        comparisonOperators(node).some((text) => text === "==" || text === "!=") &&
        node.children.every(({ kind }) => !["Constant", "List", "Tuple"].includes(kind)),
    )
  );
}

/** A name that the program gave to a `.grad` into which a backward adds. */
function laterReaderOfGrad(facts: RunFacts, { by, step }: WriteEvent, usesByName: NameUses): LaterReader | null {
  const names = (facts.namesAt(step).tags.get(by ?? "") ?? []).filter(({ kind }) => kind !== "grad");
  return by ? nextReaderByName(facts, by, names, step, usesByName) : null;
}

function nextReaderByName(
  facts: RunFacts,
  uid: string,
  tags: NameTag[],
  step: number,
  usesByName: NameUses,
): LaterReader | null {
  for (const tag of tags) {
    const nextUse = usesByName
      .get(firstNameOf(tag.text))
      ?.find(
        ({ at, isBound }) =>
          at > step &&
          (!tag.frame || facts.steps[at].frame === tag.frame) &&
          !(isBound && tag.kind === "item" && isConditional(facts.trace.program, facts.steps[at].stmt ?? -1)),
      );
    if (!nextUse || nextUse.isBound) continue;
    const useStep = nextUse.at;
    const meaningThen = facts.scan.meaningsByName
      .get(`${tag.frame}/${tag.text}`)
      ?.findLast((meaning) => meaning.step < useStep);
    if (tag.kind !== "var" || meaningThen?.uid === uid) return { uid, tag, used: useStep };
  }
  return null;
}

/** Whether a path goes through an attribute; a point within a key is none. */
function isPathOfAttribute(path: string) {
  return path.replace(/\[[^\]]*\]/g, "").includes(".");
}

/** The steps that use each name. */
function stepsUsingNames(facts: RunFacts): NameUses {
  const out: NameUses = new Map();
  facts.steps.forEach((traceStep, i) => {
    if (traceStep.kind === "statement" || traceStep.kind === "return" || traceStep.kind === "head")
      for (const name of mentionsAt(facts, i).names)
        addToList(out, name, { at: i, isBound: isOnlyBound(facts.syntax(i), name) });
  });
  return out;
}

/** Null where the trace does not say which elements. */
function cellsWritten({ region, storage }: WriteEvent): Set<number> | null {
  if (!region) return null;
  const cells = cellReads({ ...region, storage }, MAX_COMPARED_ELEMENTS).map(({ cell }) => cell);
  return cells.length ? new Set(cells) : null;
}

function diagnosisOf(facts: RunFacts, write: WriteEvent, { uid, tag, used: useStep }: LaterReader): Diagnosis {
  const { by, step } = write;
  const writer = writingHandle(facts, write, uid, tag);
  const y = codeFact(tag.text);
  const gradient = facts.naming.gradPathAt(by ?? "", step);
  const writtenName = gradient ? codeFact(gradient) : writerName(facts, write, writer, uid);
  const sharingStep = sharingStepBefore(facts, uid, writer, step, tag);
  const sharingPlace = facts.place(sharingStep);
  const isByLayer = isWrittenByCalledModule(facts, write);
  const isArgument = isByLayer && uid === by && tag.kind === "var" && mentionsAt(facts, step).names.has(tag.text);
  const x = isArgument ? y : isByLayer && by ? facts.nameFact(by, sharingStep) : writtenName;
  const op = inPlaceOperationOfWrite(facts, write) ?? "";
  const isCopyMissing =
    !isArgument && sharingStep < step && (isWrittenByTorch(facts, write) || isKeptWithoutCopy(facts, uid, tag, step));
  return {
    variant: isArgument ? "argument" : isByLayer ? "module" : sharedMemoryVariant(facts, write, writer, uid, tag),
    severity: "note",
    cause: isCopyMissing ? sharingPlace : facts.place(step),
    chain: [
      ...(isArgument
        ? []
        : [chainLink(sharingPlace, "shares", { y, x, code: facts.statementFact(sharingStep) }, [uid, by])]),
      chainLink(facts.place(step), "written", { x, code: facts.statementFact(step) }, [by, write.storage]),
      chainLink(facts.place(useStep), "read", { x: y, code: facts.statementFact(useStep) }, [uid]),
    ],
    names: namesInFacts(y, x),
    facts: {
      line: facts.steps[step].line,
      x,
      y,
      n: write.changed ?? 0,
      shared: sharingPlace.line,
      code: facts.statementFact(step),
      op: codeFact(op),
      effect: facts.steps[useStep].line,
    },
    fixes: isArgument ? [] : [fixHint("clone_shared", sharingPlace, { x: tag.text })],
  };
}

/**
 * Whether a container got the memory of something that went on to be written: then the copy is missing where it was put
 * in. Not where the program took out of the container what it writes.
 */
function isKeptWithoutCopy(facts: RunFacts, uid: string, tag: NameTag, step: number) {
  const stored = tag.kind === "item" ? stepStored(facts, uid, tag, step) : null;
  if (stored === null) return false;
  if (facts.steps[stored].line === facts.steps[facts.birthStep(uid)]?.line) return true;
  return facts.scan.bindingsByUid.get(uid)?.some((binding) => binding.step <= stored) ?? true;
}

/**
 * Whether a backward, an optimizer or a layer wrote, and no statement of the program that asks for it: what it will
 * always write.
 */
function isWrittenByTorch(facts: RunFacts, write: WriteEvent) {
  if (facts.steps[write.step].visit) return true;
  return isOptimizerStep(facts, write.step) || isWrittenByCalledModule(facts, write);
}

/** The step at which the container of a name came to have a thing; null where that is not known. */
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
 * The handle through which a statement writes: what was written if it has a name, else the one of the statement's
 * target, for `x[0] = 1` writes through a view without a name, else another of the memory that has a name. `tag` is a
 * name of the reader.
 */
function writingHandle(
  facts: RunFacts,
  { by, step, storage }: WriteEvent,
  reader: string,
  tag: NameTag,
): string | null {
  if (!by || by === reader || facts.naming.nameAt(by, step)) return by ?? null;
  const { targets } = mentionsAt(facts, step);
  const { tags } = facts.opened.names(step);
  const livingHandles = handlesReadingStorage(facts, storage, step);
  const target = livingHandles.find((uid) => isStatementTarget(tags.get(uid) ?? [], targets));
  if (target && (target !== reader || !targets.has(tag.text))) return target;
  const others = [facts.tensor(by, step)?.base, ...livingHandles];
  return others.find((uid) => uid && uid !== reader && facts.naming.nameAt(uid, step)) ?? by;
}

/** The name of what was written, or the statement's target. */
function writerName(facts: RunFacts, { step, storage }: WriteEvent, writer: string | null, reader: string) {
  const target = [...mentionsAt(facts, step).targets].find((name) => !isOnlyBound(facts.syntax(step), name));
  for (const uid of [writer, ...handlesReadingStorage(facts, storage, step)])
    if (uid && uid !== reader && facts.naming.nameAt(uid, step)) return facts.nameFact(uid, step);
  return target ? codeFact(itemWritten(facts, step, target) ?? target) : facts.statementFact(step);
}

/** The path of a list's or a dict's item that is a tensor, which a statement writes: a list itself has no memory. */
function itemWritten(facts: RunFacts, step: number, name: string): string | null {
  const tree = facts.syntax(step);
  const targets = tree ? assignments(tree).map(({ target }) => target) : [];
  const item = targets.find((target) => rootName(target) === name && resolveNode(facts, target, step));
  return item ? pathText(item) : null;
}

/** The step since which both read the same memory. */
function sharingStepBefore(facts: RunFacts, uid: string, writer: string | null, step: number, tag: NameTag) {
  if ((uid === writer || !writer) && tag.kind === "item") {
    const stored = stepStored(facts, uid, tag, step);
    if (stored !== null) return stored;
  }
  if (uid === writer || !writer) {
    const bound = facts.scan.meaningsByName
      .get(`${tag.frame}/${tag.text}`)
      ?.findLast((meaning) => meaning.step <= step);
    const other = facts.scan.bindingsByUid.get(uid)?.findLast((binding) => binding.step < step);
    return Math.max(bound?.step ?? facts.birthStep(uid), writer ? (other?.step ?? 0) : 0);
  }
  const sharingStepOf = (handleUid: string) =>
    tensorHistoryOf(facts)
      .fieldChanges(handleUid, "storage")
      .findLast((change) => change.step < step)?.step ?? facts.birthStep(handleUid);
  const laterStep = Math.max(sharingStepOf(uid), sharingStepOf(writer));
  return laterStep < step ? laterStep : sharingStepOf(uid);
}

/** Whether `detach()` made a handle, or `.data`, which is no operation. */
function isMadeByDetach(facts: RunFacts, uid: string) {
  const op = facts.producingOperation(uid);
  return !op || operationName(op.name) === "detach";
}

/** The sentence for a write; `by` is the handle that was written through. */
function sharedMemoryVariant(
  facts: RunFacts,
  { step, storage }: WriteEvent,
  by: string | null,
  uid: string,
  tag: NameTag,
) {
  if (facts.steps[step].visit) return "grad";
  if (uid === by && facts.naming.gradPathAt(uid, step)) return "grad_written";
  if (
    uid[0] === "a" ||
    handlesReadingStorage(facts, storage, step).some((handle) => handle[0] === "a" && handle !== uid)
  )
    return "numpy";
  if (!by) return "numpy";
  if (
    uid === by ||
    (tag.kind === "item" &&
      !facts.tensor(uid, step)?.base &&
      mentionsAt(facts, step).targets.has(firstNameOf(tag.text)))
  )
    return tag.kind === "item" ? "stored" : "same_tensor";
  const [reader, writer] = [facts.tensor(uid, step), facts.tensor(by, step)];
  if (reader?.stride?.includes(0)) return "expanded";
  if (reader?.base && reader.base === by) return "view";
  if (writer?.base === uid) return "base";
  if (reader?.base && reader.base === writer?.base) return "views";
  const isBase = handlesReadingStorage(facts, storage, step).some((handle) => facts.tensor(handle, step)?.base === uid);
  if (reader?.base || isBase) return "views";
  if (tag.kind === "item") return "container";
  return isMadeByDetach(facts, uid) || isMadeByDetach(facts, by) ? "detached" : "same_memory";
}
