/**
 * A write as a reader would tell it: which statement, through which handle, and whether the program or torch's code
 * wrote.
 */

import { resolvePath } from "./resolve.ts";
import type { RunFacts } from "./run_facts.ts";

export type WriterKind = "program" | "optimizer" | "module" | "accumulated" | "buffer";

const OPTIMIZER_CLASS_NAME =
  /^(SGD|Adam\w*|RAdam|NAdam|RMSprop|Adagrad|Adadelta|Adafactor|ASGD|Rprop|LBFGS|SparseAdam|Muon)$/;

/** Whether a step is a call of an optimizer's `step`. */
export function isOptimizerStep(facts: RunFacts, step: number) {
  const receiverPath = /\b([A-Za-z_][\w.[\]'"]*)\.step\(/.exec(facts.statementCode(step))?.[1];
  if (!receiverPath) return false;
  const receiverUid = objectOfPathAt(facts, receiverPath, step);
  const object = facts.stateAt(step).get(receiverUid ?? "");
  return (
    object?.kind === "object" &&
    (OPTIMIZER_CLASS_NAME.test(object.type ?? "") || "param_groups" in (object.attrs ?? {}))
  );
}

/** The object that a path leads to at a step, in the frame of its statement, else by the paths of the state. */
function objectOfPathAt(facts: RunFacts, path: string, step: number) {
  const uid = resolvePath(facts, path, step);
  if (uid) return uid;
  for (const [objectUid, tags] of facts.namesAt(step).tags) if (tags.some((tag) => tag.text === path)) return objectUid;
  return null;
}

/** Who wrote a storage at a step, as far as the statement shows it. `op` is empty where no operation was recorded. */
export function writerKindAt(facts: RunFacts, step: number, op: string, storageUid: string): WriterKind {
  if (facts.steps[step]?.visit && facts.index.gradOwners.has(storageUid)) return "accumulated";
  if (isOptimizerStep(facts, step)) return "optimizer";
  return doesTextAskForInPlace(facts.statementCode(step), op) ? "program" : "module";
}

/** Whether a step checks gradients numerically: what it writes it puts back. */
export function isGradcheckStep(facts: RunFacts, step: number) {
  return checkCallOf(facts).test(facts.statementCode(step));
}

const checkCallsByTrace = new WeakMap<object, RegExp>();

/** A call of `gradcheck`, also under a name that the program imports it by. */
function checkCallOf({ trace }: RunFacts): RegExp {
  const cached = checkCallsByTrace.get(trace);
  if (cached) return cached;
  const names = [...trace.program.source.matchAll(/\bgrad(?:grad)?check\s+as\s+(\w+)/g)].map(([, name]) => `|${name}`);
  const pattern = new RegExp(`\\b(?:grad(?:grad)?check${names.join("")})\\(`);
  checkCallsByTrace.set(trace, pattern);
  return pattern;
}

/** Whether a statement's own text asks for an in-place operation. */
function doesTextAskForInPlace(text: string, op: string) {
  if (/^[^=]*\]\s*[-+*/@%&|^]{0,2}=[^=]/.test(text)) return true;
  if (/^[^=(]*[^=!<>]=[^=]/.test(text) && /\]\s*[-+*/@%&|^]?=|[-+*/@%&|^]=/.test(text)) return true;
  return /\w_\(|inplace\s*=\s*True|[,(]\s*out\s*=/.test(text) || op === "";
}
