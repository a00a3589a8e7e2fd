/**
 * A learning rate or the like set where no step reads it: in a copy of the groups, in the defaults, or in the last
 * group alone.
 */

import { codeFact, diagnosis, fixHint, type RunFacts } from "../diagnosis.ts";
import {
  callArgument,
  attributeRead,
  calleeName,
  calleePath,
  literalValue,
  pathText,
  receiver,
} from "../../syntax/expressions.ts";
import { isAssignmentTarget, nameUses } from "../../syntax/name_uses.ts";
import { assignments, loopHead, loopVariables, mayCallMethod, statementsAround } from "../../syntax/statements.ts";
import { childOf, statementTree, statementTrees, walk, type SyntaxNode } from "../../syntax/tree.ts";
import type { Program } from "../../trace/wire.ts";

export const FINDINGS = [
  diagnosis({
    kind: "module_flag",
    severity: "warning",
    when: (facts) => facts.optimizers.length,
    of: (facts) => facts.findInStatements((tree, stmt) => lostOptions(facts.trace.program, tree, stmt)),
    once: ({ stmt }) => stmt,
    say: (facts, { step, found }) => {
      const { variant, owner, option, loop } = found;
      const set = facts.optimizer(facts.resolve(owner, step));
      const later = set?.steps.find((other) => other > step);
      if (!set || later === undefined) return null;
      if (variant === "last_group" && !areOthersLeft(facts, set.uid, set.steps)) return null;
      const path = pathText(owner) ?? owner.text;
      const optimizer = codeFact(path);
      const findingFacts = {
        optimizer,
        attribute: codeFact(option),
        path,
        name: option,
        loop: loop || facts.place(step).line,
        effect: facts.place(later).line,
      };
      const fix = {
        copied_groups: fixHint("live_groups", { line: findingFacts.loop, step }),
        defaults: fixHint("group_option", facts.place(step), { path, name: option }),
        last_group: fixHint("into_loop_above", facts.place(step)),
      }[variant];
      return {
        variant,
        cause: step,
        chain: [
          [step, "made"],
          [later, "none"],
        ],
        names: [optimizer, findingFacts.attribute],
        facts: findingFacts,
        fixes: [fix],
      };
    },
  }),
];

const OPTIONS = new Set(["lr", "momentum", "weight_decay", "betas"]);

/** owner: the optimizer; loop: the line of the loop that is about it, 0 where there is none */
interface LostOption {
  variant: "copied_groups" | "defaults" | "last_group";
  owner: SyntaxNode;
  option: string;
  loop: number;
}

/** What a statement sets to no effect, as it and the loops around it say. */
function lostOptions(program: Program, tree: SyntaxNode, stmt: number): LostOption[] {
  return assignments(tree).flatMap(({ target }) => {
    const option = target.kind === "Subscript" ? literalValue(childOf(target, "slice")) : undefined;
    if (typeof option !== "string" || !OPTIONS.has(option)) return [];
    const [group] = target.children;
    const copied = group.kind === "Subscript" ? ownerOfCopiedGroups(group.children[0]) : null;
    if (copied) return { variant: "copied_groups", owner: copied, option, loop: 0 };
    const read = attributeRead(group);
    if (read?.attribute === "defaults" && !mayReadDefaults(program))
      return { variant: "defaults", owner: read.object, option, loop: 0 };
    return (group.kind === "Name" && optionOfLoop(program, stmt, String(group.value), option)) || [];
  });
}

/** Of `optimizer.state_dict()["param_groups"]` the optimizer. */
function ownerOfCopiedGroups(node: SyntaxNode): SyntaxNode | null {
  const isOfGroups = node.kind === "Subscript" && literalValue(childOf(node, "slice")) === "param_groups";
  return isOfGroups && calleeName(node.children[0]) === "state_dict" ? receiver(node.children[0]) : null;
}

/** Whether a program may read an optimizer's defaults after it has set them. */
function mayReadDefaults(program: Program) {
  const isSet = ({ parent }: SyntaxNode) => parent?.kind === "Subscript" && isAssignmentTarget(parent);
  const reads = (tree: SyntaxNode) =>
    [...walk(tree)].some((node) => attributeRead(node)?.attribute === "defaults" && !isSet(node));
  return (
    mayCallMethod(program, "add_param_group") || statementTrees(program).some((tree) => tree === null || reads(tree))
  );
}

/** Of `name["lr"] = …`: the loop that gives the name its meaning, where it goes through a copy, or has ended before. */
function optionOfLoop(program: Program, stmt: number, name: string, option: string): LostOption | null {
  const statements = program.statements ?? [];
  for (const outer of statementsAround(program, stmt)) {
    const around = statementTree(program, outer);
    if (!around) return null;
    if (!loopHead(around) || !loopVariables(around).has(name)) continue;
    const iterable = iteratedExpression(around, name);
    const owner = iterable && ownerOfCopiedGroups(iterable);
    return owner ? { variant: "copied_groups", owner, option, loop: statements[outer].line } : null;
  }
  const before = statements.findLastIndex(({ parent }, other) => {
    if (other >= stmt || parent !== statements[stmt].parent) return false;
    const tree = statementTree(program, other);
    return !tree || nameUses(tree).bound.has(name);
  });
  const loop = statementTree(program, before);
  const iterable = loop && iteratedExpression(loop, name);
  const read = iterable && attributeRead(iterable);
  return read?.attribute === "param_groups"
    ? { variant: "last_group", owner: read.object, option, loop: statements[before].line }
    : null;
}

/** What a loop goes through that gives a name each item; `enumerate` may count them. */
function iteratedExpression(loop: SyntaxNode, name: string): SyntaxNode | null {
  const head = loopHead(loop);
  if (!head) return null;
  const isCounted = calleePath(head.iterable) === "builtins.enumerate";
  const item = isCounted ? head.target.children[1] : head.target;
  if (item?.kind !== "Name" || item.value !== name) return null;
  return isCounted ? callArgument(head.iterable, "iterable", 0) : head.iterable;
}

/** Whether of several groups the last alone came to another rate. */
function areOthersLeft(facts: RunFacts, optimizer: string, steps: number[]) {
  const [first, last] = [steps[0], steps.at(-1) ?? steps[0]].map((step) => facts.groupsOf(optimizer, step));
  if (first.length < 2 || first.length !== last.length) return false;
  return first.slice(0, -1).every(({ lr }, k) => typeof lr === "number" && lr === last[k].lr);
}
