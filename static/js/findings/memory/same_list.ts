/**
 * One list or dict that a program appends again and again, and empties or fills in between: all entries are the last.
 */

import { codeFact, diagnosis, statementOfCandidate, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { referencedUid } from "../../trace/names.ts";
import { callArgument, firstNameOf, methodCalls, pathText } from "../../syntax/expressions.ts";
import type { Item, Value } from "../../trace/wire.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "shared_memory",
    severity: "note",
    of: (facts) => groupBy([...insertions(facts)], ({ list, entry }) => `${list} ${entry}`),
    once: ([first], facts) => statementOfCandidate(first, facts),
    say: (facts, [first, second, ...others]) => {
      const change = second ? changeBetween(facts, first, second) : null;
      return change === null ? null : diagnosisOf(facts, [first, second, ...others], change);
    },
  }),
];

/** a place of a list that came to hold another list or dict */
interface Insertion {
  list: string;
  entry: string;
  step: number;
}

/** What a statement appends, where that has a name. */
function appendedPath(facts: RunFacts, step: number): string | null {
  const [call] = methodCalls(facts.syntax(step), "append");
  return call ? pathText(callArgument(call, "object", 0)) : null;
}

function* insertions(facts: RunFacts): Generator<Insertion> {
  for (const { uid: list, step, fields } of facts.index.objectChanges) {
    if (fields.kind || appendedPath(facts, step) === null) continue;
    const edits = (fields.splice ?? []) as [number, number, Item[]][];
    for (const item of [...edits.flatMap((edit) => edit[2]), ...((fields.items ?? []) as Item[]).slice(-1)]) {
      const entry = referencedUid(item as Value);
      const type = entry?.[0] === "o" ? facts.object(entry, step)?.type : "";
      if (entry && (type === "list" || type === "dict")) yield { list, entry, step };
    }
  }
}

/** The step between two insertions at which what was inserted changed; null where it did not. */
function changeBetween(facts: RunFacts, first: Insertion, second: Insertion): number | null {
  const change = facts.index.objectChanges.find(
    ({ uid, step, fields }) =>
      uid === first.entry && step > first.step && step < second.step && (fields.items || fields.splice),
  );
  return change?.step ?? null;
}

function diagnosisOf(facts: RunFacts, [first, second, ...others]: Insertion[], change: number): Diagnosis | null {
  const appended = appendedPath(facts, second.step);
  const list = facts.nameText(first.list, second.step);
  if (!appended || !list) return null;
  const root = firstNameOf(list);
  const read = facts.steps.findIndex(
    ({ kind, stmt }, i) =>
      i > second.step &&
      kind !== "visit" &&
      stmt !== facts.steps[second.step].stmt &&
      facts.mentionsAt(i).names.has(root),
  );
  const [x, y] = [codeFact(appended), codeFact(list)];
  return {
    variant: "same_list",
    cause: first.step,
    chain: [
      [first.step, "shares", [first.entry]],
      [change, "written", [first.entry]],
      read >= 0 && [read, "read", [first.list], { x: y }],
    ],
    facts: {
      x,
      y,
      x_name: appended,
      n: others.length + 2,
      code: facts.statementFact(second.step),
      effect: facts.steps[change].line,
      change: facts.statementFact(change),
    },
    fixes: [["append_copy", { name: appended }]],
  };
}
