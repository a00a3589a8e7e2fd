/** Which line turned the recording of gradients off: a `with` block, a decorator, or a switch that was left off. */

import type { RunFacts } from "../facts/run_facts.ts";

interface GradModeSwitchedOff {
  line: number;
  step: number;
  code: string;
  /** a statement of its own, like `torch.set_grad_enabled(False)`, that holds until it is turned on again */
  isSwitch: boolean;
}

const GRAD_OFF_DECORATOR = /^\s*@\S*(?:no_grad|inference_mode|set_grad_enabled)/;

/** What had turned grad mode off at a step. */
export function whatTurnedGradModeOffAt(facts: RunFacts, step: number): GradModeSwitchedOff | null {
  const offStep = facts.steps.findLastIndex(
    ({ set }, i) =>
      i <= step && Object.entries(set ?? {}).some(([uid, { grad }]) => uid[0] === "m" && isGradModeOff(grad)),
  );
  if (offStep < 0) return null;
  const { kind, set } = facts.steps[offStep];
  if (kind === "call") {
    const frame = Object.entries(set).find(([uid, fields]) => uid[0] === "f" && fields.kind)?.[1];
    const decoratorIndex = facts.source.findIndex((text) => text.trimStart().startsWith(`def ${frame?.name}(`)) - 1;
    if (!GRAD_OFF_DECORATOR.test(facts.source[decoratorIndex] ?? "")) return null;
    return { line: decoratorIndex + 1, step: offStep, code: facts.source[decoratorIndex].trim(), isSwitch: false };
  }
  const code = facts.statementCode(offStep);
  return { ...facts.place(offStep), code, isSwitch: kind === "statement" && /set_grad_enabled\(/.test(code) };
}

function isGradModeOff(grad: unknown) {
  return grad === false;
}
