/** A loss that is a Python number when `backward()` is asked of it: it left the graph, or never came into it. */

import { codeFact, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { methodCalls, pathText, receiver } from "../../syntax/expressions.ts";
import { assignments } from "../../syntax/statements.ts";
import { walk, type SyntaxNode } from "../../syntax/tree.ts";

const NO_BACKWARD_ERROR = /^'(int|float|bool|complex|numpy\.\w+)' object has no attribute 'backward'$/;
const pathsFilledBy = new WeakMap<SyntaxNode, string[]>();
const NUMBER_CONVERSIONS = new Set(["item", "numpy", "copy"]);

export function lossAsNumber(facts: RunFacts, step: number): Diagnosis | null {
  const type = NO_BACKWARD_ERROR.exec(facts.error?.message ?? "")?.[1];
  const [backward] = methodCalls(facts.syntax(step), "backward");
  const name = backward && pathText(receiver(backward));
  const frameUid = facts.steps[step]?.frame;
  const binding = facts.meaningsOf(frameUid, name).findLast((meaning) => meaning.step < step);
  if (!type || !name || !binding) return null;
  const conversion = lastNumberConversion(facts, binding.step);
  const conversionStep = conversion?.step ?? binding.step;
  const y = codeFact(name);
  const x = conversion ? facts.nameFact(conversion.tensor, conversionStep) : y;
  const bindingFacts = { x: y, code: facts.statementFact(binding.step) };
  return {
    variant: conversion ? "number" : "plain_number",
    cause: conversionStep,
    chain: [
      conversion && [conversionStep, "cut", [conversion.tensor]],
      !(binding.step === conversionStep && conversion) && [binding.step, "moved", [], bindingFacts],
      [step, "checked"],
    ],
    names: [y, x],
    facts: { x, y, type: codeFact(type) },
    fixes: conversion ? [["cut_item", { name }]] : [],
  };
}

/** The last time that a tensor was made a number or an array, of which the statement at a step makes its value. */
export function lastNumberConversion(facts: RunFacts, step: number) {
  const tree = facts.syntax(step);
  const paths = new Set(tree ? [...walk(tree)].map(pathText) : []);
  return facts.eventsOfKind("path_cut").findLast((event) => {
    if (!NUMBER_CONVERSIONS.has(event.reason) || event.step > step) return false;
    const { set, frame } = facts.steps[event.step];
    const names = [...Object.keys(set?.[frame ?? ""]?.vars ?? {}), ...assignedPaths(facts.syntax(event.step))];
    return event.step === step || names.some((path) => paths.has(path));
  });
}

/** The attributes that a statement gives a value to, and the containers that it puts something in. */
function assignedPaths(tree: SyntaxNode | null): string[] {
  if (!tree) return [];
  const known = pathsFilledBy.get(tree);
  if (known) return known;
  const targets = assignments(tree).map(({ target }) => (target.kind === "Subscript" ? target.children[0] : target));
  const containers = methodCalls(tree, "append", "extend", "insert").map(receiver);
  const paths = [...targets, ...containers].map(pathText).filter((path) => path !== null);
  pathsFilledBy.set(tree, paths);
  return paths;
}
