/** A learning rate or the like set on the optimizer itself, which reads its groups: nothing changes. */

import { chainLink, codeFact, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { optimizersOf } from "../facts/optimizers.ts";
import { resolvePath } from "../facts/resolve.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "module_flag", severity: "warning", diagnose: diagnoseOptimizerAttribute },
];

const ASSIGNMENT = /^([A-Za-z_][\w.]*)\.(lr|learning_rate|momentum|weight_decay|betas)\s*(?:[*/+-])?=\s*([^=].*)$/;
/** Those of torch; another's may read its own attributes. */
const TORCH_OPTIMIZERS =
  /^(?:SGD|ASGD|Rprop|RMSprop|LBFGS|Adadelta|Adagrad|Adafactor|Adam|AdamW|Adamax|NAdam|RAdam|SparseAdam|Muon)$/;

function diagnoseOptimizerAttribute(facts: RunFacts): Diagnosis[] {
  /** by line */
  const out = new Map<number, Diagnosis>();
  const optimizers = optimizersOf(facts);
  if (!optimizers.size) return [];
  facts.steps.forEach(({ kind, line }, step) => {
    if (kind !== "statement" || out.has(line)) return;
    const match = ASSIGNMENT.exec(facts.statementCode(step).replace(/\s+#.*$/, ""));
    const optimizer = match && optimizers.get(resolvePath(facts, match[1], step) ?? "");
    if (!match || !optimizer || !TORCH_OPTIMIZERS.test(facts.scan.initialFields(optimizer.uid)?.type ?? "")) return;
    if (isAttributeReadByProgram(facts, match[1], match[2])) return;
    const later = optimizer.steps.find((other) => other > step);
    if (later !== undefined) out.set(line, diagnosisOf(facts, step, later, match[1], match[2], match[3]));
  });
  return [...out.values()];
}

/** Whether the program reads the attribute, as to hand it on to the groups. */
function isAttributeReadByProgram(facts: RunFacts, path: string, name: string) {
  const mention = new RegExp(`${path.replaceAll(".", "\\.")}\\.${name}\\b(?!\\s*[*/+-]?=[^=])`);
  return facts.source.some((text) => mention.test(text));
}

function diagnosisOf(facts: RunFacts, step: number, later: number, path: string, name: string, value: string) {
  const optimizer = codeFact(path);
  const findingFacts = {
    optimizer,
    attribute: codeFact(name),
    group: codeFact(`group['${name === "learning_rate" ? "lr" : name}']`),
    path,
    name: name === "learning_rate" ? "lr" : name,
    value: codeFact(value.trim()),
    code: facts.statementFact(step),
    effect: facts.place(later).line,
  };
  return {
    variant: "optimizer",
    cause: facts.place(step),
    chain: [
      chainLink(facts.place(step), "made", findingFacts, []),
      chainLink(facts.place(later), "none", { ...findingFacts, code: facts.statementFact(later) }, []),
    ],
    names: namesInFacts(optimizer, findingFacts.attribute),
    facts: findingFacts,
    fixes: [fixHint("group_option", facts.place(step), { path, name: findingFacts.name, value: value.trim() })],
  };
}
