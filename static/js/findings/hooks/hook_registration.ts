/** How a program hangs up hooks, of tensors and of modules. */

import type { RunFacts } from "../diagnosis.ts";
import { callArgument, calleeName, calleePath, callsIn, pathText, receiver } from "../../syntax/expressions.ts";
import { childOf, type SyntaxNode } from "../../syntax/tree.ts";

/** `object.register_hook(hook)` */
interface HookRegistration {
  object: SyntaxNode;
  hook: SyntaxNode;
}

/** The hooks that a statement hangs up by methods with these names; without names, by any that does so. */
export function hookRegistrations(tree: SyntaxNode | null, ...methods: string[]): HookRegistration[] {
  return callsIn(tree).flatMap((call) => {
    const [object, method] = [receiver(call), calleeName(call)];
    const hook = callArgument(call, "hook", 0) ?? callArgument(call, "fn", 0);
    const isMeant = methods.length
      ? methods.includes(method)
      : method.startsWith("register_") && method.endsWith("hook");
    return object && hook && isMeant ? [{ object, hook }] : [];
  });
}

/** What a hook is called, else the function that makes it; `hook` where neither has a name. */
export function hookName(hook: SyntaxNode): string {
  const isPartial = calleePath(hook) === "functools.partial";
  return pathText((isPartial ? callArgument(hook, "func", 0) : childOf(hook, "func")) ?? hook) ?? "hook";
}

/** What the hook is called that the statement of a step gives a tensor; null where it gives none. */
export function nameOfTensorHook(facts: RunFacts, uid: string, step: number): string | null {
  const registrations = hookRegistrations(facts.syntax(step), "register_hook");
  const own = registrations.find(({ object }) => facts.resolve(object, step) === uid) ?? registrations[0];
  return own ? hookName(own.hook) : null;
}
