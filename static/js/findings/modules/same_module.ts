/**
 * A second name for a module that is trained on: what was meant as a copy of the best, the old or the target changes
 * along.
 */

import { findEntity } from "../../trace/entities.ts";
import { keyValuePairs, referencedUid } from "../../trace/names.ts";
import { chainLink, codeFact, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { tensorsOfModule } from "../facts/module_tensors.ts";
import { mentionsAt } from "../statements/program_text.ts";
import { resolvePath } from "../facts/resolve.ts";
import { SNAPSHOT_NAME } from "../statements/snapshot_name.ts";
import type { Value } from "../../trace/wire.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "same_module", severity: "warning", diagnose: diagnoseSecondNameOfModule },
];

const PATH = String.raw`[A-Za-z_][\w.]*(?:\[[^\]=]+\])?`;
const SECOND_NAME = new RegExp(`^(${PATH})$`);
const COPIED_MODULE = /^([A-Za-z_][\w.]*?)(\.state_dict\(\)(?:\.copy\(\))?)?$/;
const APPENDED_MODULE = /^([A-Za-z_][\w.]*)\.append\(\s*([A-Za-z_][\w.]*?)(\.state_dict\(\))?\s*\)$/;
const MAX_STATEMENTS = 400;

/** One name given to a module, or to its state dict, that has another. */
interface SecondName {
  /** name: the second; of: the first, with `.state_dict()` where that was called */
  name: string;
  of: string;
  module: string;
  isStateDict: boolean;
  /** it is given within an `if` or a loop, where a better one is found; count: how often the container has it */
  isConditional: boolean;
  count: number;
  step: number;
}

const findingsByTrace = new WeakMap<object, Map<string, Diagnosis>>();

function diagnoseSecondNameOfModule(facts: RunFacts): Diagnosis[] {
  return [...secondNameFindings(facts).values()];
}

/** The findings, by the second name. */
export function secondNameFindings(facts: RunFacts): Map<string, Diagnosis> {
  const cached = findingsByTrace.get(facts.trace) ?? secondNameDiagnoses(facts);
  findingsByTrace.set(facts.trace, cached);
  return cached;
}

function secondNameDiagnoses(facts: RunFacts): Map<string, Diagnosis> {
  /** by the second name */
  const out = new Map<string, { given: SecondName; diagnosis: Diagnosis }>();
  for (const given of secondNames(facts)) {
    const diagnosis = diagnosisOf(facts, given);
    const earlier = out.get(given.name);
    if (diagnosis && (!earlier || (given.isConditional && !earlier.given.isConditional)))
      out.set(given.name, { given, diagnosis });
  }
  return new Map([...out].map(([name, { diagnosis }]) => [name, diagnosis]));
}

/** The names that are given to a module beside its own, each statement once. */
function secondNames(facts: RunFacts): SecondName[] {
  const out: SecondName[] = [];
  const seen = new Set<number>();
  facts.steps.forEach(({ kind, stmt }, i) => {
    if (kind !== "statement" || stmt == null || seen.size > MAX_STATEMENTS) return;
    const statement = facts.trace.program.statements?.[stmt];
    if (statement?.kind !== "Assign" && statement?.kind !== "Expr") return;
    const names = statement.kind === "Assign" ? assignedNames(facts, i) : appendedNames(facts, i);
    if (!names.length || seen.has(stmt)) return;
    if (statement.kind === "Assign") seen.add(stmt);
    out.push(...names);
  });
  return out;
}

function assignedNames(facts: RunFacts, step: number): SecondName[] {
  const [left, right] = splitOnce(facts.statementCode(step).replace(/\s+#.*$/, ""));
  const [targets, values] = [splitByComma(left), splitByComma(right)];
  if (targets.length !== values.length) return [];
  return targets.flatMap((target, k) => {
    const name = SECOND_NAME.exec(target)?.[1];
    const [, path, call = ""] = COPIED_MODULE.exec(values[k]) ?? [];
    if (!name || !path || name === path) return [];
    const module = moduleAt(facts, path, step);
    if (!module) return [];
    const isConditional = isWithinIfOfLoop(facts, step);
    return [{ name, of: path + call, module, isStateDict: call !== "", isConditional, count: 1, step }];
  });
}

function appendedNames(facts: RunFacts, step: number): SecondName[] {
  const [, list, path, call = ""] = APPENDED_MODULE.exec(facts.statementCode(step).replace(/\s+#.*$/, "")) ?? [];
  const module = path ? moduleAt(facts, path, step) : null;
  const listUid = module ? resolvePath(facts, list, step) : null;
  const object = findEntity(facts.stateAt(step), listUid, "object");
  if (!module || !object || call) return [];
  const items = keyValuePairs(object)?.map(([, value]) => value) ?? object.items ?? [];
  const count = items.filter((item) => referencedUid(item as Value) === module).length;
  return count > 1 && object.type === "list"
    ? [{ name: list, of: path, module, isStateDict: false, isConditional: true, count, step }]
    : [];
}

/** The module that a path means, where it has parameters. */
function moduleAt(facts: RunFacts, path: string, step: number): string | null {
  const uid = resolvePath(facts, path, step);
  return uid?.[0] === "o" && tensorsOfModule(facts, uid, step).length ? uid : null;
}

/** Whether a statement stands in an `if` that a loop runs again and again. */
function isWithinIfOfLoop({ trace, steps }: RunFacts, step: number) {
  const statements = trace.program.statements ?? [];
  let isInIf = false;
  for (let stmt = statements[steps[step].stmt ?? -1]?.parent ?? null; stmt !== null; ) {
    const { kind, parent } = statements[stmt];
    if (kind === "If") isInIf = true;
    if (isInIf && (kind === "For" || kind === "While")) return true;
    stmt = parent ?? null;
  }
  return false;
}

function diagnosisOf(facts: RunFacts, given: SecondName): Diagnosis | null {
  const { name, of, module, step, isStateDict, isConditional, count } = given;
  const isPlainName = /^\w+$/.test(of.replace(".state_dict()", ""));
  const isSnapshot = SNAPSHOT_NAME.test(name) && !SNAPSHOT_NAME.test(of);
  if (!isSnapshot && !(isConditional && isPlainName)) return null;
  const write = firstWriteAfter(facts, module, step);
  if (!write || isRenamed(facts, of.replace(/\.state_dict.*/, ""), step)) return null;
  const root = /^\w+/.exec(name)?.[0] ?? name;
  const read = facts.steps.findIndex(
    ({ kind }, i) => i > write.step && ["statement", "return", "head"].includes(kind) && isReadAt(facts, i, root, name),
  );
  if (read < 0 && !isConditional) return null;
  // one may want to see it move
  if (isStateDict && !isConditional && !isLoadedLater(facts, root, write.step)) return null;
  const x = codeFact(name);
  const y = codeFact(of.replace(/\.state_dict.*/, ""));
  const findingFacts = {
    x,
    y,
    copied: codeFact(`copy.deepcopy(${of})`),
    n: count,
    code: facts.statementFact(step),
    effect: facts.steps[write.step].line,
    tensor: facts.nameFact(write.uid, write.step),
  };
  return {
    variant: isStateDict ? "state_dict" : count > 1 ? "list" : "module",
    cause: facts.place(step),
    chain: [
      chainLink(facts.place(step), "shares", findingFacts, [module]),
      chainLink(facts.place(write.step), "written", { ...findingFacts, code: facts.statementFact(write.step) }, [
        write.uid,
      ]),
      ...(read < 0
        ? []
        : [chainLink(facts.place(read), "read", { ...findingFacts, code: facts.statementFact(read) }, [module])]),
    ],
    names: namesInFacts(x, y),
    facts: findingFacts,
    fixes: [fixHint("copy_of_module", facts.place(step), { of })],
  };
}

/** Whether a module is to be put back to what a name holds. */
function isLoadedLater(facts: RunFacts, root: string, step: number) {
  return facts.steps.some(
    (_, i) => i > step && /load_state_dict\(/.test(facts.statementCode(i)) && mentionsAt(facts, i).names.has(root),
  );
}

/** Whether a statement reads what a name leads to, and does not only give it another meaning. */
function isReadAt(facts: RunFacts, step: number, root: string, name: string) {
  if (!mentionsAt(facts, step).names.has(root)) return false;
  const [left, right] = splitOnce(facts.statementCode(step));
  return right === "" || !splitByComma(left).includes(name) || new RegExp(`\\b${root}\\b`).test(right);
}

/** The first write of one of a module's parameters by an optimizer, or the program, after a step. */
function firstWriteAfter(facts: RunFacts, module: string, step: number): { uid: string; step: number } | null {
  const writes = tensorsOfModule(facts, module, step).flatMap((uid) => {
    const write = facts.writesOf(facts.tensor(uid, step)?.storage).find((other) => other.step > step);
    return write ? [{ uid, step: write.step }] : [];
  });
  return writes.sort((a, b) => a.step - b.step)[0] ?? null;
}

/** Whether the first name is given another meaning later: then the module goes on under the second. */
function isRenamed(facts: RunFacts, name: string, step: number) {
  return facts.steps.some(
    ({ kind }, i) =>
      i > step &&
      kind === "statement" &&
      splitByComma(splitOnce(facts.statementCode(i))[0]).includes(name) &&
      splitOnce(facts.statementCode(i))[1] !== "",
  );
}

/** The two sides of an assignment; the second empty where it is none. */
function splitOnce(code: string): [string, string] {
  const match = /^([^=]*?[^=!<>+\-*/%@&|^])=(?!=)(.*)$/s.exec(code);
  return match ? [match[1].trim(), match[2].trim()] : [code.trim(), ""];
}

/** The parts of a tuple, at its own commas. */
function splitByComma(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  [...text].forEach((character, k) => {
    if ("([{".includes(character)) depth++;
    if (")]}".includes(character)) depth--;
    if (character === "," && depth === 0) {
      parts.push(text.slice(from, k).trim());
      from = k + 1;
    }
  });
  return [...parts, text.slice(from).trim()];
}
