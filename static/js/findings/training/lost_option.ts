/**
 * A learning rate or the like set where no step reads it: in a copy of the groups, in the defaults, or in the last
 * group alone.
 */

import { chainLink, codeFact, fixHint, namesInFacts, type Diagnosis } from "../finding.ts";
import { optimizerGroups, optimizersOf } from "../facts/optimizers.ts";
import { resolvePath } from "../facts/resolve.ts";
import type { Statement } from "../../trace/wire.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [{ kind: "module_flag", severity: "warning", diagnose: diagnoseLostOption }];

const PATH = String.raw`[A-Za-z_][\w.]*(?:\[\w+\])?`;
const OPTION = String.raw`\[\s*["'](lr|momentum|weight_decay|betas)["']\s*\]\s*[*/+-]?=(?!=)`;
const OF_DEFAULTS = new RegExp(String.raw`^(${PATH})\.defaults${OPTION}`);
const OF_A_COPY = new RegExp(String.raw`^(${PATH})\.state_dict\(\)\[["']param_groups["']\]\[[^\]]+\]${OPTION}`);
const OF_A_NAME = new RegExp(String.raw`^([A-Za-z_]\w*)${OPTION}`);
const LOOP = /^for\s+(?:\w+\s*,\s*)?(\w+)\s+in\s+(?:enumerate\()?(.+?)\)?:/;
const LOOP_OVER_COPY = new RegExp(String.raw`^(${PATH})\.state_dict\(\)\[["']param_groups["']\]$`);
const LOOP_OVER_GROUPS = new RegExp(String.raw`^(${PATH})\.param_groups$`);

/** loop: the line of the loop that is about it; 0 where there is none */
interface LostOption {
  variant: "copied_groups" | "defaults" | "last_group";
  path: string;
  option: string;
  loop: number;
}

function diagnoseLostOption(facts: RunFacts): Diagnosis[] {
  const optimizers = optimizersOf(facts);
  if (!optimizers.size) return [];
  /** by line; null where it is no such statement */
  const out = new Map<number, Diagnosis | null>();
  facts.steps.forEach(({ kind, line }, step) => {
    if (kind !== "statement" || out.get(line)) return;
    const lost = out.has(line) ? null : lostOption(facts, step);
    if (!lost) {
      out.set(line, null);
      return;
    }
    const optimizer = optimizers.get(resolvePath(facts, lost.path, step) ?? "");
    const later = optimizer?.steps.find((other) => other > step);
    if (!optimizer || later === undefined) return;
    if (lost.variant === "last_group" && !areOthersLeft(facts, optimizer.uid, optimizer.steps)) return;
    out.set(line, diagnosisOf(facts, step, later, lost));
  });
  return [...out.values()].filter((diagnosis) => diagnosis !== null);
}

/** What a statement sets to no effect, as its text and the loops around it say. */
function lostOption(facts: RunFacts, step: number): LostOption | null {
  const code = facts.statementCode(step);
  const direct = OF_A_COPY.exec(code);
  if (direct) return { variant: "copied_groups", path: direct[1], option: direct[2], loop: 0 };
  const defaults = OF_DEFAULTS.exec(code);
  if (defaults) {
    const isReadLater = facts.source.some((text) => /add_param_group|\.defaults\b(?!\[[^\]]+\]\s*[*/+-]?=)/.test(text));
    return isReadLater ? null : { variant: "defaults", path: defaults[1], option: defaults[2], loop: 0 };
  }
  const [, name, option] = OF_A_NAME.exec(code) ?? [];
  return name ? optionOfLoop(facts, facts.steps[step].stmt ?? -1, name, option) : null;
}

/** Of `name["lr"] = …`: the loop that gives the name its meaning, where it goes through a copy, or has ended before. */
function optionOfLoop(facts: RunFacts, stmt: number, name: string, option: string): LostOption | null {
  const statements = facts.trace.program.statements ?? [];
  for (let around = statements[stmt]?.parent ?? null; around !== null; around = statements[around].parent ?? null) {
    const loop = loopOf(facts, statements[around]);
    if (loop?.name !== name) continue;
    const path = LOOP_OVER_COPY.exec(loop.over)?.[1];
    return path ? { variant: "copied_groups", path, option, loop: statements[around].line } : null;
  }
  const { parent = null, line = 0 } = statements[stmt] ?? {};
  const before = statements.findLast(
    (other) => (other.parent ?? null) === parent && other.line < line && loopOf(facts, other)?.name === name,
  );
  const path = before && LOOP_OVER_GROUPS.exec(loopOf(facts, before)?.over ?? "")?.[1];
  return path ? { variant: "last_group", path, option, loop: before.line } : null;
}

function loopOf(facts: RunFacts, statement: Statement): { name: string; over: string } | null {
  if (statement.kind !== "For") return null;
  const [, name, over] = LOOP.exec(facts.textOfStatement(statement)) ?? [];
  return name ? { name, over: over.trim() } : null;
}

/** Whether of several groups the last alone came to another rate. */
function areOthersLeft(facts: RunFacts, optimizer: string, steps: number[]) {
  const [first, last] = [steps[0], steps.at(-1) ?? steps[0]].map((step) => optimizerGroups(facts, optimizer, step));
  if (first.length < 2 || first.length !== last.length) return false;
  return first.slice(0, -1).every(({ lr }, k) => typeof lr === "number" && lr === last[k].lr);
}

function diagnosisOf(facts: RunFacts, step: number, later: number, { variant, path, option, loop }: LostOption) {
  const optimizer = codeFact(path);
  const findingFacts = {
    optimizer,
    attribute: codeFact(option),
    path,
    name: option,
    loop: loop || facts.place(step).line,
    code: facts.statementFact(step),
    effect: facts.place(later).line,
  };
  const fix = {
    copied_groups: fixHint("live_groups", { line: findingFacts.loop, step }),
    defaults: fixHint("group_option", facts.place(step), { path, name: option }),
    last_group: fixHint("into_loop_above", facts.place(step)),
  }[variant];
  return {
    variant,
    cause: facts.place(step),
    chain: [
      chainLink(facts.place(step), "made", findingFacts, []),
      chainLink(facts.place(later), "none", { ...findingFacts, code: facts.statementFact(later) }, []),
    ],
    names: namesInFacts(optimizer, findingFacts.attribute),
    facts: findingFacts,
    fixes: [fix],
  };
}
