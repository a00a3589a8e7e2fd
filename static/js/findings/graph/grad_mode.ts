/**
 * Which line turned the recording of gradients off: a `with` block, a decorator, a switch that was left off, or a
 * re-entrant checkpoint; and what may be done where a history ends.
 */

import type { RunFacts } from "../diagnosis.ts";
import { calleePath, callsIn, importedPath, literalValue, callArgument } from "../../syntax/expressions.ts";
import { childOf, childrenOf, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import type { Delta } from "../../trace/wire.ts";

interface GradModeSwitchedOff {
  line: number;
  step: number;
  code: string;
  /** a statement of its own, like `torch.set_grad_enabled(False)`, that holds until it is turned on again */
  isSwitch: boolean;
}

const TURN_GRAD_OFF = ["no_grad", "inference_mode", "set_grad_enabled"];

/** What had turned grad mode off at a step. */
export function gradModeSwitchAt(facts: RunFacts, step: number): GradModeSwitchedOff | null {
  const offStep = facts.steps.findLastIndex(
    ({ set }, i) => i <= step && Object.entries(set ?? {}).some(([uid, { grad }]) => uid[0] === "m" && grad === false),
  );
  if (offStep < 0) return null;
  const { kind, set } = facts.steps[offStep];
  if (kind === "call") {
    const frame = Object.entries(set).find(([uid, fields]) => uid[0] === "f" && fields.kind)?.[1];
    const decorator = frame && gradOffDecorator(facts, frame);
    return decorator ? { line: decorator.line, step: offStep, code: `@${decorator.text}`, isSwitch: false } : null;
  }
  const isSwitch = callsIn(facts.syntax(offStep)).some((call) => lastWord(calleePath(call)) === "set_grad_enabled");
  return {
    ...facts.place(offStep),
    code: facts.statementCode(offStep),
    isSwitch: isSwitch && kind === "statement",
  };
}

/** What turns grad mode off in the function whose frame has a name and a line. */
function gradOffDecorator(facts: RunFacts, { name, line }: Delta): SyntaxNode | undefined {
  return statementTrees(facts.trace.program)
    .filter((tree) => tree?.kind.endsWith("FunctionDef") && tree.value === name && tree.line === line)
    .flatMap((tree) => childrenOf(tree, "decorator_list"))
    .find((node) => TURN_GRAD_OFF.includes(lastWord(importedPath(childOf(node, "func") ?? node))));
}

function lastWord(path: string | null) {
  return path?.split(".").at(-1) ?? "";
}

const CHECKPOINTS = new Set(["checkpoint", "checkpoint_sequential"].map((name) => `torch.utils.checkpoint.${name}`));

/** Where a statement under `no_grad` lies within functions that a checkpoint called, the step that ends the
 * checkpoint's statement; the same step where the statement itself is one; null where none is. */
export function checkpointEndStep(facts: RunFacts, step: number) {
  const isReentrantCall = (at: number) =>
    callsIn(facts.syntax(at)).some(
      (call) => CHECKPOINTS.has(calleePath(call) ?? "") && literalValue(callArgument(call, "use_reentrant")) !== false,
    );
  if (isReentrantCall(step)) return step;
  if (gradModeSwitchAt(facts, step)) return null;
  const callerOf = (frame: string | null | undefined) => facts.frame(frame, step)?.caller;
  for (let caller = callerOf(facts.steps[step].frame); caller; caller = callerOf(caller)) {
    const end = facts.steps.findIndex(({ frame, kind }, k) => k > step && frame === caller && kind !== "visit");
    if (end > 0 && isReentrantCall(end)) return end;
  }
  return null;
}

/** What may be done about a place where a history ends, by why it ends there: kinds of fixes, the best first. */
export function fixKindsForGraphCut(reason: string): string[] {
  if (reason === "constant" || reason === "own_backward") return [];
  if (reason === "dtype") return ["use_probability", "cross_entropy"];
  if (reason === "checkpoint") return ["not_reentrant"];
  return [reason === "create_graph" ? "create_graph" : `cut_${reason}`];
}
