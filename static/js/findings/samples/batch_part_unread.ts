/** A part of each batch that a loop takes out by name and never reads: a `done`, a weight, a mask. */

import { codeFact, diagnosis, type RunFacts } from "../diagnosis.ts";
import { addToList } from "../../trace/multimap.ts";
import { referencedUid } from "../../trace/names.ts";
import { nameUses } from "../../syntax/name_uses.ts";
import { loopHead } from "../../syntax/statements.ts";
import { calleePath, callsIn } from "../../syntax/expressions.ts";
import { childrenOf, nodesOfKind, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "batch_part_unread",
    severity: "note",
    when: (facts) => facts.optimizers.length > 0,
    of: unreadParts,
    once: ({ steps: [step] }, facts) => facts.lineOf(step),
    /** Null where the part is read through another name, and where it is the same for all samples. */
    say: (facts, { name, steps, parts }) => {
      const uids = steps.map((step) => tensorNamed(facts, name, step) ?? "");
      const values = new Set(uids.flatMap((uid, k) => facts.numbersOf(uid, steps[k]) ?? []));
      if (values.size < 2 || uids.some((uid, k) => isReadAfter(facts, uid, steps[k]))) return null;
      const x = codeFact(name);
      const [step] = steps;
      const update = facts.optimizers.flatMap((each) => each.steps.filter((at) => at > step)).sort((a, b) => a - b)[0];
      return {
        cause: step,
        chain: [
          [step, "made", [uids[0]]],
          [update, "used"],
        ],
        facts: { x, parts, n: steps.length },
      };
    },
  }),
];

const MIN_PARTS = 3;
const MIN_BATCHES = 2;
/** Names of what is often there and not meant to be read. */
const EXPECTED_UNREAD =
  /^_|^(?:y|yb|gt)$|idx|index|ids?$|name|path|file|meta|info|label|target|class|extra|unused|dummy|seed|time|step|trunc|caption|text/i;
const READS_ALL_NAMES = /^builtins\.(?:locals|vars|globals|eval|exec|dir)$/;

interface UnreadPart {
  name: string;
  /** at which the batch was taken apart, and how many parts it has */
  steps: number[];
  parts: number;
}

function unreadParts(facts: RunFacts): UnreadPart[] {
  const trees = statementTrees(facts.trace.program);
  const known = trees.flatMap((tree) => tree ?? []);
  if (known.length < trees.length || known.some(readsAllNames)) return [];
  const read = new Set(known.flatMap((tree) => [...nameUses(tree).read.keys()]));
  const byStatement = new Map<number, string[]>();
  trees.forEach((tree, stmt) => {
    const names = tree ? unpackedNames(tree) : [];
    if (names.some((name) => !read.has(name))) byStatement.set(stmt, names);
  });
  if (!byStatement.size) return [];
  const stepsOf = new Map<number, number[]>();
  facts.steps.forEach(({ stmt, kind }, step) => {
    // a loop has a statement's step too, at its end
    const isLoop = typeof stmt === "number" && facts.trace.program.statements?.[stmt]?.kind !== "Assign";
    if (typeof stmt === "number" && byStatement.has(stmt) && kind === (isLoop ? "head" : "statement"))
      addToList(stepsOf, stmt, step);
  });
  return [...byStatement].flatMap(([stmt, names]) => {
    const steps = (stepsOf.get(stmt) ?? []).filter((step) => isBatch(facts, names, step));
    const unread = names.filter((name) => !read.has(name));
    return unread.length === 1 && !EXPECTED_UNREAD.test(unread[0]) && isOfTraining(facts, steps)
      ? [{ name: unread[0], steps, parts: names.length }]
      : [];
  });
}

/** Whether a statement calls what reads names that it does not mention. */
export function readsAllNames(tree: SyntaxNode): boolean {
  return callsIn(tree).some((call) => READS_ALL_NAMES.test(calleePath(call) ?? ""));
}

/** The names of `a, b, c = …` and of `for a, b, c in …`, those of inner tuples too. */
function unpackedNames(tree: SyntaxNode): string[] {
  const targets = tree.kind === "Assign" ? childrenOf(tree, "targets") : [loopHead(tree)?.target];
  const [target] = targets;
  if (!target || !["Tuple", "List"].includes(target.kind)) return [];
  const names = nodesOfKind(target, "Name").map(({ value }) => String(value));
  return names.length < MIN_PARTS ? [] : names;
}

function tensorNamed(facts: RunFacts, name: string, step: number): string | null {
  const frame = facts.entities.entityAfter(facts.steps[step].frame ?? "", step);
  const uid = frame?.kind === "frame" ? referencedUid(frame.vars.get(name)) : null;
  return uid?.[0] === "t" ? uid : null;
}

/** Whether the names mean data: tensors without a history, with one size of their first dimension. */
function isBatch(facts: RunFacts, names: string[], step: number): boolean {
  const tensors = names.map((name) => facts.tensor(tensorNamed(facts, name, step), step));
  const sizes = tensors.map((tensor) => (tensor?.requires_grad ? undefined : tensor?.shape?.[0]));
  return sizes.every((size) => size !== undefined && size > 1 && size === sizes[0]);
}

/** Whether an optimizer steps with each batch. */
function isOfTraining(facts: RunFacts, steps: number[]): boolean {
  const updates = facts.optimizers.flatMap((optimizer) => optimizer.steps);
  return (
    steps.length >= MIN_BATCHES &&
    steps.every((step, k) => updates.some((update) => update > step && update < (steps[k + 1] ?? Infinity)))
  );
}

/** Whether an operation takes a tensor's memory after a step. */
export function isReadAfter(facts: RunFacts, uid: string, step: number): boolean {
  const storage = facts.tensor(uid, step)?.storage;
  for (let at = step + 1; at < facts.steps.length; at++)
    for (const { inputs } of facts.opsAt(at))
      if (inputs.some((input) => input === uid || facts.tensor(input, at)?.storage === storage)) return true;
  return false;
}
