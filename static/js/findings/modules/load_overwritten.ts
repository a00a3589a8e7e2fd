/** Weights that were loaded and, before anything read them, initialised again: the checkpoint has no effect. */

import type { Diagnosis, DiagnosisRow } from "../diagnosis.ts";
import { codeFact } from "../finding.ts";
import { operationName } from "../facts/operation_name.ts";
import { resolveExpression } from "../facts/resolve.ts";
import { methodCalls, pathText, receiver } from "../../syntax/expressions.ts";
import { mayCallMethod } from "../../syntax/statements.ts";
import type { RunFacts } from "../facts/run_facts.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "load_matched_nothing", severity: "warning", diagnose: diagnoseLoadOverwritten },
];

const INITIALISATION = /^(?:normal|uniform|zero|fill|random|bernoulli|exponential|erfinv|eye)_$/;
const MAX_STEPS_AHEAD = 2000;

function diagnoseLoadOverwritten(facts: RunFacts): Diagnosis[] {
  if (!mayCallMethod(facts.trace.program, "load_state_dict")) return [];
  /** by line */
  const out = new Map<number, Diagnosis>();
  facts.steps.forEach(({ kind, line }, step) => {
    if ((kind !== "statement" && kind !== "return") || out.has(line)) return;
    const [call] = methodCalls(facts.syntax(step), "load_state_dict");
    const path = call ? pathText(receiver(call)) : null;
    const module = path ? resolveExpression(facts, receiver(call), step) : null;
    const diagnosis = path && module ? diagnosisOf(facts, step, path, module) : null;
    if (diagnosis) out.set(line, diagnosis);
  });
  return [...out.values()];
}

/** None where one of the weights that were loaded is left as it was: a head may be initialised anew. */
function diagnosisOf(facts: RunFacts, step: number, path: string, module: string): Diagnosis | null {
  /** storages of weights, with the tensor; a bias or a norm says little of a checkpoint */
  const loaded = new Map<string, string>();
  for (const { name, inputs } of facts.opsAt(step)) {
    const tensor = name === "aten::copy_" ? facts.tensor(inputs[0], step) : undefined;
    if (tensor?.storage && (tensor.shape?.length ?? 0) > 1) loaded.set(tensor.storage, inputs[0]);
  }
  if (!loaded.size) return null;
  const overwritten = new Map<string, number>();
  const last = Math.min(facts.steps.length, step + MAX_STEPS_AHEAD);
  for (let i = step + 1; i < last && overwritten.size < loaded.size; i++)
    for (const op of facts.opsAt(i)) {
      const storages = op.inputs.map((uid) => facts.tensor(uid, i)?.storage ?? "");
      if (!storages.some((storage) => loaded.has(storage) && !overwritten.has(storage))) continue;
      if (!INITIALISATION.test(operationName(op.name))) return null;
      overwritten.set(storages[0], i);
    }
  if (overwritten.size < loaded.size) return null;
  const [[storage, written]] = overwritten;
  const uid = loaded.get(storage) ?? "";
  const x = facts.nameFact(uid, step);
  const findingFacts = {
    x,
    module: codeFact(path),
    n: loaded.size,
    loaded: facts.place(step).line,
    load: facts.statementFact(step),
  };
  return {
    variant: "overwritten",
    cause: written,
    chain: [
      [step, "way", [module], { code: findingFacts.load }],
      [written, "written", [uid]],
    ],
    names: [x, findingFacts.module],
    facts: findingFacts,
  };
}
