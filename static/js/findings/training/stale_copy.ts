/**
 * A copy of a weight with which every round goes on though the weight has moved: one that autocast keeps until its
 * block ends, or one that was made before the loop.
 */

import { chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { optimizersOf } from "../facts/optimizers.ts";
import { tensorHistoryOf } from "../facts/tensor_history.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "stale_copy", severity: "warning", diagnose: diagnoseStaleCopies, lookedFor: "optimizers" },
];

/** Nodes that give new memory and save nothing for backward: torch lets them run again after their input was written. */
const COPYING_NODE = /^(?:ToCopy|Clone|Cat|Stack)Backward/;
const MIN_STALE_BACKWARDS = 2;

interface StaleCopy {
  node: string;
  parameter: string;
  /** of the last write that the copy missed, and of the visit after it */
  written: number;
  visited: number;
  /** of backwards that went through it after the parameter was written */
  count: number;
}

function diagnoseStaleCopies(facts: RunFacts): Diagnosis[] {
  const steps = new Set([...optimizersOf(facts).values()].flatMap((optimizer) => optimizer.steps));
  if (steps.size < MIN_STALE_BACKWARDS) return [];
  /** by line */
  const out = new Map<number, { diagnosis: Diagnosis; parameters: Set<string> }>();
  for (const { uid, name, next } of facts.index.nodes.values()) {
    const visits = facts.index.visitStepsByNode.get(uid) ?? [];
    if (visits.length <= MIN_STALE_BACKWARDS || !COPYING_NODE.test(name)) continue;
    for (const edge of next) {
      const parameter = facts.index.nodes.get(edge?.[0] ?? "")?.variable;
      const copy = parameter ? staleCopy(facts, uid, parameter, visits, steps) : null;
      if (!copy) continue;
      const diagnosis = diagnosisOf(facts, copy);
      const earlier = out.get(diagnosis.cause.line);
      if (earlier) earlier.parameters.add(copy.parameter);
      else out.set(diagnosis.cause.line, { diagnosis, parameters: new Set([copy.parameter]) });
    }
  }
  return [...out.values()].map(({ diagnosis, parameters }) => ({
    ...diagnosis,
    facts: { ...diagnosis.facts, n: parameters.size },
  }));
}

function staleCopy(
  facts: RunFacts,
  node: string,
  parameter: string,
  visits: number[],
  steps: Set<number>,
): StaleCopy | null {
  const storage = tensorHistoryOf(facts).valueAt(parameter, "storage", visits[0]) as string | null;
  const writes = facts.writesOf(storage).filter(({ step, changed }) => steps.has(step) && changed !== 0);
  const missed = visits.flatMap((visited, k) => {
    const write = writes.findLast(({ step }) => step < visited && step > (visits[k - 1] ?? visited));
    return write ? [{ written: write.step, visited }] : [];
  });
  const last = missed.at(-1);
  return last && missed.length >= MIN_STALE_BACKWARDS ? { node, parameter, ...last, count: missed.length } : null;
}

function diagnosisOf(facts: RunFacts, { node, parameter, written, visited, count }: StaleCopy): Diagnosis {
  const made = facts.birthStep(node);
  const block = autocastBlock(facts, made);
  const variant = block === null ? undefined : "autocast";
  const [output] = facts.index.nodes.get(node)?.output?.split("|") ?? [];
  const x = facts.nameFact(parameter, written);
  const copy = block === null ? facts.nameFact(output, made) : "";
  const backward = facts.backwardAt(visited);
  const names = { x, copy, count, n: 1, made: facts.place(made).line, written: facts.place(written).line };
  const code = (at: number) => ({ ...names, code: facts.statementFact(at) });
  return {
    variant,
    cause: facts.place(block ?? made),
    chain: [
      ...(block === null ? [] : [chainLink(facts.place(block), "kept", code(block))]),
      chainLink(facts.place(made), "made", code(made), [node]),
      chainLink(facts.place(written), "written", code(written), [parameter]),
      chainLink(backward ? facts.placeOfBackward(backward) : facts.place(visited), "used", code(visited), [node]),
    ],
    names: namesInFacts(copy, x),
    facts: names,
    fixes: [],
  };
}

/** The step that entered the autocast block in which a step ran; null where it ran in none. */
function autocastBlock({ steps }: RunFacts, step: number): number | null {
  for (let i = step; i >= 0; i--)
    for (const [uid, { autocast }] of Object.entries(steps[i].set))
      if (uid[0] === "m" && autocast !== undefined) return autocast ? i : null;
  return null;
}
