/**
 * A hook that sees another tensor than was meant: left on an older node, shown an input that is overwritten, or never
 * run.
 */

import { codeFact, type BackwardCall, type Diagnosis, type DiagnosisRow, type RunFacts } from "../diagnosis.ts";
import { findEntity } from "../../trace/entities.ts";
import { referencedUid } from "../../trace/names.ts";
import { mayCallMethod } from "../../syntax/statements.ts";
import { nameOfTensorHook } from "./hook_registration.ts";
import { diagnoseHooksNotRun } from "./hooks_not_run.ts";
import type { Delta, Value } from "../../trace/wire.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "hook_misses", severity: "warning", diagnose: diagnoseMisplacedHooks },
];

function diagnoseMisplacedHooks(facts: RunFacts): Diagnosis[] {
  return [
    ...hooksLeftOnOldNode(facts),
    ...overwrittenHookInputs(facts),
    ...hooksNeverReached(facts),
    ...diagnoseHooksNotRun(facts),
  ];
}

/** Hooks that stayed with the node from before a write in place. */
function hooksLeftOnOldNode(facts: RunFacts): Diagnosis[] {
  const seen = new Set();
  return facts.eventsOfKind("hook_left").flatMap(({ step, tensor, node }) => {
    const line = facts.steps[step].line;
    if (seen.has(line)) return [];
    seen.add(line);
    const hung = hookRegistration(facts, tensor, step);
    const x = facts.nameFact(tensor, step);
    const hook = codeFact(hung.hook);
    return [
      {
        variant: "left_behind",
        cause: step,
        chain: [
          [hung.step, "hooked", [tensor]],
          [step, "written", [tensor, node]],
        ],
        names: [x, hook],
        facts: { x, hook, hooked: facts.steps[hung.step].line },
        fixes: [["move_hook", { to: lineOfLastInPlaceWrite(facts, tensor, step) }, hung.step]],
      },
    ];
  });
}

/**
 * The line of the last write of a tensor in place before `step`, that of the first backward that left a hook behind.
 */
function lineOfLastInPlaceWrite(facts: RunFacts, uid: string, step: number) {
  const backward = facts.backwardCalls.find((call) => call.step > step)?.step ?? facts.steps.length;
  const later = (facts.scan.inPlaceOperationsByTensor.get(uid) ?? []).filter(
    (op) => op.step >= step && op.step < backward,
  );
  return facts.steps[later.at(-1)?.step ?? step].line;
}

/** The step before `before` that hung up the hooks of a tensor, and the hook as that line calls it. */
function hookRegistration(facts: RunFacts, uid: string, before: number) {
  const change = facts.history.fieldChanges(uid, "hooks").findLast(({ step, value }) => step < before && value);
  const step = change?.step ?? facts.birthStep(uid);
  return { step, hook: nameOfTensorHook(facts, uid, step) ?? "hook" };
}

/** Forward hooks whose input is what the module wrote its output over. */
function overwrittenHookInputs(facts: RunFacts): Diagnosis[] {
  /** by line */
  const out = new Map<number, Diagnosis>();
  for (const { step, fields } of facts.index.frameChanges) {
    const { kind, line } = facts.steps[step];
    if (kind !== "call" || out.has(line) || !fields.kind || Object.keys(fields.vars ?? {}).length < 3) continue;
    const write = writeOverHookInput(facts, Object.values(fields.vars ?? {}), step);
    if (write) out.set(line, overwrittenInputDiagnosis(facts, fields, write, step));
  }
  return [...out.values()];
}

/**
 * The write in the same call over a tensor that is both input and output. `args` are those of a hook: module, inputs,
 * output.
 */
function writeOverHookInput(facts: RunFacts, args: Value[], step: number) {
  const [module, inputs, output] = args.map(referencedUid);
  const state = facts.stateAt(step);
  if (!findEntity(state, module, "object") || !output) return null;
  const items = (findEntity(state, inputs, "object")?.items ?? []).map((item) => referencedUid(item as Value));
  const storage = facts.handle(output, step)?.storage;
  const input = items.find((uid) => uid && storage && facts.handle(uid, step)?.storage === storage);
  const written = facts
    .writesOf(storage)
    .findLast((event) => event.step <= step && facts.steps[event.step].stmt === facts.steps[step].stmt);
  return input && module && written && facts.birthStep(input) < written.step ? { module, input, written } : null;
}

function overwrittenInputDiagnosis(
  facts: RunFacts,
  frame: Delta,
  { module, input, written }: NonNullable<ReturnType<typeof writeOverHookInput>>,
  step: number,
): Diagnosis {
  const caller = facts.steps.findLastIndex(
    ({ kind }, k) => k < step && kind === "statement" && k >= facts.birthStep(input),
  );
  const x = facts.nameFact(input, Math.max(facts.birthStep(input), caller));
  const moduleName = facts.nameFact(module, step);
  const hook = codeFact(frame.name ?? "hook");
  const birthStep = facts.birthStep(module);
  return {
    variant: "input_overwritten",
    severity: "warning",
    cause: step,
    chain: [
      [birthStep, "made", [module], { x: moduleName }],
      [written.step, "written", [input]],
      [{ line: frame.line ?? facts.steps[step].line, step }, "read", [input], { code: hook }],
    ],
    names: [x, moduleName, hook],
    facts: { x, module: moduleName, hook, n: written.changed ?? 0, made: facts.steps[birthStep]?.line ?? 0 },
    fixes: [["not_inplace", {}, birthStep]],
  };
}

/** Hooks of tensors to which no backward came. */
function hooksNeverReached(facts: RunFacts): Diagnosis[] {
  if (!mayCallMethod(facts.trace.program, "register_hook")) return [];
  const hooksRun = new Set(facts.eventsOfKind("hook_ran").map(({ tensor }) => tensor));
  const leftBehind = new Set(facts.eventsOfKind("hook_left").map(({ tensor }) => tensor));
  /** by line */
  const out = new Map<number, Diagnosis>();
  for (const { uid, kind, death } of facts.index.lifetimes.values()) {
    if (kind !== "tensor" || hooksRun.has(uid) || leftBehind.has(uid)) continue;
    const hung = facts.history.fieldChanges(uid, "hooks").find(({ value }) => value);
    const name = hung && nameOfTensorHook(facts, uid, hung.step);
    if (!hung || !name) continue;
    const call = facts.backwardCalls.find(
      (each) =>
        each.step > hung.step &&
        !didBackwardRaise(facts, each) &&
        (each.step <= death || isHookedNodeFreed(facts, uid, hung.step, each.step)),
    );
    if (!call || wasNodeVisited(facts, uid, hung.step) || out.has(facts.steps[hung.step].line)) continue;
    const x = facts.nameFact(uid, hung.step);
    const hook = codeFact(name);
    out.set(facts.steps[hung.step].line, {
      variant: "never_run",
      severity: "note",
      cause: hung.step,
      chain: [
        [hung.step, "hooked", [uid]],
        [call, "starts", call.roots],
      ],
      names: [x, hook],
      facts: { x, hook, code: facts.backwardStatementFact(call), backward: facts.steps[call.step].line },
    });
  }
  return [...out.values()];
}

/** Whether a backward ended by raising: what it did not come to, it might have. */
function didBackwardRaise({ steps }: RunFacts, { step, end }: BackwardCall) {
  return steps.slice(step, end + 1).some(({ kind, visit }) => kind === "raise" || visit?.failed);
}

/** Whether a backward came to the node of a tensor with a hook: the hook stays there when the tensor is freed. */
function wasNodeVisited(facts: RunFacts, uid: string, registered: number): boolean {
  const node = facts.history.valueAt(uid, "grad_fn", registered);
  return typeof node === "string" && facts.visitsOf(node).some((step) => step > registered);
}

/** Whether the node of a tensor with a hook is freed before a backward: nothing can come to it any more. */
function isHookedNodeFreed(facts: RunFacts, uid: string, registered: number, step: number): boolean {
  const node = facts.history.valueAt(uid, "grad_fn", registered);
  const life = typeof node === "string" ? facts.index.lifetimes.get(node) : undefined;
  return life !== undefined && life.death < step && !facts.index.visitStepsByNode.has(life.uid);
}
