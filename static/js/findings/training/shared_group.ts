/** One dict of options in two optimizers: a learning rate that one is given is the other's too. */

import { findEntity } from "../../trace/entities.ts";
import { keyValuePairs } from "../../trace/names.ts";
import { chainLink, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { groupDicts, optimizersOf } from "../facts/optimizers.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [{ kind: "shared_group", severity: "warning", diagnose: diagnoseSharedGroup }];

function diagnoseSharedGroup(facts: RunFacts): Diagnosis[] {
  /** by the dict, the optimizers that have it */
  const owners = new Map<string, { uid: string; made: number }[]>();
  for (const { uid, made } of optimizersOf(facts).values())
    for (const group of groupDicts(facts, uid, made)) owners.set(group, [...(owners.get(group) ?? []), { uid, made }]);
  return [...owners].flatMap(([group, [first, second]]) => (second ? [diagnosisOf(facts, group, first, second)] : []));
}

function diagnosisOf(
  facts: RunFacts,
  group: string,
  first: { uid: string; made: number },
  second: { uid: string; made: number },
): Diagnosis {
  const [x, y] = [facts.nameFact(first.uid, first.made), facts.nameFact(second.uid, second.made)];
  const dict = findEntity(facts.stateAt(second.made), group, "object");
  const rate = (dict ? keyValuePairs(dict) : null)?.find(([key]) => key === "lr")?.[1];
  const findingFacts = {
    x,
    y,
    lr: typeof rate === "number" ? rate : "",
    first: facts.steps[first.made].line,
    code: facts.statementFact(second.made),
  };
  return {
    cause: facts.place(second.made),
    chain: [
      chainLink(facts.place(first.made), "made", { ...findingFacts, code: facts.statementFact(first.made) }, [
        first.uid,
        group,
      ]),
      chainLink(facts.place(second.made), "shares", findingFacts, [second.uid, group]),
    ],
    names: namesInFacts(x, y),
    facts: findingFacts,
    fixes: [fixHint("own_groups", facts.place(first.made))],
  };
}
