/**
 * A statement whose result is thrown away: a method that gives a new tensor and changes none, or one that is not
 * called.
 */

import { chainLink, codeFact, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { mentionsAt } from "../statements/program_text.ts";
import { resolvePath } from "../facts/resolve.ts";
import { referencedUid } from "../../trace/names.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "result_unused", severity: "warning", diagnose: diagnoseUnusedResult },
];

/** Methods and functions that leave their tensor as it is, and that people call as if they changed it. */
const PURE_METHODS = new Set(
  `abs add addcdiv addcmul ceil clamp clamp_max clamp_min clip clone contiguous copysign cpu cuda
  cumsum detach div divide double dropout exp expand eq fill fill_diagonal flatten flip float floor
  fmod half index_add index_copy index_fill int lerp log logical_not long mul multiply masked_fill
  masked_scatter movedim nan_to_num neg negative normalize permute pow reciprocal relu renorm repeat
  reshape round rsqrt scatter scatter_add sigmoid sign softmax sort sqrt square squeeze sub subtract
  swapaxes t tanh to transpose tril triu true_divide type unflatten unsqueeze view bfloat16`.split(/\s+/),
);
const METHOD = /^([A-Za-z_].*)\.([A-Za-z]\w*)$/s;
const FUNCTION_MODULE = /^(?:torch|F|nn\.functional|torch\.nn\.functional)$/;
const PATH_WITHOUT_CALL =
  /^([A-Za-z_][\w.]*(?:\[[^\]]*\])*(?:\.[\w.]+)?)\.(step|zero_grad|backward|eval|train|requires_grad_|\w+[a-z]_)$/;
const COMPARISON = /^([A-Za-z_][\w.]*(?:\[[^\]]*\])*)\s*==\s*(?:True|False|None|-?[\d.][\w.]*|'[^']*'|"[^"]*")$/;
const CONTEXT_CALL = /^(?:torch\.)?(no_grad|inference_mode|enable_grad)\(\)$/;
const GRAD_CALL = /^(?:torch\.)?(?:autograd\.)?grad\(/;

function diagnoseUnusedResult(facts: RunFacts): Diagnosis[] {
  /** by line */
  const out = new Map<number, Diagnosis>();
  facts.steps.forEach(({ kind, stmt, line, shown }, i) => {
    if (kind !== "statement" || shown !== undefined || out.has(line)) return;
    if (facts.trace.program.statements?.[stmt ?? -1]?.kind !== "Expr") return;
    const diagnosis = diagnosisOf(
      facts,
      i,
      facts
        .statementCode(i)
        .replace(/\s+#.*$/, "")
        .replace(/;$/, ""),
    );
    if (diagnosis) out.set(line, diagnosis);
  });
  return [...out.values()];
}

function diagnosisOf(facts: RunFacts, step: number, code: string): Diagnosis | null {
  const unfinished = PATH_WITHOUT_CALL.exec(code);
  if (unfinished)
    return resolvePath(facts, unfinished[1], step)
      ? plainDiagnosis(facts, step, "not_called", { x: codeFact(unfinished[1]), name: codeFact(`${unfinished[2]}()`) })
      : null;
  const compared = COMPARISON.exec(code)?.[1];
  if (compared)
    return plainDiagnosis(facts, step, "comparison", {
      x: codeFact(compared),
      name: codeFact(code.replace(/\s*==\s*/, " = ")),
    });
  const context = CONTEXT_CALL.exec(code);
  if (context)
    return plainDiagnosis(facts, step, "context", { x: codeFact(`with ${code}:`), name: codeFact(context[1]) });
  if (GRAD_CALL.test(code) && facts.backwardAt(step - 1)?.api === "grad")
    return plainDiagnosis(facts, step, "grad", { x: codeFact("grad"), name: codeFact("grad") });
  const call = METHOD.exec(calledLast(code));
  return call && PURE_METHODS.has(call[2]) ? thrownAway(facts, step, call[1], call[2]) : null;
}

/** What an expression calls last, as `x.add` of `x.add(y.detach().mul(2))`; empty where it ends otherwise. */
function calledLast(code: string): string {
  const open: number[] = [];
  let end = 0;
  let opened = 0;
  for (const { 0: text, index } of code.matchAll(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[([{]|[)\]}]/g)) {
    if ("([{".includes(text)) open.push(index);
    else if (")]}".includes(text)) [opened, end] = [open.pop() ?? 0, index + 1];
  }
  return end === code.length && code[opened] === "(" ? code.slice(0, opened) : "";
}

/** A new tensor that died with its statement, while what it was made of is used later. */
function thrownAway(facts: RunFacts, step: number, receiver: string, method: string): Diagnosis | null {
  const result = referencedUid(facts.steps[step].value);
  if (result?.[0] !== "t" || facts.birthStep(result) !== step || facts.index.isAlive(result, step)) return null;
  if (facts.steps[step].log.some((entry) => entry.kind === "event" && entry.event === "written")) return null;
  const op = facts.producingOperation(result);
  const cut = facts.eventsOfKind("path_cut").find((event) => event.step === step && event.result === result);
  const source = op?.step === step ? op.inputs[0] : cut?.tensor;
  if (!source) return null;
  const isFunction = FUNCTION_MODULE.test(receiver);
  const x = facts.nameFact(source, step);
  const name = isFunction
    ? (/\(\s*([A-Za-z_]\w*)/.exec(facts.statementCode(step))?.[1] ?? "")
    : /^\w+/.exec(receiver)?.[0];
  if (!name || !isUsedLater(facts, name, step)) return null;
  const findingFacts = { x, name: codeFact(method), code: facts.statementFact(step) };
  return {
    variant: method === "detach" ? "detach" : "method",
    cause: facts.place(step),
    chain: [
      ...(facts.birthStep(source) < step && facts.birthStep(source) >= 0
        ? [chainLink(facts.place(facts.birthStep(source)), "made", findingFacts, [source])]
        : []),
      chainLink(facts.place(step), "none", findingFacts, [source]),
    ],
    names: namesInFacts(x),
    facts: findingFacts,
    fixes: [fixHint("keep_result", facts.place(step), isFunction ? { name, function: 1 } : { name: receiver })],
  };
}

/** Whether a name is mentioned after a step, or before it in a loop around. */
function isUsedLater(facts: RunFacts, name: string, step: number) {
  return facts.steps.some(
    ({ kind }, i) =>
      i > step &&
      facts.steps[i].stmt !== facts.steps[step].stmt &&
      kind !== "visit" &&
      mentionsAt(facts, i).names.has(name),
  );
}

function plainDiagnosis(
  facts: RunFacts,
  step: number,
  variant: string,
  findingFacts: { x: ReturnType<typeof codeFact>; name: ReturnType<typeof codeFact> },
): Diagnosis {
  const allFacts = { ...findingFacts, code: facts.statementFact(step) };
  return {
    variant,
    cause: facts.place(step),
    chain: [chainLink(facts.place(step), "none", allFacts)],
    names: namesInFacts(findingFacts.x),
    facts: allFacts,
    fixes:
      variant === "not_called" || variant === "comparison"
        ? [fixHint(variant === "comparison" ? "assign_it" : "call_it", facts.place(step))]
        : [],
  };
}
