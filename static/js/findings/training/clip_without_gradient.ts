/** Gradients that are clipped before backward has made them: there is nothing to clip, and the step uses them whole. */

import { addToList } from "../../trace/multimap.ts";
import { calleeName, callsIn } from "../../syntax/expressions.ts";
import { chainLink, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { findInStatements } from "../statements/executed_statements.ts";
import { gradientLedgers, type GradientLedger } from "../account/gradient_ledger.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "clip_without_gradient", severity: "warning", diagnose: diagnoseClipWithoutGradient },
];

const CLIP_FUNCTIONS = new Set(["clip_grad_norm_", "clip_grad_value_"]);

function diagnoseClipWithoutGradient(facts: RunFacts): Diagnosis[] {
  if (!facts.ranToItsEnd) return [];
  const stepsByStatement = new Map<number, number[]>();
  for (const { step, stmt } of clipSteps(facts)) addToList(stepsByStatement, stmt, step);
  if (!stepsByStatement.size) return [];
  const ledgers = gradientLedgers(facts);
  if (ledgers.some(({ entries }) => entries.some(({ kind }) => kind === "clipped"))) return [];
  return [...stepsByStatement.values()].flatMap((steps) => diagnosisOf(facts, steps, ledgers) ?? []);
}

/** The steps that clip gradients, with the call that does. */
export function clipSteps(facts: RunFacts): { step: number; stmt: number; found: SyntaxNode }[] {
  const clips = (tree: SyntaxNode) => callsIn(tree).filter((call) => CLIP_FUNCTIONS.has(calleeName(call)));
  return findInStatements(facts, (tree) => clips(tree).slice(0, 1)).filter(({ step }) => !facts.steps[step].skipped);
}

/**
 * `steps` are those of one statement that clips. Null where it ever met a gradient, or none came and was used
 * afterwards.
 */
function diagnosisOf(facts: RunFacts, steps: number[], ledgers: GradientLedger[]): Diagnosis | null {
  const history = tensorHistoryOf(facts);
  if (steps.some((step) => ledgers.some(({ uid }) => history.valueAt(uid, "grad", step)))) return null;
  const [clip] = steps;
  const entries = ledgers.flatMap((ledger) => ledger.entries.map((entry) => ({ ...entry, uid: ledger.uid })));
  const after = entries.filter(({ step }) => step > clip).sort((a, b) => a.step - b.step);
  const added = after.find(({ kind }) => kind === "added");
  const used = added && after.find(({ kind, step }) => kind === "used" && step > added.step);
  if (!added || !used || (steps[1] ?? Infinity) < used.step) return null;
  const backward = facts.backwardAt(added.step)?.step ?? added.step;
  const optimizer = facts.nameFact(used.by, used.step);
  const names = { optimizer, code: facts.statementFact(clip), backward: facts.place(backward).line };
  return {
    cause: facts.place(clip),
    chain: [
      chainLink(facts.place(clip), "none", names),
      chainLink(facts.place(backward), "gradient", { code: facts.statementFact(backward) }, [added.uid]),
      chainLink(facts.place(used.step), "used", { code: facts.statementFact(used.step) }, [used.by]),
    ],
    names: namesInFacts(optimizer),
    facts: { ...names, backward_code: facts.statementFact(backward), step: facts.place(used.step).line },
    fixes: [fixHint("move_after", facts.place(clip), { to: facts.place(backward).line })],
  };
}
