/** One dict of options in two optimizers: a learning rate that one is given is the other's too. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { keyValuePairs } from "../../trace/names.ts";
import { paramGroupDicts } from "../facts/optimizers.ts";

export const FINDINGS = [
  diagnosis({
    kind: "shared_group",
    severity: "warning",
    of: (facts) => groupBy(groupsOfOptimizers(facts), ({ group }) => group),
    /** Of one dict, with the optimizers that have it. */
    say: (facts, [first, second]) => {
      if (!second) return null;
      const { group } = first;
      const [x, y] = [facts.nameFact(first.uid, first.made), facts.nameFact(second.uid, second.made)];
      const dict = facts.object(group, second.made);
      const rate = (dict ? keyValuePairs(dict) : null)?.find(([key]) => key === "lr")?.[1];
      return {
        cause: second.made,
        chain: [
          [first.made, "made", [first.uid, group]],
          [second.made, "shares", [second.uid, group]],
        ],
        facts: { x, y, lr: typeof rate === "number" ? rate : "", first: facts.steps[first.made].line },
        fixes: [["own_groups", {}, first.made]],
      };
    },
  }),
];

interface OwnedGroup {
  group: string;
  uid: string;
  /** the step that made the optimizer */
  made: number;
}

function groupsOfOptimizers(facts: RunFacts): OwnedGroup[] {
  return facts.optimizers.flatMap(({ uid, made }) =>
    paramGroupDicts(facts, uid, made).map((group) => ({ group, uid, made })),
  );
}
