/**
 * A second name for a module that is trained on: what was meant as a copy of the best, the old or the target changes
 * along.
 */

import { asFound, codeFact, diagnosis as declare, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { itemsOfChange } from "../facts/object_history.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import { referencedUid } from "../../trace/names.ts";
import { tensorsOfModule } from "../facts/module_tensors.ts";
import {
  callArgument,
  calleeName,
  methodCalls,
  pathSteps,
  pathText,
  receiver,
  rootName,
} from "../../syntax/expressions.ts";
import { mentionedNames, nameUses } from "../../syntax/name_uses.ts";
import { assignments, bareExpression, statementsAround } from "../../syntax/statements.ts";
import { nodesOfKind, statementTree, type SyntaxNode } from "../../syntax/tree.ts";
import type { Value } from "../../trace/wire.ts";

export const FINDINGS = [
  declare({
    kind: "same_module",
    severity: "warning",
    of: (facts) => secondNameFindings(facts).values(),
    say: asFound,
  }),
];

/** Names for something that is to stay as it is, or to follow slowly, while another goes on. */
export const SNAPSHOT_NAME_PATTERN =
  /(?:^|[_.]|\p{Script=Han})(?:best|old|prev(?:ious)?|copy|copied|snapshot|snap|backup|bak|initial|init|orig(?:inal)?|before|ref(?:erence)?|target|teacher|ema|frozen|saved|cloned?|start)(?:_|\d|\p{Script=Han}|$)|最好|最佳|最优|旧|之前|副本|备份|快照|初始|原始|参考|目标|教师|老师|冻结|保存/iu;

const MAX_STATEMENTS = 400;

/** One name given to a module, or to its state dict, that has another. */
interface SecondName {
  /**
   * name: the second, root: where it begins, target: as it is written; of: what it is given, an expression of `object`,
   * the module
   */
  name: string;
  root: string;
  target: SyntaxNode;
  of: SyntaxNode;
  object: SyntaxNode;
  module: string;
  /** it is given within an `if` or a loop, where a better one is found; count: how often the container has it */
  isConditional: boolean;
  count: number;
  step: number;
}

/** The findings, by the second name. */
export const secondNameFindings = memoizePerRun((facts: RunFacts): Map<string, Diagnosis> => {
  const out = new Map<string, { given: SecondName; diagnosis: Diagnosis }>();
  for (const given of secondNames(facts)) {
    const diagnosis = diagnosisOf(facts, given);
    const earlier = out.get(given.name);
    if (diagnosis && (!earlier || (given.isConditional && !earlier.given.isConditional)))
      out.set(given.name, { given, diagnosis });
  }
  return new Map([...out].map(([name, { diagnosis }]) => [name, diagnosis]));
});

/** The names that are given to a module beside its own, each statement once. */
function secondNames(facts: RunFacts): SecondName[] {
  const out: SecondName[] = [];
  const seen = new Set<SyntaxNode>();
  facts.steps.forEach(({ kind }, i) => {
    const tree = kind === "statement" && seen.size <= MAX_STATEMENTS ? facts.syntax(i) : null;
    if (!tree || seen.has(tree)) return;
    const names = assignedNames(facts, i, tree);
    if (names.length) seen.add(tree);
    out.push(...names, ...appendedNames(facts, i, tree));
  });
  return out;
}

function assignedNames(facts: RunFacts, step: number, tree: SyntaxNode): SecondName[] {
  return assignments(tree).flatMap(({ target, value, operator }) => {
    const root = rootName(target);
    if (!root || !value || operator) return [];
    const object = receiverOfStateDict(value) ?? value;
    const name = pathText(target) ?? target.text;
    const module = name === pathText(object) ? null : moduleAt(facts, object, step);
    if (!module) return [];
    const isConditional = isWithinIfOfLoop(facts, step);
    return [{ name, root, target, of: value, object, module, isConditional, count: 1, step }];
  });
}

/** The module of which an expression is the state dict, or a shallow copy of that. */
function receiverOfStateDict(node: SyntaxNode): SyntaxNode | null {
  const object = node.kind === "Call" ? receiver(node) : null;
  if (calleeName(node) === "state_dict") return object;
  return object && calleeName(node) === "copy" ? receiverOfStateDict(object) : null;
}

function appendedNames(facts: RunFacts, step: number, tree: SyntaxNode): SecondName[] {
  const call = bareExpression(tree);
  const list = call?.kind === "Call" && calleeName(call) === "append" ? receiver(call) : null;
  const of = list && call && callArgument(call, "object", 0);
  const [root, module] = [rootName(list), of && moduleAt(facts, of, step)];
  if (!list || !of || !root || !module) return [];
  const object = facts.object(facts.resolve(list, step), step);
  const items = object?.type === "list" ? (object.items ?? []) : [];
  const count = items.filter((item) => referencedUid(item as Value) === module).length;
  const name = pathText(list) ?? list.text;
  return count > 1 ? [{ name, root, target: list, of, object: of, module, isConditional: true, count, step }] : [];
}

/** The module that an expression means, where it has parameters. */
function moduleAt(facts: RunFacts, node: SyntaxNode, step: number): string | null {
  const uid = facts.resolve(node, step);
  return uid?.[0] === "o" && tensorsOfModule(facts, uid, step).length ? uid : null;
}

/** Whether a statement stands in an `if` that a loop runs again and again. */
function isWithinIfOfLoop({ trace: { program }, steps }: RunFacts, step: number) {
  const kinds = [...statementsAround(program, steps[step].stmt ?? -1)].map((stmt) => program.statements?.[stmt].kind);
  const innermost = kinds.indexOf("If");
  return innermost >= 0 && kinds.slice(innermost).some((kind) => kind === "For" || kind === "While");
}

function diagnosisOf(facts: RunFacts, given: SecondName): Diagnosis | null {
  const { name, root, target, of, object, module, step, isConditional, count } = given;
  const first = pathText(object) ?? object.text;
  const isSnapshot = SNAPSHOT_NAME_PATTERN.test(name) && !SNAPSHOT_NAME_PATTERN.test(first);
  if (!isSnapshot && !(isConditional && object.kind === "Name")) return null;
  const write = firstWriteAfter(facts, module, step);
  if (!write && isSnapshot && of === object) return frozenDiagnosis(facts, given, first);
  if (!write || isRenamed(facts, first, step)) return null;
  const read = facts.steps.findIndex(
    ({ kind }, i) =>
      i > write.step &&
      ["statement", "return", "head"].includes(kind) &&
      isReadAt(facts, i, root, name) &&
      mayShareMemory(facts, facts.resolve(target, i, i - 1), module, i - 1),
  );
  const isStateDict = of !== object;
  if (read < 0 && !isConditional) return null;
  // one may want to see it move
  if (isStateDict && !isConditional && !isLoadedLater(facts, root, write.step)) return null;
  const x = codeFact(name);
  const y = codeFact(first);
  return {
    variant: isStateDict ? "state_dict" : count > 1 ? "list" : "module",
    cause: step,
    chain: [[step, "shares", [module]], [write.step, "written", [write.uid]], read >= 0 && [read, "read", [module]]],
    facts: {
      x,
      y,
      copied: codeFact(`copy.deepcopy(${first}${isStateDict ? ".state_dict()" : ""})`),
      n: count,
      effect: facts.steps[write.step].line,
      tensor: facts.nameFact(write.uid, write.step),
    },
    fixes: [["copy_of_module", { of: of.text }]],
  };
}

/** Where a module is frozen by its second name, and an optimizer was given it by its first. */
function frozenDiagnosis(facts: RunFacts, { name, root, module, step }: SecondName, first: string): Diagnosis | null {
  for (const uid of tensorsOfModule(facts, module, step)) {
    const frozen = facts.history
      .fieldChanges(uid, "requires_grad")
      .find((each) => each.step > step && !each.value)?.step;
    const { program } = facts.trace;
    const around = frozen === undefined ? [] : [facts.steps[frozen].stmt ?? -1];
    const trees = around
      .flatMap((stmt) => [stmt, ...statementsAround(program, stmt)])
      .map((stmt) => statementTree(program, stmt));
    const optimizer = facts.optimizers.find(
      ({ uid: each, steps }) => steps.length && facts.parametersOf(each, steps[0]).includes(uid),
    );
    if (frozen === undefined || !optimizer || !trees.some((tree) => tree && mentionedNames(tree).has(root))) continue;
    const [x, y] = [codeFact(name), codeFact(first)];
    return {
      variant: "frozen",
      cause: step,
      chain: [
        [step, "shares", [module]],
        [frozen, "cut", [uid]],
        [optimizer.steps[0], "used", [uid]],
      ],
      names: [x, y],
      facts: {
        x,
        y,
        copied: codeFact(`copy.deepcopy(${first})`),
        frozen: facts.lineOf(frozen),
        tensor: facts.nameFact(uid, step),
      },
      fixes: [["copy_of_module", { of: first }]],
    };
  }
  return null;
}

/** Whether an object is a module, or may hold its tensors as a state dict does; true where that is not shown. */
function mayShareMemory(facts: RunFacts, uid: string | null, module: string, step: number) {
  const storageOf = (tensor: string | null) => facts.tensor(tensor ?? "", step)?.storage;
  const held = uid && uid !== module ? itemsOfChange(facts.object(uid, step)?.items, null).map(referencedUid) : [];
  const storages = tensorsOfModule(facts, module, step).map(storageOf);
  const isModule = uid !== null && uid !== module && tensorsOfModule(facts, uid, step).length > 0;
  return !isModule && (!held.length || held.some((each) => each === module || storages.includes(storageOf(each))));
}

/** Whether a module is to be put back to what a name holds. */
function isLoadedLater(facts: RunFacts, root: string, step: number) {
  return facts.steps.some((_, i) => {
    const tree = i > step ? facts.syntax(i) : null;
    return tree !== null && methodCalls(tree, "load_state_dict").length > 0 && mentionedNames(tree).has(root);
  });
}

/** Whether a statement reads what a name leads to, and does not only give it another meaning. */
function isReadAt(facts: RunFacts, step: number, root: string, name: string) {
  const tree = facts.syntax(step);
  const [, attribute] = /^\w+\.(\w+)/u.exec(name) ?? [];
  if (attribute)
    return nodesOfKind(tree, "Attribute").some(({ value, field }) => value === attribute && field !== "targets");
  const reads = (tree && nameUses(tree).read.get(root)) ?? [];
  const written = tree && reads.length ? assignedTargets(tree, name).map((target) => pathSteps(target)?.root) : [];
  return reads.some((node) => !written.includes(node));
}

/** What a statement gives another meaning that is written so. */
function assignedTargets(tree: SyntaxNode, name: string) {
  return assignments(tree).flatMap(({ target, operator }) => (!operator && pathText(target) === name ? [target] : []));
}

/** The first write of one of a module's parameters by an optimizer, or the program, after a step. */
function firstWriteAfter(facts: RunFacts, module: string, step: number): { uid: string; step: number } | null {
  const writes = tensorsOfModule(facts, module, step).flatMap((uid) => {
    const write = facts.writesOf(facts.tensor(uid, step)?.storage).find((other) => other.step > step);
    return write ? [{ uid, step: write.step }] : [];
  });
  return writes.sort((a, b) => a.step - b.step)[0] ?? null;
}

/** Whether the first name may be given another meaning later: then the module goes on under the second. */
function isRenamed(facts: RunFacts, name: string, step: number) {
  return facts.steps.some(({ kind }, i) => {
    if (i <= step || kind !== "statement") return false;
    const tree = facts.syntax(i);
    return tree === null || assignedTargets(tree, name).length > 0;
  });
}
