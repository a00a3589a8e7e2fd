/**
 * A copy of a weight with which every round goes on though the weight has moved: one that autocast keeps until its
 * block ends, or one that was made before the loop.
 */

import { diagnosis, type RunFacts } from "../diagnosis.ts";

export const FINDINGS = [
  diagnosis({
    kind: "stale_copy",
    severity: "warning",
    lookedFor: "optimizers",
    of: staleCopies,
    once: ({ node }, facts) => facts.lineOf(autocastBlock(facts, facts.birthStep(node)) ?? facts.birthStep(node)),
    say: (facts, { node, parameter, written, visited, count }) => {
      const made = facts.birthStep(node);
      const block = autocastBlock(facts, made);
      const [output] = facts.index.nodes.get(node)?.output?.split("|") ?? [];
      const x = facts.nameFact(parameter, written);
      const copy = block === null ? facts.nameFact(output, made) : "";
      return {
        variant: block === null ? undefined : "autocast",
        cause: block ?? made,
        chain: [
          block !== null && [block, "kept"],
          [made, "made", [node]],
          [written, "written", [parameter]],
          [facts.backwardAt(visited) ?? visited, "used", [node]],
        ],
        names: [copy, x],
        facts: { x, copy, count, made: facts.lineOf(made), written: facts.lineOf(written) },
      };
    },
  }),
];

/** Nodes that give new memory and save nothing for backward: they may run again after their input was written. */
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

function staleCopies(facts: RunFacts): StaleCopy[] {
  const steps = new Set(facts.optimizers.flatMap((optimizer) => optimizer.steps));
  if (steps.size < MIN_STALE_BACKWARDS) return [];
  return [...facts.index.nodes.values()].flatMap(({ uid, name, next }) => {
    const visits = facts.visitsOf(uid);
    if (visits.length <= MIN_STALE_BACKWARDS || !COPYING_NODE.test(name)) return [];
    return next.flatMap((edge) => {
      const parameter = facts.index.nodes.get(edge?.[0] ?? "")?.variable;
      return (parameter && staleCopy(facts, uid, parameter, visits, steps)) || [];
    });
  });
}

function staleCopy(
  facts: RunFacts,
  node: string,
  parameter: string,
  visits: number[],
  steps: Set<number>,
): StaleCopy | null {
  const storage = facts.storageOf(parameter, visits[0]);
  const writes = facts.writesOf(storage).filter(({ step, changed }) => steps.has(step) && changed !== 0);
  const missed = visits.flatMap((visited, k) => {
    const write = writes.findLast(({ step }) => step < visited && step > (visits[k - 1] ?? visited));
    return write ? [{ written: write.step, visited }] : [];
  });
  const last = missed.at(-1);
  return last && missed.length >= MIN_STALE_BACKWARDS ? { node, parameter, ...last, count: missed.length } : null;
}

/** The step that entered the autocast block in which a step ran; null where it ran in none. */
function autocastBlock({ steps }: RunFacts, step: number): number | null {
  for (let i = step; i >= 0; i--)
    for (const [uid, { autocast }] of Object.entries(steps[i].set))
      if (uid[0] === "m" && autocast !== undefined) return autocast ? i : null;
  return null;
}
