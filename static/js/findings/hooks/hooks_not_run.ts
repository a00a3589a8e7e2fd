/** Hooks that never run: registered after the last backward, or on a module whose `forward` is called directly. */

import { codeFact, fixHint, chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { resolvePath } from "../facts/resolve.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import type { RunFacts } from "../facts/run_facts.ts";

const MODULE_HOOK_REGISTRATION =
  /([A-Za-z_][\w.[\]]*)\.(register_forward_hook|register_forward_pre_hook|register_full_backward_hook)\(\s*(\w+)/;
const DIRECT_FORWARD_CALL = /([A-Za-z_][\w.[\]]*)\.forward\(/;

export function diagnoseHooksNotRun(facts: RunFacts): Diagnosis[] {
  return [...hooksRegisteredTooLate(facts), ...hooksSkippedByDirectForward(facts)];
}

/** Hooks of tensors that were hung up when the last backward had been. */
function hooksRegisteredTooLate(facts: RunFacts): Diagnosis[] {
  const last = facts.backwardCalls.at(-1);
  if (!last || !facts.trace.program.source.includes(".register_hook(")) return [];
  const history = tensorHistoryOf(facts);
  return [...facts.index.lifetimes.values()].flatMap(({ uid, kind }) => {
    const hung = kind === "tensor" ? history.fieldChanges(uid, "hooks").find(({ value }) => value) : undefined;
    const text = hung ? /\.register_hook\(\s*(\w+)?/.exec(facts.statementCode(hung.step)) : null;
    const accumulated = facts.eventsOfKind("grad_accumulated").find(({ tensor }) => tensor === uid);
    if (!hung || !text || hung.step <= last.end || !accumulated) return [];
    const x = facts.nameFact(uid, hung.step);
    const hook = codeFact(text[1] && text[1] !== "lambda" ? text[1] : "hook");
    const accumulatedPlace = facts.place(accumulated.step);
    return [
      {
        variant: "too_late",
        cause: facts.place(hung.step),
        chain: [
          chainLink(accumulatedPlace, "gradient", { x }, [uid]),
          chainLink(facts.place(hung.step), "hooked", { x, code: facts.statementFact(hung.step) }, [uid]),
        ],
        names: namesInFacts(x, hook),
        facts: { x, hook, code: facts.statementFact(hung.step), backward: accumulatedPlace.line },
        fixes: [fixHint("move_before", facts.place(hung.step), { to: facts.place(last.step).line })],
      },
    ];
  });
}

/** Hooks of a module whose `forward` is called instead of the module, which asks no hook. */
function hooksSkippedByDirectForward(facts: RunFacts): Diagnosis[] {
  if (!facts.trace.program.source.includes(".forward(")) return [];
  const enteredFunctions = new Set(facts.index.frameChanges.map(({ fields }) => fields.name));
  /** by line */
  const out = new Map<number, Diagnosis>();
  const registered = facts.steps.flatMap((traceStep, i) => {
    const match = traceStep.kind === "statement" ? MODULE_HOOK_REGISTRATION.exec(facts.statementCode(i)) : null;
    const moduleUid = match && !enteredFunctions.has(match[3]) ? resolvePath(facts, match[1], i) : null;
    return match && moduleUid ? [{ step: i, module: moduleUid, hook: match[3] }] : [];
  });
  if (!registered.length) return [];
  facts.steps.forEach((traceStep, i) => {
    const match = ["statement", "return"].includes(traceStep.kind)
      ? DIRECT_FORWARD_CALL.exec(facts.statementCode(i))
      : null;
    const moduleUid = match ? resolvePath(facts, match[1], i) : null;
    const hung = registered.find((registration) => registration.module === moduleUid && registration.step < i);
    if (!hung || out.has(traceStep.line)) return;
    const x = facts.nameFact(hung.module, i);
    const hook = codeFact(hung.hook);
    out.set(traceStep.line, {
      variant: "forward_called",
      cause: facts.place(i),
      chain: [
        chainLink(facts.place(hung.step), "hooked", { x, code: facts.statementFact(hung.step) }, [hung.module]),
        chainLink(facts.place(i), "way", { code: facts.statementFact(i) }, [hung.module]),
      ],
      names: namesInFacts(x, hook),
      facts: { x, hook, hooked: facts.steps[hung.step].line, code: facts.statementFact(i) },
      fixes: [fixHint("call_module", facts.place(i))],
    });
  });
  return [...out.values()];
}
