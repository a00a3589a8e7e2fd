/**
 * Numbers that were loaded, and that others replace before anything has read them: weights that are initialised again,
 * or what a module's own forward fits anew.
 */

import { lineOfCandidate, codeFact, diagnosis, operationName, type RunFacts } from "../diagnosis.ts";
import { stateDictLoads } from "./load_matched_nothing.ts";

export const FINDINGS = [
  diagnosis({
    kind: "load_matched_nothing",
    severity: "warning",
    of: stateDictLoads,
    once: lineOfCandidate,
    /** None where one of the weights that were loaded is left as it was: a head may be initialised anew. */
    say: (facts, { step, path, module }) => {
      const loaded = facts.opsAt(step).flatMap(({ name, inputs }) => (name === "aten::copy_" ? [inputs[0]] : []));
      const replaced = loaded.flatMap((uid) => replacementOf(facts, uid, step) ?? []);
      const inForward = replaced.filter((each) => isInForward(facts, each.step));
      // a bias or a norm says little of a checkpoint
      const weights = loaded.filter((uid) => (facts.tensor(uid, step)?.shape?.length ?? 0) > 1);
      const initialised = replaced.filter(({ uid, isInitialisation }) => isInitialisation && weights.includes(uid));
      const isWhole = weights.length > 0 && initialised.length === weights.length;
      const found = inForward.length ? inForward : isWhole ? initialised : [];
      if (!found.length) return null;
      const [{ uid, step: written }] = found.sort((a, b) => a.step - b.step);
      const x = facts.nameFact(uid, inForward.length ? written - 1 : step);
      const load = facts.statementFact(step);
      return {
        variant: inForward.length ? "in_forward" : "overwritten",
        cause: written,
        chain: [
          [step, "way", [inForward.length ? uid : module], { code: load, x: facts.nameFact(uid, step) }],
          [written, "written", [uid]],
        ],
        names: [x, codeFact(path)],
        facts: { x, module: codeFact(path), n: found.length, loaded: facts.lineOf(step), load },
      };
    },
  }),
];

const MAX_STEPS_AHEAD = 2000;
const INITIALISATION = /^(?:normal|uniform|zero|fill|random|bernoulli|exponential|eye)_$/;
/** What puts new numbers in the place of all that were there. */
const REPLACING = /^(?:copy|normal|uniform|zero|fill|random|bernoulli|exponential|erfinv|eye|trunc_normal|set)_$/;
/** What takes a tensor and none of its numbers. */
const READS_NOTHING = /^(?:_has_compatible_shallow_copy_type|detach|alias|view|slice)$/;

interface Replacement {
  uid: string;
  step: number;
  isInitialisation: boolean;
}

/** The step that gave a tensor other numbers, or its module another tensor, before anything read what was loaded. */
function replacementOf(facts: RunFacts, uid: string, loaded: number): Replacement | null {
  const history = facts.history;
  const storage = history.valueAt(uid, "storage", loaded);
  const moved = history.fieldChanges(uid, "storage").find(({ step }) => step > loaded)?.step ?? Infinity;
  const replaced = facts.attributeChanges.find(({ before, step }) => before === uid && step > loaded)?.step ?? Infinity;
  const last = Math.min(moved, replaced);
  const end = Math.min(last, facts.steps.length - 1, loaded + MAX_STEPS_AHEAD);
  for (let step = loaded + 1; step <= end; step++)
    for (const op of facts.opsAt(step)) {
      const name = operationName(op.name);
      const reads = op.inputs.map((each) => facts.tensor(each, step)?.storage === storage || each === uid);
      if (!reads.includes(true) || READS_NOTHING.test(name)) continue;
      const isReplaced = reads[0] && !reads.includes(true, 1) && REPLACING.test(name);
      return isReplaced ? { uid, step, isInitialisation: INITIALISATION.test(name) } : null;
    }
  return last <= end ? { uid, step: last, isInitialisation: false } : null;
}

/** Whether a step runs in a forward, or in what that calls. */
function isInForward(facts: RunFacts, step: number): boolean {
  let uid = facts.steps[step].frame ?? "";
  for (let depth = 0; uid && depth < 50; depth++) {
    const frame = facts.entities.entityAfter(uid, step);
    if (frame?.kind !== "frame") return false;
    if (frame.name === "forward") return true;
    uid = frame.caller ?? "";
  }
  return false;
}
