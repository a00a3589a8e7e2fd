/**
 * A hook of a module that is called several times in one forward, and that stores what it sees under one key: the last
 * call stays.
 */

import { codeFact, diagnosis, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { referencedUid } from "../../trace/names.ts";
import { rootName } from "../../syntax/expressions.ts";
import { assignments } from "../../syntax/statements.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "hook_keeps_last",
    severity: "note",
    of: (facts) =>
      groupBy(storedOutputs(facts), ({ dict, key, module, forward }) => `${dict} ${key} ${module} ${forward}`),
    say: (facts, stored) => {
      const k = stored.findIndex(
        (last, at) => at > 0 && last.value !== stored[at - 1].value && !isReadBetween(facts, stored[at - 1], last),
      );
      return k < 0 ? null : diagnosisOf(facts, stored[k - 1], stored[k]);
    },
  }),
];

/** a write of a hook into a dict; root: the name through which it writes */
interface StoredOutput {
  step: number;
  root: string;
  dict: string;
  key: string;
  value: string;
  /**
   * the module that the hook was called for; the frame that runs the module, so the same for all calls of one forward
   */
  module: string;
  forward: string;
}

const MAX_WRITES = 200;

/** What functions that get a module as their first argument store in dicts. */
function storedOutputs(facts: RunFacts): StoredOutput[] {
  const out: StoredOutput[] = [];
  for (const { uid: dict, step, fields } of facts.index.objectChanges) {
    const { frame, kind } = facts.steps[step];
    if (!fields.items || kind !== "statement") continue;
    const tree = facts.syntax(step);
    const stored = tree && assignments(tree).find(({ target }) => target.kind === "Subscript");
    const root = rootName(stored?.target ?? null);
    if (!root) continue;
    const call = facts.scan.initialFields(frame);
    const free = call?.kind === "frame" ? call.free : null;
    const parameters = Object.entries(call?.vars ?? {}).filter(([name]) => !free?.includes(name));
    const args = parameters.map(([, value]) => referencedUid(value));
    const [module, , output] = args;
    if (call?.kind !== "frame" || !call.caller || module?.[0] !== "o" || args.length !== 3 || !output) continue;
    for (const item of fields.items) {
      if (!Array.isArray(item)) continue;
      const [key, value] = item;
      const uid = referencedUid(value);
      if (typeof key === "string" && uid?.[0] === "t")
        out.push({ step, root, dict, key, value: uid, module, forward: call.caller });
    }
    if (out.length > MAX_WRITES) break;
  }
  return out;
}

/** Whether the program looks into the dict between two calls of the hook. */
function isReadBetween(facts: RunFacts, first: StoredOutput, last: StoredOutput) {
  const hookFrames = new Set([facts.steps[first.step].frame, facts.steps[last.step].frame]);
  for (let i = first.step + 1; i < last.step; i++) {
    const { isKnown, names } = facts.mentionsAt(i);
    if (!hookFrames.has(facts.steps[i].frame) && (!isKnown || names.has(last.root))) return true;
  }
  return false;
}

function diagnosisOf(facts: RunFacts, first: StoredOutput, last: StoredOutput): Diagnosis {
  const outside = Math.min(last.step + 1, facts.steps.length - 1);
  const x = codeFact(`${facts.nameText(last.dict, outside) ?? ""}['${last.key}']`);
  const type = facts.scan.initialFields(last.module)?.type ?? "";
  const module = codeFact(facts.naming.nameAt(last.module, outside) ?? type);
  const caller = (step: number) => lineOfCaller(facts, step);
  return {
    severity: "note",
    cause: last.step,
    chain: [
      [first.step, "made", [first.value]],
      [last.step, "written", [last.value, last.dict]],
    ],
    names: [x, module],
    facts: { x, module, first: caller(first.step), last: caller(last.step) },
    fixes: [["keep_every_output"]],
  };
}

/** The line of the statement that called the module. */
function lineOfCaller(facts: RunFacts, step: number) {
  const frame = facts.steps[step].frame;
  for (let i = step; i >= 0; i--)
    if (facts.steps[i].kind === "call" && facts.steps[i].set[frame ?? ""]?.kind) return facts.steps[i].line;
  return facts.steps[step].line;
}
