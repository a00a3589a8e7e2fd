/**
 * A hook that sees another tensor than was meant, or none: left on an older node, shown an input that is overwritten,
 * hung up where no backward comes any more, or on a module whose `forward` is called directly, which asks no hook.
 */

import { codeFact, diagnosis } from "../diagnosis.ts";
import type { BackwardCall, Diagnosis, EventOccurrence, RunFacts } from "../diagnosis.ts";
import { referencedUid } from "../../trace/names.ts";
import { methodCalls, receiver } from "../../syntax/expressions.ts";
import { mayCallMethod } from "../../syntax/statements.ts";
import { hookName, hookRegistrations, nameOfTensorHook } from "./hook_registration.ts";
import type { Delta, Value } from "../../trace/wire.ts";

const KIND = { kind: "hook_misses", severity: "warning" } as const;

export const FINDINGS = [
  diagnosis({ ...KIND, of: (facts) => facts.eventsOfKind("hook_left"), say: hookLeftOnOldNode }),
  diagnosis({ ...KIND, of: ({ index }) => index.frameChanges, say: overwrittenHookInput }),
  diagnosis({ ...KIND, of: hookedTensors, say: hookNeverReached }),
  diagnosis({ ...KIND, of: hookedTensors, say: hookRegisteredTooLate }),
  diagnosis({ ...KIND, of: forwardsCalledDirectly, once: ({ stmt }) => stmt, say: hookSkippedByForward }),
];

const MODULE_METHODS = ["register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"];

/** A hook that stayed with the node from before a write in place. */
function hookLeftOnOldNode(facts: RunFacts, { step, tensor, node }: EventOccurrence<"hook_left">): Diagnosis {
  const change = facts.history.fieldChanges(tensor, "hooks").findLast((each) => each.step < step && each.value);
  const hooked = change?.step ?? facts.birthStep(tensor);
  const x = facts.nameFact(tensor, step);
  const hook = codeFact(nameOfTensorHook(facts, tensor, hooked) ?? "hook");
  return {
    variant: "left_behind",
    cause: step,
    chain: [
      [hooked, "hooked", [tensor]],
      [step, "written", [tensor, node]],
    ],
    names: [x, hook],
    facts: { x, hook, hooked: facts.steps[hooked].line },
    fixes: [["move_hook", { to: lineOfLastInPlaceWrite(facts, tensor, step) }, hooked]],
  };
}

/**
 * The line of the last write of a tensor in place before the next backward; `step` is that of the first that left a
 * hook behind.
 */
function lineOfLastInPlaceWrite(facts: RunFacts, uid: string, step: number) {
  const backward = facts.backwardCalls.find((call) => call.step > step)?.step ?? facts.steps.length;
  const writes = facts.scan.inPlaceOperationsByTensor.get(uid) ?? [];
  return facts.steps[writes.findLast((op) => op.step >= step && op.step < backward)?.step ?? step].line;
}

/** A forward hook whose input is what the module wrote its output over. `frame` is its call. */
function overwrittenHookInput(facts: RunFacts, { step, fields: frame }: { step: number; fields: Delta }) {
  const args = Object.values(frame.vars ?? {});
  const found = frame.kind && facts.steps[step].kind === "call" ? writeOverHookInput(facts, args, step) : null;
  if (!found) return null;
  const { module, input, written } = found;
  const caller = facts.steps.findLastIndex(
    ({ kind }, k) => k < step && kind === "statement" && k >= facts.birthStep(input),
  );
  const x = facts.nameFact(input, Math.max(facts.birthStep(input), caller));
  const moduleName = facts.nameFact(module, step);
  const hook = codeFact(frame.name ?? "hook");
  const birthStep = facts.birthStep(module);
  return {
    variant: "input_overwritten",
    cause: step,
    chain: [
      [birthStep, "made", [module], { x: moduleName }],
      [written.step, "written", [input]],
      [{ line: frame.line ?? facts.steps[step].line, step }, "read", [input], { code: hook }],
    ],
    names: [x, moduleName, hook],
    facts: { x, module: moduleName, hook, n: written.changed ?? 0, made: facts.steps[birthStep]?.line ?? 0 },
    fixes: [["not_inplace", {}, birthStep]],
  } satisfies Diagnosis;
}

/**
 * The write in the same call over a tensor that is both input and output. `args` are those of a hook: module, inputs,
 * output.
 */
function writeOverHookInput(facts: RunFacts, args: Value[], step: number) {
  const [module, inputs, output] = args.map(referencedUid);
  if (!output || !facts.object(module, step)) return null;
  const items = (facts.object(inputs, step)?.items ?? []).map((item) => referencedUid(item as Value));
  const storage = facts.handle(output, step)?.storage;
  const input = items.find((uid) => uid && storage && facts.handle(uid, step)?.storage === storage);
  const written = facts
    .writesOf(storage)
    .findLast((event) => event.step <= step && facts.steps[event.step].stmt === facts.steps[step].stmt);
  return input && module && written && facts.birthStep(input) < written.step ? { module, input, written } : null;
}

interface HookedTensor {
  uid: string;
  /** the step that hung up its first hook, and what that is called */
  hooked: number;
  name: string;
}

function hookedTensors(facts: RunFacts): HookedTensor[] {
  if (!mayCallMethod(facts.trace.program, "register_hook")) return [];
  return [...facts.index.lifetimes.values()].flatMap(({ uid, kind }) => {
    const hung = kind === "tensor" ? facts.history.fieldChanges(uid, "hooks").find(({ value }) => value) : undefined;
    const name = hung && nameOfTensorHook(facts, uid, hung.step);
    return hung && name ? [{ uid, hooked: hung.step, name }] : [];
  });
}

/** A hook of a tensor to which no backward came. */
function hookNeverReached(facts: RunFacts, { uid, hooked, name }: HookedTensor): Diagnosis | null {
  const isTold = ({ tensor }: { tensor?: string | null }) => tensor === uid;
  if (facts.eventsOfKind("hook_ran").some(isTold) || facts.eventsOfKind("hook_left").some(isTold)) return null;
  const node = facts.gradFnOf(uid, hooked);
  // a hook stays with the node when the tensor is freed
  if (facts.visitsOf(node).some((step) => step > hooked)) return null;
  const isNodeFreed = (before: number) => facts.deathStep(node) < before && !facts.visitsOf(node).length;
  const call = facts.backwardCalls.find(
    (each) =>
      each.step > hooked &&
      !didBackwardRaise(facts, each) &&
      (each.step <= facts.deathStep(uid) || isNodeFreed(each.step)),
  );
  if (!call) return null;
  const x = facts.nameFact(uid, hooked);
  const hook = codeFact(name);
  return {
    variant: "never_run",
    severity: "note",
    cause: hooked,
    chain: [
      [hooked, "hooked", [uid]],
      [call, "starts", call.roots],
    ],
    names: [x, hook],
    facts: { x, hook, code: facts.backwardStatementFact(call), backward: facts.steps[call.step].line },
  };
}

/** Whether a backward ended by raising: what it did not come to, it might have. */
function didBackwardRaise({ steps }: RunFacts, { step, end }: BackwardCall) {
  return steps.slice(step, end + 1).some(({ kind, visit }) => kind === "raise" || visit?.failed);
}

/** A hook of a tensor that was hung up when the last backward had been. */
function hookRegisteredTooLate(facts: RunFacts, { uid, hooked, name }: HookedTensor): Diagnosis | null {
  const last = facts.backwardCalls.at(-1);
  const [accumulated] = facts.gradientsTo(uid);
  if (!last || hooked <= last.end || !accumulated) return null;
  const x = facts.nameFact(uid, hooked);
  const hook = codeFact(name);
  return {
    variant: "too_late",
    cause: hooked,
    chain: [
      [accumulated.step, "gradient", [uid]],
      [hooked, "hooked", [uid]],
    ],
    names: [x, hook],
    facts: { x, hook, backward: facts.place(accumulated.step).line },
    fixes: [["move_before", { to: facts.place(last.step).line }]],
  };
}

/** a call of a module's `forward`, and the hook of that module which is not entered */
interface DirectForward {
  step: number;
  stmt: number;
  module: string;
  hooked: number;
  name: string;
}

function forwardsCalledDirectly(facts: RunFacts): DirectForward[] {
  const enteredFunctions = new Set(facts.index.frameChanges.map(({ fields }) => fields.name));
  const registered = facts
    .findInStatements((tree) => hookRegistrations(tree, ...MODULE_METHODS))
    .flatMap(({ step, found: { object, hook } }) => {
      const name = hookName(hook);
      const isEntered = hook.kind !== "Lambda" && enteredFunctions.has(name.split(".").at(-1));
      const module = isEntered ? null : facts.resolve(object, step);
      return module ? [{ step, module, name }] : [];
    });
  if (!registered.length) return [];
  return facts
    .findInStatements((tree) => methodCalls(tree, "forward"))
    .flatMap(({ step, stmt, found }) => {
      const module = facts.resolve(receiver(found), step);
      const hung = registered.find((each) => each.module === module && each.step < step);
      return hung ? [{ step, stmt, module: hung.module, hooked: hung.step, name: hung.name }] : [];
    });
}

function hookSkippedByForward(facts: RunFacts, { step, module, hooked, name }: DirectForward): Diagnosis {
  const x = facts.nameFact(module, step);
  const hook = codeFact(name);
  return {
    variant: "forward_called",
    cause: step,
    chain: [
      [hooked, "hooked", [module]],
      [step, "way", [module]],
    ],
    names: [x, hook],
    facts: { x, hook, hooked: facts.steps[hooked].line },
    fixes: [["call_module"]],
  };
}
