/** A leaf that requires grad was to be written in place while autograd records. */

import { fix, link, namesOf, type Diagnosis, type Fact } from "./finding.ts";
import { operationName } from "./operation_name.ts";
import { customFunctionNode, multiOutputView, findRefusedWrite, unrecordedView } from "./refused_write.ts";
import type { RunFacts } from "./run_facts.ts";

export function leafInplace(facts: RunFacts): Diagnosis[] {
  const write = findRefusedWrite(facts);
  if (!write || !write.op.grad_mode || !write.tensor.leaf || !write.tensor.requires_grad) return [];
  if (multiOutputView(write) || unrecordedView(facts, write) || customFunctionNode(facts, write)) return [];
  const { uid, step, op } = write;
  const x = facts.nameFact(uid, step);
  const requiredGradStep = requiredGradAt(facts, uid, step);
  const findingFacts = {
    x,
    write: operationName(op.name),
    code: facts.codeFact(step),
    made_line: facts.lineOf(requiredGradStep),
  };
  return [
    {
      variant: isAskedByFlag(facts, step) ? "flag" : undefined,
      cause: facts.place(step),
      chain: [
        link(facts.place(requiredGradStep), "made", findingFacts, [uid]),
        link(facts.place(step), "checked", findingFacts, [uid]),
      ],
      names: namesOf(x),
      facts: findingFacts,
      fixes: fixesOfLeafWrite(facts, step, x),
      explainsError: true,
    },
  ];
}

/** Whether the write was asked for by `inplace=True`, here or where a module was made. */
function isAskedByFlag(facts: RunFacts, step: number) {
  const isVisibleWrite = /\w_\(|[-+*/@%&|^]=|\]\s*=[^=]|\bout\s*=/.test(facts.code(step));
  return !isVisibleWrite && facts.source.some((line) => /inplace\s*=\s*True/.test(line));
}

/** The step at which a tensor began to require grad. */
export function requiredGradAt(facts: RunFacts, uid: string, step: number) {
  const birth = facts.birth(uid);
  for (let i = step; i >= birth && i >= 0; i--) if (facts.steps[i].set?.[uid]?.requires_grad) return i;
  return Math.max(birth, 0);
}

export function fixesOfLeafWrite(facts: RunFacts, step: number, x: Fact) {
  const name = typeof x === "object" && "code" in x ? x.code : "";
  const place = facts.place(step);
  return [
    fix("not_inplace", place, { name }),
    fix("out_of_place", place, { name }),
    fix("under_no_grad", place, { name }),
  ];
}
