/** An average of averages of batches that are not of one size: the smaller batch counts as much as the larger. */

import { addToList } from "../../trace/multimap.ts";
import { chainLink, codeFact, namesInFacts, type Diagnosis } from "../finding.ts";
import { operationName } from "../facts/operation_name.ts";
import { numbersOfTensor } from "../facts/tensor_values.ts";
import type { Operation } from "../facts/scan.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [{ kind: "mean_of_means", severity: "note", diagnose: diagnoseMeanOfMeans }];

const ADDED_NUMBER = /^([A-Za-z_][\w.]*)\s*\+=\s*(?:float\()?[A-Za-z_][\w.]*(?:\.item\(\)|\))$/;
const APPENDED_NUMBER = /^([A-Za-z_][\w.]*)\.append\(\s*(?:float\()?[A-Za-z_][\w.]*(?:\.item\(\)|\))\s*\)$/;
const MEAN_LOSS =
  /^(?:nll_loss\w*|cross_entropy_loss|mse_loss|l1_loss|smooth_l1_loss|huber_loss|binary_cross_entropy\w*|mean)$/;
const OTHER_REDUCTION = /reduction\s*=\s*['"](?:sum|none)|size_average/;
/** Less is not worth a word. */
const MIN_DIFFERENCE = 0.005;

/** A mean over a batch that the program adds to others. */
interface BatchMean {
  step: number;
  tensor: string;
  size: number;
  value: number;
}

interface MeanOfMeans {
  name: string;
  isList: boolean;
  means: BatchMean[];
  step: number;
}

function diagnoseMeanOfMeans(facts: RunFacts): Diagnosis[] {
  if (OTHER_REDUCTION.test(facts.trace.program.source)) return [];
  const found = meansOfMeans(facts);
  /** by line */
  const out = new Map<number, Diagnosis>();
  for (const mean of found) {
    const { line } = facts.place(mean.step);
    const diagnosis = out.has(line) ? null : diagnosisOf(facts, mean);
    if (diagnosis) out.set(line, diagnosis);
  }
  return [...out.values()];
}

/** The numbers that a loop adds up or keeps, up to where the program divides them by their count. */
function meansOfMeans(facts: RunFacts): MeanOfMeans[] {
  const out: MeanOfMeans[] = [];
  const open = new Map<string, { isList: boolean; means: BatchMean[] }>();
  if (!facts.source.some((text) => /\+=|\.append\(/.test(text))) return [];
  facts.steps.forEach(({ kind, skipped, stmt, frame }, step) => {
    if (skipped) open.clear();
    if (kind !== "statement" && kind !== "return") return;
    const code = facts.statementCode(step).replace(/\s+#.*$/, "");
    const [added, appended] = [ADDED_NUMBER.exec(code), APPENDED_NUMBER.exec(code)];
    const name = added?.[1] ?? appended?.[1];
    if (name) {
      const key = `${frame} ${name}`;
      const mean = batchMeanAt(facts, step);
      const known = open.get(key);
      if (!mean) open.delete(key);
      else if (known) known.means.push(mean);
      else open.set(key, { isList: Boolean(appended), means: [mean] });
      return;
    }
    for (const [key, { isList, means }] of open) {
      const [of, path] = key.split(" ");
      if (of !== frame) continue;
      if (new RegExp(`^${escaped(path)}\\s*=(?!=)`).test(code)) open.delete(key);
      else if (
        means.length > 1 &&
        facts.steps[means[0].step].stmt !== stmt &&
        isDivided(facts, code, path, isList, means, step)
      ) {
        out.push({ name: path, isList, means: [...means], step });
        open.delete(key);
      }
    }
  });
  return out;
}

function escaped(text: string) {
  return text.replace(/[.[\]]/g, "\\$&");
}

/** The mean whose number a statement takes, with as many samples as its operand has rows; null for anything else. */
function batchMeanAt(facts: RunFacts, step: number): BatchMean | null {
  const cuts = facts.eventsOfKind("path_cut").filter((event) => event.step === step && event.reason === "item");
  if (cuts.length !== 1) return null;
  const [{ tensor }] = cuts;
  const op = facts.producingOperation(tensor);
  const size = op && sizeOfMean(facts, op);
  const [value] = numbersOfTensor(facts, tensor, step) ?? [];
  return size && Number.isFinite(value) ? { step, tensor, size, value } : null;
}

function sizeOfMean(facts: RunFacts, op: Operation) {
  const name = operationName(op.name);
  if (!MEAN_LOSS.test(name) || facts.handle(op.outputs[0], op.step)?.shape?.length !== 0) return 0;
  return facts.handle(op.inputs[0], op.step)?.shape?.[0] ?? 0;
}

/** Whether a statement divides by how many means there are. */
function isDivided(facts: RunFacts, code: string, path: string, isList: boolean, means: BatchMean[], step: number) {
  const name = escaped(path);
  if (isList)
    return (
      new RegExp(`\\bsum\\(\\s*${name}\\s*\\)\\s*/\\s*len\\(\\s*${name}\\s*\\)`).test(code) ||
      new RegExp(`\\bmean\\(\\s*(?:torch\\.tensor\\(\\s*|np\\.array\\(\\s*)?${name}\\b`).test(code)
    );
  const divisor = new RegExp(
    `(?<![\\w.])${name}\\s*/=?\\s*(len\\(\\s*[\\w.]+\\s*\\)|\\(?\\s*[A-Za-z_]\\w*\\s*\\+\\s*1\\s*\\)?|\\w+)`,
  ).exec(code)?.[1];
  if (!divisor) return false;
  const iterated = /^len\(\s*([\w.]+)\s*\)$/.exec(divisor)?.[1];
  if (iterated)
    return loopHeadsAround(facts, means[0].step).some((head) =>
      new RegExp(`\\bin\\b.*(?<![\\w.])${escaped(iterated)}\\b(?!\\.dataset)`).test(head),
    );
  const [, variable, plus] = /^\(?\s*(\w+)\s*(\+\s*1)?/.exec(divisor) ?? [];
  const number = /^\d+$/.test(variable) ? Number(variable) : numberOfName(facts, variable, step);
  return number !== null && number + (plus ? 1 : 0) === means.length;
}

function loopHeadsAround(facts: RunFacts, step: number) {
  const { frame } = facts.steps[step];
  const heads = new Set<string>();
  for (let i = step; i >= 0 && heads.size < 4; i--)
    if (facts.steps[i].kind === "head" && facts.steps[i].frame === frame) heads.add(facts.statementCode(i));
  return [...heads];
}

/** A whole number that a name of the frame means; null for anything else. */
function numberOfName(facts: RunFacts, name: string, step: number) {
  const frame = facts.stateAt(step).get(facts.steps[step].frame ?? "");
  const value = frame?.kind === "frame" ? frame.vars.get(name) : undefined;
  return typeof value === "number" ? value : null;
}

/** None where all batches are of one size, or it makes no difference. */
function diagnosisOf(facts: RunFacts, { name, means, step }: MeanOfMeans): Diagnosis | null {
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
  const findingFacts = {
    x,
    n: means.length,
    count,
    sizes: sizes.sort((a, b) => b - a),
    small: Math.min(...sizes),
    large: Math.max(...sizes),
    plain: Number(plain.toPrecision(4)),
    weighted: Number(weighted.toPrecision(4)),
    code: facts.statementFact(step),
    added: facts.place(means[0].step).line,
  };
  return {
    cause: facts.place(step),
    chain: [
      ...ends.map(({ step: counted, size, tensor }) =>
        chainLink(
          facts.place(counted),
          "counted",
          { ...findingFacts, small: size, code: facts.statementFact(counted) },
          [tensor],
        ),
      ),
      chainLink(facts.place(step), "read", findingFacts),
    ],
    names: namesInFacts(x),
    facts: findingFacts,
    fixes: [],
  };
}
