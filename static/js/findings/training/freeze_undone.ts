/** Parameters that were frozen and, before anything ran, all made to require grad again: the freezing has no effect. */

import { addToList } from "../../trace/multimap.ts";
import { chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { gradNameOf } from "../facts/gradient_name.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "frozen_updated", severity: "warning", diagnose: diagnoseFreezeUndone, lookedFor: "optimizers" },
];

/** undone: the step that turned it on again; -1 where none did before the first backward */
interface Freezing {
  uid: string;
  frozen: number;
  undone: number;
}

const MAX_NAMED_PARAMETERS = 4;

function diagnoseFreezeUndone(facts: RunFacts): Diagnosis[] {
  /** by the statement that freezes */
  const byStatement = new Map<number | null, Freezing[]>();
  for (const freezing of freezings(facts)) addToList(byStatement, facts.steps[freezing.frozen].stmt ?? null, freezing);
  return [...byStatement.values()].flatMap((all) => diagnosisOf(facts, all) ?? []);
}

/** The parameters that were frozen before the first backward. */
function freezings(facts: RunFacts): Freezing[] {
  const [backward] = facts.backwardCalls;
  if (!backward) return [];
  const history = tensorHistoryOf(facts);
  return [...facts.index.moduleOfTensor.keys()].flatMap((uid) => {
    const changes = history.fieldChanges(uid, "requires_grad");
    const k = changes.findIndex(({ value }, at) => at > 0 && value === false && changes[at - 1].value === true);
    if (k < 0 || changes[k].step >= backward.step) return [];
    const next = changes[k + 1];
    const isUndone = next?.value === true && next.step < backward.step && changes.length === k + 2;
    return [{ uid, frozen: changes[k].step, undone: isUndone ? next.step : -1 }];
  });
}

/** `all` is what one statement froze. Null where a call of a module lies between, or where some stay frozen. */
function diagnosisOf(facts: RunFacts, all: Freezing[]): Diagnosis | null {
  const [{ uid, frozen, undone }] = all;
  const undoing = new Set(all.map((freezing) => facts.steps[freezing.undone]?.stmt));
  if (all.some((freezing) => freezing.undone < 0) || undoing.size !== 1) return null;
  if (undoing.has(facts.steps[frozen].stmt)) return null;
  if (facts.eventsOfKind("module_called").some(({ step }) => step > frozen && step < undone)) return null;
  const gradient = facts.eventsOfKind("grad_accumulated").find(({ tensor }) => tensor === uid);
  if (!gradient) return null;
  const names = all.slice(0, MAX_NAMED_PARAMETERS).map((freezing) => facts.nameFact(freezing.uid, gradient.step));
  const x = names[0];
  const findingFacts = {
    x,
    frozen: names,
    n: all.length,
    grad: gradNameOf(x),
    code: facts.statementFact(undone),
    freezing: facts.statementFact(frozen),
    made: facts.place(frozen).line,
  };
  return {
    variant: "undone",
    cause: facts.place(undone),
    chain: [
      chainLink(facts.place(frozen), "cut", { ...findingFacts, code: findingFacts.freezing }, [uid]),
      chainLink(facts.place(undone), "written", findingFacts, [uid]),
      chainLink(facts.place(gradient.step), "gradient", findingFacts, [uid, gradient.grad]),
    ],
    names: namesInFacts(...names),
    facts: findingFacts,
    fixes: [],
  };
}
