/**
 * A `load_state_dict` that does not give a module the numbers that were meant: no key matched; `assign=True` parted
 * what was tied; it was of what the module already is; others replace the numbers before anything has read them; a
 * tensor that the module reads is in no `state_dict`.
 */

import {
  codeFact,
  diagnosis,
  statementOfCandidate,
  operationName,
  type Diagnosis,
  type Operation,
  type RunFacts,
} from "../diagnosis.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import { methodCalls, receiver, pathText, literalValue, callArgument } from "../../syntax/expressions.ts";
import { tensorsOfModule } from "../facts/module_tensors.ts";
import { referencedUid } from "../../trace/names.ts";
import { findEntity } from "../../trace/entities.ts";
import type { Value } from "../../trace/wire.ts";
import { SNAPSHOT_NAME_PATTERN } from "./same_module.ts";
import { outermostModuleWithout } from "../training/training_facts.ts";

const LOADS = {
  kind: "load_matched_nothing",
  severity: "warning",
  of: stateDictLoads,
  once: statementOfCandidate,
} as const;

export const FINDINGS = [
  diagnosis({ ...LOADS, say: (facts, load) => nothingLoadedDiagnosis(facts, load) ?? brokenTieDiagnosis(facts, load) }),
  diagnosis({
    ...LOADS,
    say: (facts, load) => {
      const own = loadOfItself(facts, load);
      return own && (own.others.length ? sharedPartDiagnosis(facts, own) : ownStateDiagnosis(facts, own));
    },
  }),
  diagnosis({ ...LOADS, say: loadOverwritten }),
  diagnosis({ ...LOADS, say: leftOut }),
];

/** a call of `load_state_dict`, and the module that it loads into, with the path that leads to it */
interface StateDictLoad {
  step: number;
  call: SyntaxNode;
  path: string;
  module: string;
}

/** Where a program loads a state dict into what a path leads to. */
function stateDictLoads(facts: RunFacts): StateDictLoad[] {
  const calls = facts.findInStatements((tree) => methodCalls(tree, "load_state_dict").slice(0, 1));
  return calls.flatMap(({ step, found: call }) => {
    const into = receiver(call);
    const module = into && facts.resolve(into, step);
    return into && module?.[0] === "o" ? [{ step, call, path: pathText(into) ?? into.text, module }] : [];
  });
}

function nothingLoadedDiagnosis(facts: RunFacts, { step, path, module }: StateDictLoad): Diagnosis | null {
  if (facts.steps[step].skipped) return null;
  const tensors = new Set(tensorsOfModule(facts, module, step));
  if (!tensors.size) return null;
  const isWritten = facts
    .opsAt(step)
    .some((op) => !isCopyOfItself(op) && [...op.outputs, ...op.inputs].some((uid) => tensors.has(uid)));
  const isReplaced = facts.attributeChanges.some((change) => change.step === step && change.after?.[0] === "t");
  if (isWritten || isReplaced) return null;
  const [missing, unexpected] = incompatibleKeys(facts, step);
  const prefix = prefixBetween(missing, unexpected);
  const x = codeFact(path);
  return {
    variant: prefix ? (prefix.isGiven ? "prefix" : "no_prefix") : missing.length && unexpected.length ? "keys" : "none",
    cause: step,
    chain: [
      [facts.birthStep(module), "made", [module]],
      [step, "none", [module]],
    ],
    facts: {
      x,
      n: tensors.size,
      expected: codeFact(missing[0] ?? ""),
      given: codeFact(unexpected[0] ?? ""),
      prefix: codeFact(prefix?.text ?? ""),
    },
    fixes: prefix ? [[prefix.isGiven ? "strip_prefix" : "add_prefix", { prefix: prefix.text }]] : [],
  };
}

/** A batch norm loads its own count of batches where a state has none. */
function isCopyOfItself({ name, inputs }: Operation) {
  return name === "aten::copy_" && inputs.length === 2 && inputs[0] === inputs[1];
}

/** The keys that were missing and those that nobody expected, as the call's value lists them. */
function incompatibleKeys(facts: RunFacts, step: number): [string[], string[]] {
  const entities = facts.stateAt(step);
  const listed = Object.entries(facts.steps[step].set).find(([, fields]) => fields.type === "_IncompatibleKeys");
  const uid = listed?.[0] ?? referencedUid(facts.steps[step].value);
  const object = listed?.[1] ?? findEntity(entities, uid, "object");
  const keys = ((object?.items ?? []) as Value[]).map((item) => {
    const ref = referencedUid(item);
    const list = findEntity(entities, ref, "object")?.items ?? facts.steps[step].set[ref ?? ""]?.items ?? [];
    return (list as Value[]).filter((key): key is string => typeof key === "string");
  });
  return [keys[0] ?? [], keys[1] ?? []];
}

/** What stands before the keys of one side and not before those of the other. */
function prefixBetween(missing: string[], unexpected: string[]): { text: string; isGiven: boolean } | null {
  for (const [inner, outer, isGiven] of [
    [missing, unexpected, true],
    [unexpected, missing, false],
  ] as const) {
    const long = outer.find((key) => inner[0] && key.endsWith(`.${inner[0]}`));
    const text = long?.slice(0, long.length - inner[0].length);
    if (text && inner.every((key) => outer.includes(text + key))) return { text, isGiven };
  }
  return null;
}

/** Two names of one parameter that mean two after a load that exchanged the tensors. */
function brokenTieDiagnosis(facts: RunFacts, { step, path, call }: StateDictLoad): Diagnosis | null {
  if (literalValue(callArgument(call, "assign", 2)) !== true) return null;
  const changes = facts.attributeChanges.filter((change) => change.step === step && change.before && change.after);
  for (const change of changes) {
    const other = changes.find(({ before, after }) => before === change.before && after !== change.after);
    if (!other) continue;
    const [x, y] = [change, other].map(({ after }) => facts.nameFact(after, step));
    return {
      variant: "untied",
      cause: step,
      chain: [[step, "moved", [change.after, other.after]]],
      names: [x, y, codeFact(path)],
      facts: { x, y, module: codeFact(path) },
    };
  }
  return null;
}

interface OwnLoad {
  step: number;
  into: string;
  from: string;
  module: string;
  /** the tensors that were copied onto themselves, and those that were not */
  own: string[];
  others: string[];
}

/** A load between two modules, or paths, that copies tensors onto themselves. */
function loadOfItself(facts: RunFacts, { step, call, path: into, module }: StateDictLoad): OwnLoad | null {
  const [state] = methodCalls(callArgument(call, "state_dict", 0), "state_dict");
  const source = state && receiver(state);
  if (!source) return null;
  const from = pathText(source) ?? source.text;
  const copies = facts.opsAt(step).filter(({ name, inputs }) => name === "aten::copy_" && inputs.length === 2);
  const own = copies.filter(({ inputs: [to, source] }) => {
    const [storage, other] = [facts.tensor(to, step)?.storage, facts.tensor(source, step)?.storage];
    return storage && storage === other;
  });
  if (!own.length) return null;
  const others = copies.filter((copy) => !own.includes(copy)).map(({ inputs }) => inputs[0]);
  return { step, into, from, module, own: own.map(({ inputs }) => inputs[0]), others };
}

/**
 * Of what is to follow another module, after that was trained; a module's state may go through its own dict by way of
 * trial.
 */
function ownStateDiagnosis(facts: RunFacts, { step, into, from, module }: OwnLoad): Diagnosis | null {
  const update = facts.optimizers.flatMap(({ steps }) => steps).find((other) => other < step);
  // of two names `same_module` speaks
  if (update === undefined || into !== from || !SNAPSHOT_NAME_PATTERN.test(into)) return null;
  return {
    variant: "own_state",
    cause: step,
    chain: [
      [update, "way"],
      [step, "none", [module]],
    ],
    facts: { x: codeFact(into), update: facts.place(update).line },
  };
}

/** Of tensors that an optimizer moves after the load, for which one of the two was to be a copy. */
function sharedPartDiagnosis(facts: RunFacts, { step, into, from, module, own, others }: OwnLoad): Diagnosis | null {
  if (!SNAPSHOT_NAME_PATTERN.test(into) || SNAPSHOT_NAME_PATTERN.test(from)) return null;
  const optimizer = facts.optimizers.find(
    ({ uid, steps }) =>
      steps.some((other) => other > step) &&
      facts.parametersOf(uid, steps.at(-1) ?? step).some((param) => own.includes(param)),
  );
  const update = optimizer?.steps.find((other) => other > step);
  if (update === undefined) return null;
  const part = outermostModuleWithout(facts, own[0], others, update);
  const given = facts.attributeChanges.findLast((change) => change.after === module && change.step <= step)?.step;
  const made = given ?? facts.birthStep(module);
  const findingFacts = {
    x: codeFact(into),
    y: codeFact(from),
    part: facts.nameFact(part, update),
    n: own.length,
    load: facts.place(step).line,
    update: facts.place(update).line,
  };
  return {
    variant: "shared_part",
    cause: made,
    chain: [
      [made, "shares", [module]],
      [step, "none", [own[0]]],
      [update, "written", [own[0]]],
    ],
    names: [findingFacts.x, findingFacts.y, findingFacts.part],
    facts: findingFacts,
  };
}

const MAX_STEPS_AHEAD = 2000;
const INITIALISATION = /^(?:normal|uniform|zero|fill|random|bernoulli|exponential|eye)_$/;
/** What puts new numbers in the place of all that were there. */
const REPLACING = /^(?:copy|normal|uniform|zero|fill|random|bernoulli|exponential|erfinv|eye|trunc_normal|set)_$/;
/** What takes a tensor and none of its numbers. */
const READS_NOTHING = /^(?:_has_compatible_shallow_copy_type|detach|alias|view|slice)$/;

/** None where one of the weights that were loaded is left as it was: a head may be initialised anew. */
function loadOverwritten(facts: RunFacts, { step, path, module }: StateDictLoad): Diagnosis | null {
  const loaded = facts.opsAt(step).flatMap(({ name, inputs }) => (name === "aten::copy_" ? [inputs[0]] : []));
  const replaced = loaded.flatMap((uid) => replacementOf(facts, uid, step) ?? []);
  const inForward = replaced.filter((each) => isInForward(facts, each.step));
  // a bias or a norm says little of a checkpoint
  const weights = loaded.filter((uid) => (facts.tensor(uid, step)?.shape?.length ?? 0) > 1);
  const initialised = replaced.filter(({ uid, isInitialisation }) => isInitialisation && weights.includes(uid));
  const isWhole = weights.length > 0 && initialised.length === weights.length;
  const found = inForward.length ? inForward : isWhole ? initialised : [];
  if (!found.length) return null;
  const [{ uid, step: written }] = found.sort((a, b) => a.step - b.step);
  const x = facts.nameFact(uid, inForward.length ? written - 1 : step);
  const load = facts.statementFact(step);
  return {
    variant: inForward.length ? "in_forward" : "overwritten",
    cause: written,
    chain: [
      [step, "way", [inForward.length ? uid : module], { code: load, x: facts.nameFact(uid, step) }],
      [written, "written", [uid]],
    ],
    names: [x, codeFact(path)],
    facts: { x, module: codeFact(path), n: found.length, loaded: facts.lineOf(step), load },
  };
}

interface Replacement {
  uid: string;
  step: number;
  isInitialisation: boolean;
}

/** The step that gave a tensor other numbers, or its module another tensor, before anything read what was loaded. */
function replacementOf(facts: RunFacts, uid: string, loaded: number): Replacement | null {
  const history = facts.history;
  const storage = facts.storageOf(uid, loaded);
  const moved = history.fieldChanges(uid, "storage").find(({ step }) => step > loaded)?.step ?? Infinity;
  const replaced = facts.attributeChanges.find(({ before, step }) => before === uid && step > loaded)?.step ?? Infinity;
  const last = Math.min(moved, replaced);
  const end = Math.min(last, facts.steps.length - 1, loaded + MAX_STEPS_AHEAD);
  for (let step = loaded + 1; step <= end; step++)
    for (const op of facts.opsAt(step)) {
      const name = operationName(op.name);
      const reads = op.inputs.map((each) => facts.tensor(each, step)?.storage === storage || each === uid);
      if (!reads.includes(true) || READS_NOTHING.test(name)) continue;
      const isReplaced = reads[0] && !reads.includes(true, 1) && REPLACING.test(name);
      return isReplaced ? { uid, step, isInitialisation: INITIALISATION.test(name) } : null;
    }
  return last <= end ? { uid, step: last, isInitialisation: false } : null;
}

/** Whether a step runs in a forward, or in what that calls. */
function isInForward(facts: RunFacts, step: number): boolean {
  let uid = facts.steps[step].frame ?? "";
  for (let depth = 0; uid && depth < 50; depth++) {
    const frame = facts.entities.entityAfter(uid, step);
    if (frame?.kind !== "frame") return false;
    if (frame.name === "forward") return true;
    uid = frame.caller ?? "";
  }
  return false;
}

/** What a module computes and keeps, like a hidden state, gets other values with every call; a table is set once. */
const MAX_VALUES = 2;

/** Of a module whose tensors were loaded from another of its class, which is there to be compared with. */
function leftOut(facts: RunFacts, { step, path, module }: StateDictLoad): Diagnosis | null {
  const copies = facts
    .opsAt(step)
    .filter((op) => op.name === "aten::copy_" && op.inputs.length === 2 && !isCopyOfItself(op));
  const loaded = new Set(copies.map(({ inputs }) => inputs[0]));
  const { type } = facts.object(module, step) ?? {};
  const ofClass = facts.index.objectChanges.filter(({ fields, step: made }) => fields.type === type && made < step);
  const alike = new Set(ofClass.map(({ uid }) => uid).filter((uid) => uid !== module));
  if (!loaded.size || alike.size !== 1) return null;
  for (const { name, mine, theirs, changes } of commonTensors(facts, module, [...alike][0], step)) {
    const read =
      loaded.has(mine) || changes > MAX_VALUES ? -1 : (facts.usesOf(mine).find((op) => op.step > step)?.step ?? -1);
    const [own, other] = [mine, theirs].map((uid) => facts.numbersOf(uid, step));
    if (read < 0 || !own || !other || own.join() === other.join()) continue;
    const made = facts.birthStep(mine);
    const [x, y] = [codeFact(`${path}.${name}`), facts.nameFact(theirs, step)];
    return {
      variant: "left_out",
      cause: made,
      chain: [
        [made, "made", [mine]],
        [step, "way", [module]],
        [read, "read", [mine]],
      ],
      facts: { x, y, name: name.split(".").at(-1) ?? name, loaded: facts.lineOf(step), module: codeFact(path) },
    };
  }
  return null;
}

interface CommonTensor {
  name: string;
  mine: string;
  theirs: string;
  /** of the other's, how many it has been */
  changes: number;
}

/** The tensors at the same paths in two modules, without parameters. */
function* commonTensors(facts: RunFacts, module: string, other: string, step: number): Generator<CommonTensor> {
  const queue = [{ mine: module, theirs: other, prefix: "" }];
  const seen = new Set<string>();
  for (const { mine, theirs, prefix } of queue) {
    if (seen.has(mine)) continue;
    seen.add(mine);
    const [own, others] = [mine, theirs].map((uid) => facts.object(uid, step)?.attrs ?? {});
    for (const [key, value] of Object.entries(own)) {
      const [a, b] = [referencedUid(value), referencedUid(others[key])];
      if (!a || !b || a === b) continue;
      if (a[0] === "o" && b[0] === "o") queue.push({ mine: a, theirs: b, prefix: `${prefix}${key}.` });
      const isTensor = [a, b].every((uid) => facts.tensor(uid, step)?.type === "Tensor");
      const changes = facts.attributeChanges.filter(({ owner, name }) => owner === theirs && name === key).length;
      if (isTensor) yield { name: prefix + key, mine: a, theirs: b, changes };
    }
  }
}
