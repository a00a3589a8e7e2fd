/** Gradients that are clipped before backward has made them: there is nothing to clip, and the step uses them whole. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { calleeName, callsIn } from "../../syntax/expressions.ts";
import { gradientLedgers } from "../account/gradient_ledger.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "clip_without_gradient",
    severity: "warning",
    when: ({ ranToItsEnd }) => ranToItsEnd,
    of: (facts) => groupBy(clipSteps(facts), ({ stmt }) => stmt),
    /** Null where the statement that clips ever met a gradient, or none came and was used afterwards. */
    say: (facts, clips) => {
      const steps = clips.map(({ step }) => step);
      const ledgers = gradientLedgers(facts);
      if (ledgers.some(({ entries }) => entries.some(({ kind }) => kind === "clipped"))) return null;
      if (steps.some((step) => ledgers.some(({ uid }) => facts.history.valueAt(uid, "grad", step)))) return null;
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
        cause: clip,
        chain: [
          [clip, "none"],
          [backward, "gradient", [added.uid]],
          [used.step, "used", [used.by]],
        ],
        names: [optimizer],
        facts: { ...names, backward_code: facts.statementFact(backward), step: facts.place(used.step).line },
        fixes: [["move_after", { to: facts.place(backward).line }]],
      };
    },
  }),
];

const CLIP_FUNCTIONS = new Set(["clip_grad_norm_", "clip_grad_value_"]);

/** The steps that clip gradients, with the call that does. */
export function clipSteps(facts: RunFacts): { step: number; stmt: number; found: SyntaxNode }[] {
  const clips = (tree: SyntaxNode) => callsIn(tree).filter((call) => CLIP_FUNCTIONS.has(calleeName(call)));
  return facts.findInStatements((tree) => clips(tree).slice(0, 1)).filter(({ step }) => !facts.steps[step].skipped);
}
