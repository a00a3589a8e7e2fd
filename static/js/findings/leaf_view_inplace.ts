/** A view of a leaf that requires grad was to be written in place while autograd records. */

import { link, namesOf, type Diagnosis } from "./finding.ts";
import { fixesOfLeafWrite, requiredGradAt } from "./leaf_inplace.ts";
import { operationName } from "./operation_name.ts";
import { customFunctionNode, multiOutputView, namedTarget, findRefusedWrite, unrecordedView } from "./refused_write.ts";
import type { RunFacts } from "./run_facts.ts";

export function leafViewInplace(facts: RunFacts): Diagnosis[] {
  const write = findRefusedWrite(facts);
  if (!write?.op.grad_mode || !write.views.length || write.tensor.leaf) return [];
  const { base, step, views, op } = write;
  const leaf = facts.tensor(base, step);
  if (!leaf?.leaf || !leaf.requires_grad) return [];
  if (multiOutputView(write) || unrecordedView(facts, write) || customFunctionNode(facts, write)) return [];
  const target = namedTarget(facts, write);
  const [x, y] = [facts.nameFact(base, step), facts.nameFact(target, step)];
  const requiredGradStep = requiredGradAt(facts, base, step);
  const findingFacts = {
    x,
    y,
    write: operationName(op.name),
    code: facts.codeFact(step),
    view: operationName(views[0].op.name),
  };
  const chain = [link(facts.place(requiredGradStep), "made", findingFacts, [base])];
  const viewStep = facts.birth(views[0].uid);
  if (viewStep > requiredGradStep && viewStep < step)
    chain.push(
      link(facts.place(viewStep), "shares", { ...findingFacts, code: facts.codeFact(viewStep) }, [target, base]),
    );
  chain.push(link(facts.place(step), "checked", findingFacts, [target]));
  return [
    {
      variant: target === base ? undefined : "named",
      cause: facts.place(step),
      chain,
      names: namesOf(x, y),
      facts: findingFacts,
      fixes: fixesOfLeafWrite(facts, step, y),
      explainsError: true,
    },
  ];
}
