/**
 * A hook gave back what can't stand in the place of the gradient that it got: of another size or type, or too few of
 * them.
 */

import { codeFact, declareErrorDiagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { tupleText } from "../../trace/format.ts";
import { hookName, hookRegistrations } from "./hook_registration.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "hook_result",
    message: /^hook '([^']*)' has (changed the size|changed the type|returned an incorrect number)/,
    say: invalidHookResult,
  }),
];

/** The methods whose hooks may give back another gradient. */
const METHODS = ["register_hook", "register_prehook", "register_full_backward_hook", "register_full_backward_pre_hook"];

function invalidHookResult(facts: RunFacts, step: number, [, called, wrong]: RegExpExecArray): Diagnosis {
  const hook = called === "<lambda>" ? "lambda" : (called.split(".").at(-1) ?? called);
  const registered = hookRegistration(facts, hook, step);
  const returned = facts.steps.findLastIndex(
    ({ kind, line }, i) => i <= step && kind === "return" && line > 0 && isWithinBackward(facts, i),
  );
  const cause = returned >= 0 ? returned : (registered?.step ?? step);
  const x = registered?.uid ? facts.nameFact(registered.uid, registered.step) : codeFact(hook);
  const shape = registered?.uid ? facts.tensor(registered.uid, step)?.shape : null;
  const variant = { "changed the size": "size", "changed the type": "type" }[wrong] ?? "count";
  return {
    variant: variant === "size" && shape ? "shape" : variant,
    cause,
    chain: [
      registered && [registered.step, "hooked", [registered.uid]],
      returned >= 0 && [returned, "way"],
      [step, "checked", [registered?.uid]],
    ],
    names: [x, codeFact(hook)],
    facts: {
      x,
      hook: codeFact(hook),
      code: facts.statementFact(cause),
      message: facts.error?.message ?? "",
      ...(shape ? { shape: tupleText(shape) } : {}),
    },
    fixes: [["remove_return", { name: hook }]],
  };
}

/** Whether a step belongs to a call that the engine made. */
function isWithinBackward(facts: RunFacts, step: number) {
  const call = facts.backwardAt(step);
  return call !== undefined && facts.steps[step].depth > (facts.steps[call.step].depth ?? 0);
}

/**
 * Where a hook of that name was hung up before a step, and on which tensor. Of several on tensors it is the one whose
 * node the backward did not come to any more.
 */
function hookRegistration(facts: RunFacts, hook: string, before: number): { step: number; uid: string | null } | null {
  const registersHook = (step: number) =>
    hookRegistrations(facts.syntax(step), ...METHODS).some(({ hook: node }) =>
      node.kind === "Lambda" ? hook === "lambda" : hookName(node).split(".").at(-1) === hook,
    );
  const registrations = [...facts.index.lifetimes.values()].flatMap(({ uid, kind }) => {
    if (kind !== "tensor") return [];
    const hookChange = facts.history
      .fieldChanges(uid, "hooks")
      .findLast(({ step, value }) => step < before && value && registersHook(step));
    return hookChange ? [{ step: hookChange.step, uid }] : [];
  });
  const unvisited = registrations.filter(
    ({ uid }) => !facts.index.visitStepsByNode.has(String(facts.gradFnOf(uid, before))),
  );
  if (unvisited.length || registrations.length) return unvisited.at(-1) ?? registrations.at(-1) ?? null;
  const step = facts.steps.findLastIndex(({ kind }, i) => i < before && kind === "statement" && registersHook(i));
  return step < 0 ? null : { step, uid: null };
}
