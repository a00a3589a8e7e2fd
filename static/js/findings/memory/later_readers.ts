/** Names by which a program later reads memory that a statement wrote under another name. */

import { operationName, type RunFacts } from "../diagnosis.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { referencedUid, type NameTag } from "../../trace/names.ts";
import { cellReads } from "../../trace/reads.ts";
import { addToList } from "../../trace/multimap.ts";
import {
  calleeName,
  callsIn,
  comparisonOperators,
  firstNameOf,
  methodCalls,
  receiver,
  rootName,
} from "../../syntax/expressions.ts";
import { isOnlyBound, nameUses } from "../../syntax/name_uses.ts";
import { assignments, bareExpression, isConditional, loopHead, rootNameOfCalls } from "../../syntax/statements.ts";
import { nodesOfKind, type SyntaxNode } from "../../syntax/tree.ts";
import type { Step } from "../../trace/wire.ts";
import { itemsOfChange } from "../facts/object_history.ts";
import { resolvePath } from "../facts/resolve.ts";
import { isWrittenByCalledModule, type WriteEvent } from "../facts/write_origins.ts";

const MAX_COMPARED_ELEMENTS = 4096;
/** The path of an optimizer's own state, which programs do not read. */
const OPTIMIZER_STATE = /\.(?:state|param_groups)\[/;
/** A path through attributes to where a module keeps a tensor. */
const ATTRIBUTE_PATH = /^[^.[]+(?:\.|\[.*\]\.)/;
const WHOLLY_OVERWRITING_OPERATION = /^(?:copy|fill|zero|normal|uniform)_$/;
const NEW_MEMORY = /^(?:new_)?(?:empty|full|ones|zeros)(?:_like)?$/;
const COMPARING_FUNCTIONS = new Set(["equal", "allclose", "isclose", "array_equal", "eq", "ne"]);

export interface LaterReader {
  uid: string;
  tag: NameTag;
  /** the step that uses its name next */
  used: number;
}

/** the steps that use each name, in order; isBound: the step only assigns to the name */
type StepsByName = Map<string, { at: number; isBound: boolean }[]>;

export function stepsUsingNames(facts: RunFacts): StepsByName {
  const out: StepsByName = new Map();
  facts.steps.forEach((traceStep, i) => {
    if (traceStep.kind !== "statement" && traceStep.kind !== "return" && traceStep.kind !== "head") return;
    const goesOn = isLoopGoingOn(facts, traceStep);
    const tree = facts.syntax(i);
    const bound = goesOn && tree ? nameUses(tree).bound : null;
    for (const name of facts.mentionsAt(i).names)
      if (!goesOn || bound?.has(name)) addToList(out, name, { at: i, isBound: goesOn || isOnlyBound(tree, name) });
  });
  return out;
}

/** Whether a `for` takes its next item or ends, where it does not evaluate again what it goes through. */
function isLoopGoingOn({ trace: { program } }: RunFacts, { kind, stmt, iter }: Step) {
  const isFor = program.statements?.[stmt ?? -1]?.kind.endsWith("For");
  return Boolean(isFor) && (kind === "statement" || (iter?.at(-1) ?? 0) > 0);
}

/** Whether another living handle, or a second name, may read what was written. */
export function hasOtherReaders(facts: RunFacts, write: WriteEvent) {
  const { storage, step, by } = write;
  const { bindingsByUid: bindings } = facts.scan;
  if (facts.steps[step].visit) return Boolean(by && (bindings.has(by) || tensorsInCollections(facts).has(by)));
  const isParameter =
    facts.history.valueAt(by ?? "", "leaf", step) && facts.history.valueAt(by ?? "", "requires_grad", step);
  // a parameter and its gradient have a path besides the variable
  const isNamedTwice = isParameter || (by && facts.gradientTensors.has(by));
  if ((bindings.get(by ?? "")?.length ?? 0) > (isNamedTwice || isWrittenByCalledModule(facts, write) ? 0 : 1))
    return true;
  const isStored = by && tensorsInCollections(facts).has(by);
  if (isStored && !isParameter) return true;
  const others = handlesReadingStorage(facts, storage, step).filter((uid) => uid !== by);
  // without a writer that is known one of its own arrays wrote, unless it lies within another's memory
  return others.length > (by || isWithinOtherStorage(facts, write) ? 0 : 1);
}

/** The first name, other than the statement's own, through which the program later reads what a step wrote. */
export function laterReader(facts: RunFacts, write: WriteEvent, stepsByName: StepsByName): LaterReader | null {
  const { visit, frame } = facts.steps[write.step];
  const reader = visit
    ? laterReaderOfGrad(facts, write, stepsByName)
    : laterReaderOfWrite(facts, write, frame ?? "", stepsByName);
  return reader && !isOverwrittenBy(facts, write, reader.used) ? reader : null;
}

function laterReaderOfWrite(
  facts: RunFacts,
  write: WriteEvent,
  frameUid: string,
  stepsByName: StepsByName,
): LaterReader | null {
  const { targets, names: mentionedNames } = facts.mentionsAt(write.step);
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
    if (isRowToFill(facts, uid, frameUid, targets, write.step)) continue;
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
    const reader = nextReaderByName(facts, uid, names, write.step, stepsByName);
    if (reader) return reader;
  }
  return (
    laterReaderByOtherName(facts, write, frameUid, stepsByName) ??
    laterReaderOfArgument(facts, write, frameUid, stepsByName)
  );
}

/** A variable that a statement only passes to a layer, which overwrites it, and that the same function reads later. */
function laterReaderOfArgument(
  facts: RunFacts,
  write: WriteEvent,
  frameUid: string,
  stepsByName: StepsByName,
): LaterReader | null {
  const { by, step } = write;
  if (!by || !isWrittenByCalledModule(facts, write)) return null;
  const { names, targets } = facts.mentionsAt(step);
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
    stepsByName,
  );
}

/**
 * Another name of the tensor that was written: a second variable, or an item of a list or dict that the statement does
 * not mention. The update of a parameter counts only if the program compares the old value later.
 */
function laterReaderByOtherName(
  facts: RunFacts,
  { by, step, storage }: WriteEvent,
  frameUid: string,
  stepsByName: StepsByName,
): LaterReader | null {
  const handle = by ? facts.handle(by, step) : undefined;
  if (!by || !handle) return null;
  if (handle.requires_grad && handle.leaf) return parameterComparedLater(facts, by, step, stepsByName);
  const { targets, names: mentionedNames } = facts.mentionsAt(step);
  const [onlyOther, ...moreOthers] = handlesReadingStorage(facts, storage, step).filter((other) => other !== by);
  const uid = facts.naming.nameAt(by, step) || moreOthers.length ? by : (onlyOther ?? by);
  const owner = facts.tensor(uid, step);
  if (uid !== by && owner?.requires_grad && owner.leaf) return parameterComparedLater(facts, uid, step, stepsByName);
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
  return nextReaderByName(facts, uid, [...otherVariables, ...unmentionedItems, ...laterItems], step, stepsByName);
}

/** A variable meant to remember a parameter's old value, which is compared with it after an update. */
function parameterComparedLater(
  facts: RunFacts,
  uid: string,
  step: number,
  stepsByName: StepsByName,
): LaterReader | null {
  const { targets } = facts.mentionsAt(step);
  const tags = (facts.namesAt(step).tags.get(uid) ?? []).filter(
    ({ kind, text }) => kind === "var" && !targets.has(text),
  );
  const firstNamedStep = facts.bindingsOf(uid)?.[0]?.step ?? 0;
  for (const tag of tags) {
    // the same name in a function within, or in one that was given it, is no second one
    const binding = facts.bindingsOf(uid).find(({ name }) => name === tag.text);
    const isSecondName =
      binding && facts.steps[binding.step].kind === "statement" && binding.step > facts.birthStep(uid);
    // what it has been called from the start
    if (!isSecondName && (binding?.step ?? firstNamedStep) <= firstNamedStep) continue;
    const reader = nextReaderByName(facts, uid, [tag], step, stepsByName);
    if (
      reader &&
      isComparison(facts.syntax(reader.used)) &&
      facts.mentionsAt(reader.used).names.has(firstNameOf(tag.text))
    )
      return reader;
  }
  return null;
}

/** Whether a statement compares values: by `==`, a difference, or a function such as `torch.equal`. */
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

/** A name of the program's for a `.grad` to which a backward adds. */
function laterReaderOfGrad(facts: RunFacts, { by, step }: WriteEvent, stepsByName: StepsByName): LaterReader | null {
  const names = (facts.namesAt(step).tags.get(by ?? "") ?? []).filter(({ kind }) => kind !== "grad");
  return by ? nextReaderByName(facts, by, names, step, stepsByName) : null;
}

/** The first of a handle's names that is read after a step before it gets another meaning. */
export function nextReaderByName(
  facts: RunFacts,
  uid: string,
  tags: NameTag[],
  step: number,
  stepsByName: StepsByName,
): LaterReader | null {
  for (const tag of tags.flatMap((each) => [each, ...sameVariableInClosures(facts, uid, each, step)])) {
    const calling = callingStatement(facts, step, tag.frame ?? callerOf(facts, tag, step));
    const nextUse = stepsByName
      .get(firstNameOf(tag.text))
      ?.find(
        ({ at, isBound }) =>
          at > step &&
          !(calling.includes(at) && !rebindsOrReadsTwice(facts, at, firstNameOf(tag.text))) &&
          (!tag.frame || facts.steps[at].frame === tag.frame) &&
          !(isBound && tag.kind === "item" && isConditional(facts.trace.program, facts.steps[at].stmt ?? -1)),
      );
    if (!nextUse || nextUse.isBound || isGivenAgain(facts, nextUse.at, calling, tag)) continue;
    const useStep = nextUse.at;
    const meaningThen = facts.meaningsOf(tag.frame, tag.text).findLast((meaning) => meaning.step < useStep);
    if (tag.kind === "item" && leadsElsewhere(facts, uid, tag, useStep)) continue;
    if (tag.kind !== "var" || meaningThen?.uid === uid) return { uid, tag, used: useStep };
  }
  return null;
}

/** Whether a path leads to a tensor of other memory by the time that a statement reads it. */
function leadsElsewhere(facts: RunFacts, uid: string, { text }: NameTag, useStep: number) {
  const found = facts.tensor(resolvePath(facts, text, useStep, useStep - 1), useStep - 1);
  const storage = facts.tensor(uid, useStep - 1)?.storage;
  return Boolean(found && storage && found.storage !== storage);
}

/** The same variable as the functions know it that take it from the function around them. */
function sameVariableInClosures(facts: RunFacts, uid: string, { kind, text, frame }: NameTag, step: number): NameTag[] {
  if (kind !== "var") return [];
  return (facts.namesAt(step).tags.get(uid) ?? []).filter((other) => {
    if (other.kind !== kind || other.text !== text || other.frame === frame) return false;
    return facts.scan.initialFields(other.frame)?.free?.includes(firstNameOf(text)) ?? false;
  });
}

/**
 * Whether all of the written memory has got numbers by another handle by the end of a step, so that what was written
 * shows nowhere: `p.data.copy_(q)` after a write to `q`.
 */
function isOverwrittenBy(facts: RunFacts, { storage, step, by }: WriteEvent, end: number) {
  const shape = facts.handle(by, step)?.shape?.join();
  return facts.scan.operationsNamed(WHOLLY_OVERWRITING_OPERATION).some((op) => {
    const target = op.step > step && op.step <= end && op.inputs[0] !== by ? facts.handle(op.inputs[0], op.step) : null;
    return target?.storage === storage && target?.shape?.join() === shape;
  });
}

/**
 * The steps that end the statement in which a caller stood while a function that it called wrote; none where the name
 * is of the function itself.
 */
function callingStatement(facts: RunFacts, step: number, frame: string | null | undefined): number[] {
  if (!frame || frame === facts.steps[step].frame) return [];
  const isOfCaller = ({ frame: of, kind }: Step) => of === frame && (kind === "statement" || kind === "return");
  const first = facts.steps.findIndex((traceStep, at) => at > step && isOfCaller(traceStep));
  if (first < 0) return [];
  const then = facts.steps.findIndex((traceStep, at) => at > first && isOfCaller(traceStep));
  return then > 0 && facts.steps[then].kind === "return" && facts.steps[then].line === facts.steps[first].line
    ? [first, then]
    : [first];
}

/** The frame whose variable a path begins with, where that was there before the function that runs at a step. */
function callerOf(facts: RunFacts, { root }: NameTag, step: number) {
  return facts.birthStep(root) < facts.birthStep(facts.steps[step].frame) ? root : null;
}

/** Whether the statement that made a call names something more than once, or gives its name to what came back. */
function rebindsOrReadsTwice(facts: RunFacts, at: number, name: string) {
  const tree = facts.syntax(at);
  const uses = tree && nameUses(tree);
  return (uses?.read.get(name)?.length ?? 0) > 1 || Boolean(uses?.bound.has(name));
}

/** Whether a caller gives a name to what a call gave back, or calls for nothing but what it does to its argument. */
function isGivenAgain(facts: RunFacts, at: number, calling: number[], { text, kind }: NameTag) {
  if (kind !== "var" || !calling.length) return false;
  const trees = calling.map((step) => facts.syntax(step));
  if (calling.includes(at) && trees.some((tree) => tree && nameUses(tree).bound.has(text))) return true;
  const names = facts.mentionsAt(calling[0]).names;
  return names.has(text) && trees[0] !== null && bareExpression(trees[0])?.kind === "Call";
}

/** Whether a tensor was in a list or dict before the variable was bound to it, so that its item changes as expected. */
function wasStoredBefore(facts: RunFacts, uid: string, name: string, frame: string) {
  const stored = tensorsInCollections(facts).get(uid);
  const bound = facts.bindingsOf(uid).find((binding) => binding.name === name && binding.frame === frame);
  return stored !== undefined && bound !== undefined && stored < bound.step;
}

/** Every tensor that was ever an item of a list, tuple or dict, with the first step at which it was. */
const tensorsInCollections = memoizePerRun((facts: RunFacts): Map<string, number> => {
  const out = new Map<string, number>();
  for (const { step, fields } of facts.index.objectChanges)
    for (const item of itemsOfChange(fields.items, fields.splice)) {
      const ref = referencedUid(item);
      if (ref?.[0] === "t" && !out.has(ref)) out.set(ref, step);
    }
  return out;
});

/** The handles that read a storage and exist both before and after a step. */
export function handlesReadingStorage(facts: RunFacts, storageUid: string, step: number) {
  return facts.index.handlesOfStorage(storageUid, step).filter((uid) => facts.birthStep(uid) < step);
}

/** The object of a statement that is nothing but a method call: it is expected to change its own contents. */
function receiverName(facts: RunFacts, step: number) {
  const tree = facts.syntax(step);
  const call = tree && bareExpression(tree);
  const object = call?.kind === "Call" ? receiver(call) : null;
  return object && rootNameOfCalls(object);
}

/** Whether one of a handle's names is what the statement writes to. */
export function isStatementTarget(tags: NameTag[], targets: Set<string>) {
  return tags.some(({ kind, text }) => kind === "var" && targets.has(text));
}

/** Whether a loop takes a variable from an unnamed state dict: writing it is meant for the module. */
function isTakenFromStateDict(facts: RunFacts, name: string, frame: string, step: number) {
  const bound = facts.meaningsOf(frame, name).findLast((meaning) => meaning.step <= step);
  return (
    bound !== undefined && methodCalls(loopHead(facts.syntax(bound.step))?.iterable ?? null, "state_dict").length > 0
  );
}

/** Whether a statement writes to a loop's variable that means a row of memory which was made to be filled. */
function isRowToFill(facts: RunFacts, uid: string, frame: string, targets: Set<string>, step: number) {
  if (!NEW_MEMORY.test(operationName(facts.producingOperation(uid)?.name ?? ""))) return false;
  return [...targets].some((name) => {
    const bound = facts.meaningsOf(frame, name).findLast((meaning) => meaning.step <= step);
    return bound && facts.steps[bound.step].kind === "head" && facts.tensor(bound.uid, step)?.base === uid;
  });
}

/** Whether a target of the statement contains the handle, as `self` contains what others call `model.weight`. */
function isWithinTarget(tags: NameTag[], targets: Set<string>) {
  return tags.some(({ kind, text }) => kind === "item" && targets.has(firstNameOf(text)));
}

/** Whether an attribute path in the statement starts at one of its targets and leads to the handle. */
function isTargetPath(facts: RunFacts, uid: string, step: number) {
  const { targets } = facts.mentionsAt(step);
  return nodesOfKind(facts.syntax(step), "Attribute").some(
    (path) => targets.has(rootName(path) ?? "") && facts.resolve(path, step) === uid,
  );
}

/** Whether a NumPy array may have written: one that shares the memory or contains it. */
function mayArrayHaveWritten(facts: RunFacts, write: WriteEvent) {
  const isArray = (uid: string) => uid[0] === "a";
  return isWithinOtherStorage(facts, write) || handlesReadingStorage(facts, write.storage, write.step).some(isArray);
}

function isWithinOtherStorage(facts: RunFacts, { storage, step }: WriteEvent) {
  const entity = facts.stateAt(step).get(storage);
  return entity?.kind === "storage" && Boolean(entity.within);
}

/** Whether a path goes through an attribute; a point inside a key does not count. */
function isPathOfAttribute(path: string) {
  return path.replace(/\[[^\]]*\]/g, "").includes(".");
}

/** The cells that were written; null where the trace does not say. */
function cellsWritten({ region, storage }: WriteEvent): Set<number> | null {
  if (!region) return null;
  const cells = cellReads({ ...region, storage }, MAX_COMPARED_ELEMENTS).map(({ cell }) => cell);
  return cells.length ? new Set(cells) : null;
}
