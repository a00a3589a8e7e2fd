/** An average of averages of batches that are not of one size: the smaller batch counts as much as the larger. */

import { codeFact, diagnosis, statementOfCandidate, operationName } from "../diagnosis.ts";
import type { Link, Operation, RunFacts } from "../diagnosis.ts";
import { addToList } from "../../trace/multimap.ts";
import {
  calleeName,
  calleePath,
  callsIn,
  literalValue,
  pathText,
  positionalArguments,
  receiver,
} from "../../syntax/expressions.ts";
import { assignments, bareExpression, loopHead, statementsAround } from "../../syntax/statements.ts";
import { nodesOfKind, statementTree, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";

export const FINDINGS = [
  diagnosis({
    kind: "mean_of_means",
    severity: "note",
    when: ({ trace }) => !statementTrees(trace.program).some(mayReduceOtherwise),
    of: meansOfMeans,
    once: statementOfCandidate,
    /** None where all batches are of one size, or it makes no difference. */
    say: (facts, { name, means, step }) => {
      const sizes = [...new Set(means.map(({ size }) => size))];
      if (sizes.length < 2) return null;
      const count = means.reduce((sum, { size }) => sum + size, 0);
      const plain = means.reduce((sum, { value }) => sum + value, 0) / means.length;
      const weighted = means.reduce((sum, { value, size }) => sum + value * size, 0) / count;
      if (Math.abs(plain - weighted) < MIN_DIFFERENCE * Math.abs(weighted)) return null;
      const bySize = new Map<number, BatchMean[]>();
      for (const mean of means) addToList(bySize, mean.size, mean);
      const ends = [Math.max(...sizes), Math.min(...sizes)].map((size) => (bySize.get(size) ?? means)[0]);
      const x = codeFact(name);
      return {
        cause: step,
        chain: [
          ...ends.map(({ step: counted, size, tensor }): Link => [counted, "counted", [tensor], { small: size }]),
          [step, "read"],
        ],
        facts: {
          x,
          n: means.length,
          count,
          sizes: sizes.sort((a, b) => b - a),
          small: Math.min(...sizes),
          large: Math.max(...sizes),
          plain: Number(plain.toPrecision(4)),
          weighted: Number(weighted.toPrecision(4)),
          added: facts.place(means[0].step).line,
        },
      };
    },
  }),
];

const MEAN_LOSS =
  /^(?:nll_loss\w*|cross_entropy_loss|mse_loss|l1_loss|smooth_l1_loss|huber_loss|binary_cross_entropy\w*|mean)$/;
const AS_MANY = new Set(["enumerate", "tqdm", "track", "iter", "list", "reversed"]);
const MAKE_ARRAYS = new Set(["tensor", "as_tensor", "array", "asarray"]);
/** Less is not worth a word. */
const MIN_DIFFERENCE = 0.005;

/** A mean over a batch that the program adds to others. */
interface BatchMean {
  step: number;
  tensor: string;
  size: number;
  value: number;
}

/** The numbers that a loop adds up, or keeps in a list, under a name. */
interface GatheredNumbers {
  name: string;
  isList: boolean;
  means: BatchMean[];
}

interface MeanOfMeans extends GatheredNumbers {
  step: number;
}

/** Whether a statement asks for a loss that is no mean, or is unknown. */
function mayReduceOtherwise(tree: SyntaxNode | null) {
  const isOther = ({ value, children: [given] }: SyntaxNode) =>
    value === "size_average" || (value === "reduction" && literalValue(given) !== "mean");
  return tree === null || nodesOfKind(tree, "keyword").some(isOther);
}

/** The numbers that a loop adds up or keeps, up to where the program divides them by their count. */
function meansOfMeans(facts: RunFacts): MeanOfMeans[] {
  const out: MeanOfMeans[] = [];
  const open = new Map<string, GatheredNumbers>();
  /** by statement */
  const gatherings = statementTrees(facts.trace.program).map((tree) => tree && numbersGatheredBy(tree));
  if (!gatherings.some(Boolean)) return [];
  facts.steps.forEach(({ kind, skipped, stmt, frame }, step) => {
    if (skipped) open.clear();
    const tree = facts.syntax(step);
    if (!tree || (kind !== "statement" && kind !== "return")) return;
    const gathering = gatherings[stmt ?? -1];
    if (gathering) {
      const key = `${frame} ${gathering.name}`;
      const mean = batchMeanAt(facts, step);
      const known = open.get(key);
      if (!mean) open.delete(key);
      else if (known) known.means.push(mean);
      else open.set(key, { ...gathering, means: [mean] });
      return;
    }
    for (const [key, gathered] of open) {
      const { name, means } = gathered;
      if (facts.steps[means[0].step].frame !== frame) continue;
      if (means.length > 1 && isDivided(facts, tree, gathered, step)) out.push({ ...gathered, step });
      else if (!assignments(tree).some(({ target, operator }) => !operator && pathText(target) === name)) continue;
      open.delete(key);
    }
  });
  return out;
}

/** What a statement adds the number of a tensor to, or appends it to; null for other statements. */
function numbersGatheredBy(tree: SyntaxNode): Omit<GatheredNumbers, "means"> | null {
  const call = bareExpression(tree);
  const isList = call !== null && calleeName(call) === "append";
  const [sum] = assignments(tree);
  const added = isList ? positionalArguments(call)[0] : sum?.operator === "+" ? sum.value : null;
  const name = isNumberOfTensor(added) ? pathText(isList ? receiver(call) : sum.target) : null;
  return name === null ? null : { name, isList };
}

/** Whether an expression is `x.item()` or `float(x)`. */
function isNumberOfTensor(node: SyntaxNode | null) {
  if (node?.kind !== "Call") return false;
  return pathText(calleeName(node) === "item" ? receiver(node) : argumentOf(node, "float")) !== null;
}

/** The mean whose number a statement takes, with as many samples as its operand has rows; null for anything else. */
function batchMeanAt(facts: RunFacts, step: number): BatchMean | null {
  const cuts = facts.eventsOfKind("path_cut").filter((event) => event.step === step && event.reason === "item");
  if (cuts.length !== 1) return null;
  const [{ tensor }] = cuts;
  const op = facts.producingOperation(tensor);
  const size = op && sizeOfMean(facts, op);
  const [value] = facts.numbersOf(tensor, step) ?? [];
  return size && Number.isFinite(value) ? { step, tensor, size, value } : null;
}

function sizeOfMean(facts: RunFacts, op: Operation) {
  const name = operationName(op.name);
  if (!MEAN_LOSS.test(name) || facts.handle(op.outputs[0], op.step)?.shape?.length !== 0) return 0;
  return facts.handle(op.inputs[0], op.step)?.shape?.[0] ?? 0;
}

/** Whether a statement divides by how many means there are. */
function isDivided(facts: RunFacts, tree: SyntaxNode, { name, isList, means }: GatheredNumbers, step: number) {
  const { program } = facts.trace;
  const isGathered = (node: SyntaxNode | null) => pathText(node) === name;
  if (isList && callsIn(tree).some((call) => calleeName(call) === "mean" && isGathered(averagedNode(call))))
    return true;
  return nodesOfKind(tree, "BinOp", "AugAssign").some((node) => {
    const [dividend, divisor] = node.children;
    if (node.value !== "/") return false;
    if (isList) return isGathered(argumentOf(dividend, "sum")) && isGathered(argumentOf(divisor, "len"));
    if (!isGathered(dividend)) return false;
    const iterated = pathText(argumentOf(divisor, "len"));
    if (iterated === null) return numberOf(facts, divisor, step) === means.length;
    return [...statementsAround(program, facts.steps[means[0].step].stmt ?? -1)].some((stmt) => {
      const loop = loopHead(statementTree(program, stmt));
      return loop && iteratedPath(loop.iterable) === iterated;
    });
  });
}

/** The path of what a loop goes over, also where it counts the rounds; a loader made of it has other rounds. */
function iteratedPath(node: SyntaxNode): string | null {
  const given = node.kind === "Call" && AS_MANY.has(calleeName(node)) ? positionalArguments(node)[0] : null;
  return given ? iteratedPath(given) : pathText(node);
}

/** What a call of `mean` is of, also where a tensor or an array is made of it. */
function averagedNode(call: SyntaxNode) {
  const given = positionalArguments(call)[0] ?? receiver(call);
  return given?.kind === "Call" && MAKE_ARRAYS.has(calleeName(given)) ? positionalArguments(given)[0] : given;
}

/** What a function of Python's own is given, where an expression calls it. */
function argumentOf(node: SyntaxNode, name: string) {
  return node.kind === "Call" && calleePath(node) === `builtins.${name}` ? positionalArguments(node)[0] : null;
}

/** A number that is written, that a name of the frame means, or the sum of two; null for anything else. */
function numberOf(facts: RunFacts, node: SyntaxNode, step: number): number | null {
  const frame = facts.stateAt(step).get(facts.steps[step].frame ?? "");
  const isVariable = node.kind === "Name" && frame?.kind === "frame";
  const value = isVariable ? frame.vars.get(String(node.value)) : literalValue(node);
  if (typeof value === "number") return value;
  if (node.kind !== "BinOp" || node.value !== "+") return null;
  const [left, right] = node.children.map((operand) => numberOf(facts, operand, step));
  return left === null || right === null ? null : left + right;
}
