/** Hooks that never run: registered after the last backward, or on a module whose `forward` is called directly. */

import { codeFact, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { hookName, hookRegistrations, nameOfTensorHook } from "./hook_registration.ts";
import { methodCalls, receiver } from "../../syntax/expressions.ts";
import { mayCallMethod } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

const MODULE_METHODS = ["register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"];

export function diagnoseHooksNotRun(facts: RunFacts): Diagnosis[] {
  return [...hooksRegisteredTooLate(facts), ...hooksSkippedByDirectForward(facts)];
}

/** Hooks of tensors that were hung up when the last backward had been. */
function hooksRegisteredTooLate(facts: RunFacts): Diagnosis[] {
  const last = facts.backwardCalls.at(-1);
  if (!last || !mayCallMethod(facts.trace.program, "register_hook")) return [];
  return [...facts.index.lifetimes.values()].flatMap(({ uid, kind }) => {
    const hung = kind === "tensor" ? facts.history.fieldChanges(uid, "hooks").find(({ value }) => value) : undefined;
    const name = hung && nameOfTensorHook(facts, uid, hung.step);
    const [accumulated] = facts.gradientsTo(uid);
    if (!hung || !name || hung.step <= last.end || !accumulated) return [];
    const x = facts.nameFact(uid, hung.step);
    const hook = codeFact(name);
    const accumulatedPlace = facts.place(accumulated.step);
    return [
      {
        variant: "too_late",
        cause: hung.step,
        chain: [
          [accumulatedPlace, "gradient", [uid]],
          [hung.step, "hooked", [uid]],
        ],
        names: [x, hook],
        facts: { x, hook, backward: accumulatedPlace.line },
        fixes: [["move_before", { to: facts.place(last.step).line }]],
      },
    ];
  });
}

/** Hooks of a module whose `forward` is called instead of the module, which asks no hook. */
function hooksSkippedByDirectForward(facts: RunFacts): Diagnosis[] {
  const enteredFunctions = new Set(facts.index.frameChanges.map(({ fields }) => fields.name));
  /** by statement */
  const out = new Map<number, Diagnosis>();
  const registrationsIn = (tree: SyntaxNode) => hookRegistrations(tree, ...MODULE_METHODS);
  const registered = facts.findInStatements(registrationsIn).flatMap(({ step, found: { object, hook: node } }) => {
    const hook = hookName(node);
    const isEntered = node.kind !== "Lambda" && enteredFunctions.has(hook.split(".").at(-1));
    const module = isEntered ? null : facts.resolve(object, step);
    return module ? [{ step, module, hook }] : [];
  });
  if (!registered.length) return [];
  for (const { step: i, stmt, found } of facts.findInStatements((tree) => methodCalls(tree, "forward"))) {
    const module = out.has(stmt) ? null : facts.resolve(receiver(found), i);
    const hung = registered.find((registration) => registration.module === module && registration.step < i);
    if (!hung) continue;
    const x = facts.nameFact(hung.module, i);
    const hook = codeFact(hung.hook);
    out.set(stmt, {
      variant: "forward_called",
      cause: i,
      chain: [
        [hung.step, "hooked", [hung.module]],
        [i, "way", [hung.module]],
      ],
      names: [x, hook],
      facts: { x, hook, hooked: facts.steps[hung.step].line },
      fixes: [["call_module"]],
    });
  }
  return [...out.values()];
}
