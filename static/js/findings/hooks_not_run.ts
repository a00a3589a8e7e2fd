/** Hooks that never run: registered after the last backward, or on a module whose `forward` is called directly. */

import { code, fix, link, namesOf, type Diagnosis } from "./finding.ts";
import { resolve } from "./resolve.ts";
import { tensorHistory } from "./tensor_history.ts";
import type { RunFacts } from "./run_facts.ts";

const MODULE_HOOK =
  /([A-Za-z_][\w.[\]]*)\.(register_forward_hook|register_forward_pre_hook|register_full_backward_hook)\(\s*(\w+)/;
const DIRECT_CALL = /([A-Za-z_][\w.[\]]*)\.forward\(/;

export function hooksNotRun(facts: RunFacts): Diagnosis[] {
  return [...registeredTooLate(facts), ...forwardCalled(facts)];
}

/** Hooks of tensors that were hung up when the last backward had been. */
function registeredTooLate(facts: RunFacts): Diagnosis[] {
  const last = facts.backwards.at(-1);
  if (!last || !facts.trace.program.source.includes(".register_hook(")) return [];
  const history = tensorHistory(facts);
  return [...facts.index.lifetimes.values()].flatMap(({ uid, kind }) => {
    const hung = kind === "tensor" ? history.changes(uid, "hooks").find(({ value }) => value) : undefined;
    const text = hung ? /\.register_hook\(\s*(\w+)?/.exec(facts.code(hung.step)) : null;
    const accumulated = facts.events("grad_accumulated").find(({ tensor }) => tensor === uid);
    if (!hung || !text || hung.step <= last.end || !accumulated) return [];
    const x = facts.nameFact(uid, hung.step);
    const hook = code(text[1] && text[1] !== "lambda" ? text[1] : "hook");
    const accumulatedPlace = facts.place(accumulated.step);
    return [
      {
        variant: "too_late",
        cause: facts.place(hung.step),
        chain: [
          link(accumulatedPlace, "gradient", { x }, [uid]),
          link(facts.place(hung.step), "hooked", { x, code: facts.codeFact(hung.step) }, [uid]),
        ],
        names: namesOf(x, hook),
        facts: { x, hook, code: facts.codeFact(hung.step), backward: accumulatedPlace.line },
        fixes: [fix("move_before", facts.place(hung.step), { to: facts.place(last.step).line })],
      },
    ];
  });
}

/** Hooks of a module whose `forward` is called instead of the module, which asks no hook. */
function forwardCalled(facts: RunFacts): Diagnosis[] {
  if (!facts.trace.program.source.includes(".forward(")) return [];
  const enteredFunctions = new Set(facts.index.frameChanges.map(({ fields }) => fields.name));
  /** by line */
  const out = new Map<number, Diagnosis>();
  const registered = facts.steps.flatMap((traceStep, i) => {
    const match = traceStep.kind === "statement" ? MODULE_HOOK.exec(facts.code(i)) : null;
    const moduleUid = match && !enteredFunctions.has(match[3]) ? resolve(facts, match[1], i) : null;
    return match && moduleUid ? [{ step: i, module: moduleUid, hook: match[3] }] : [];
  });
  if (!registered.length) return [];
  facts.steps.forEach((traceStep, i) => {
    const match = ["statement", "return"].includes(traceStep.kind) ? DIRECT_CALL.exec(facts.code(i)) : null;
    const moduleUid = match ? resolve(facts, match[1], i) : null;
    const hung = registered.find((registration) => registration.module === moduleUid && registration.step < i);
    if (!hung || out.has(traceStep.line)) return;
    const x = facts.nameFact(hung.module, i);
    const hook = code(hung.hook);
    out.set(traceStep.line, {
      variant: "forward_called",
      cause: facts.place(i),
      chain: [
        link(facts.place(hung.step), "hooked", { x, code: facts.codeFact(hung.step) }, [hung.module]),
        link(facts.place(i), "way", { code: facts.codeFact(i) }, [hung.module]),
      ],
      names: namesOf(x, hook),
      facts: { x, hook, hooked: facts.steps[hung.step].line, code: facts.codeFact(i) },
      fixes: [fix("call_module", facts.place(i))],
    });
  });
  return [...out.values()];
}
