/** A clip that gets a generator of parameters which had been gone through before: it clips nothing. */

import { callArguments } from "../statements/call_arguments.ts";
import { chainLink, codeFact, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { gradientTensors } from "../facts/gradient_tensors.ts";
import { mentionsAt } from "../statements/program_text.ts";
import { optimizerParameters, optimizersOf } from "../facts/optimizers.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "clip_without_gradient", severity: "warning", diagnose: diagnoseClipOfUsedUp },
];

const CLIP_CALL = /\bclip_grad_(?:norm|value)_\s*\(/;
const CLIP_FUNCTION = "clip_grad_(?:norm|value)_";
const GENERATOR =
  /=\s*(?:[\w.[\]]+\.parameters\(\w*\)|filter\(.*\)|(?:itertools\.)?chain\(.*\)|\([^()]*(?:\([^()]*\)[^()]*)*\bfor\b.*\))$/;

function diagnoseClipOfUsedUp(facts: RunFacts): Diagnosis[] {
  if (!facts.source.some((text) => CLIP_CALL.test(text))) return [];
  /** by line */
  const out = new Map<number, Diagnosis>();
  facts.steps.forEach(({ kind, line, skipped }, step) => {
    if (kind !== "statement" || skipped || out.has(line) || !CLIP_CALL.test(facts.statementCode(step))) return;
    const diagnosis = diagnosisOf(facts, step);
    if (diagnosis) out.set(line, diagnosis);
  });
  return [...out.values()];
}

/** None where the clip took a gradient, or there was none that a step then used. */
function diagnosisOf(facts: RunFacts, clip: number): Diagnosis | null {
  const [name] = callArguments(facts.statementCode(clip), CLIP_FUNCTION) ?? [];
  const grads = gradientTensors(facts);
  if (!name || !/^[A-Za-z_]\w*$/.test(name)) return null;
  if (facts.opsAt(clip).some(({ inputs }) => inputs.some((uid) => grads.has(uid)))) return null;
  const [made, used] = generatorBefore(facts, name, clip);
  const next = nextUpdate(facts, clip);
  if (made < 0 || used < 0 || !next) return null;
  const x = codeFact(name);
  const names = {
    x,
    optimizer: facts.nameFact(next.optimizer, next.step),
    made: facts.place(made).line,
    read: facts.place(used).line,
    reader: facts.statementFact(used),
    code: facts.statementFact(clip),
    step: facts.place(next.step).line,
  };
  return {
    variant: "used_up",
    cause: facts.place(clip),
    chain: [
      chainLink(facts.place(made), "made", { ...names, code: facts.statementFact(made) }),
      chainLink(facts.place(used), "read", { ...names, code: names.reader }),
      chainLink(facts.place(clip), "none", names),
      chainLink(facts.place(next.step), "used", { ...names, code: facts.statementFact(next.step) }, [next.optimizer]),
    ],
    names: namesInFacts(x, codeFact("parameters")),
    facts: names,
    fixes: [fixHint("list_parameters", facts.place(made))],
  };
}

/**
 * The steps that made a generator under a name and first went through it, before another step; −1 where there is none.
 */
function generatorBefore(facts: RunFacts, name: string, before: number): [number, number] {
  const { frame } = facts.steps[before];
  const assignment = new RegExp(`^${name}\\s*=(?!=)`);
  const isOwn = (step: number) => facts.steps[step].frame === frame && facts.steps[step].kind !== "visit";
  const made = [...facts.steps.keys()].findLast(
    (step) => step < before && isOwn(step) && assignment.test(facts.statementCode(step)),
  );
  if (made === undefined || !GENERATOR.test(facts.statementCode(made).replace(/\s+#.*$/, ""))) return [-1, -1];
  const used = [...facts.steps.keys()].find(
    (step) => step > made && step < before && isOwn(step) && mentionsAt(facts, step).names.has(name),
  );
  return [made, used ?? -1];
}

/** The next step of an optimizer with gradients in what it holds. */
function nextUpdate(facts: RunFacts, clip: number): { optimizer: string; step: number } | null {
  const history = tensorHistoryOf(facts);
  for (const { uid: optimizer, steps } of optimizersOf(facts).values()) {
    const step = steps.find((other) => other > clip);
    if (step === undefined) continue;
    if (optimizerParameters(facts, optimizer, step).some((param) => history.valueAt(param, "grad", clip)))
      return { optimizer, step };
  }
  return null;
}
