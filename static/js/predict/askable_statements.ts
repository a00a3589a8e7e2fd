/** The parts of a run that can be asked about: one statement each, with the visits of its backward. */

import { RunFacts } from "../findings/facts/run_facts.ts";
import type { StatementMentions } from "../findings/facts/statement_mentions.ts";
import { isHandle, type Handle } from "../trace/entities.ts";
import type { Entities, OpenTrace } from "../trace/state.ts";
import type { SyntaxNode } from "../syntax/tree.ts";
import type { Step } from "../trace/wire.ts";

/** a tensor or array as the statement's function calls it */
export interface NamedHandle {
  name: string;
  uid: string;
  handle: Handle;
}

export interface AskableStatement {
  opened: OpenTrace;
  /** at, step: the last step before it, and its own last */
  at: number;
  step: number;
  line: number;
  stmt: number;
  /** null where it is unknown */
  tree: SyntaxNode | null;
  isBackward: boolean;
  raised: boolean;
  /** before, after: the states there */
  before: Entities;
  after: Entities;
  /** named, namedBefore: what the statement's function can name after it and before it */
  named: NamedHandle[];
  namedBefore: NamedHandle[];
  mentioned: StatementMentions;
}

/** Of longer runs only the beginning is asked about. */
const MAX_STEPS_ASKED = 600;
/** A function with more names than this is a page of text, no question. */
const MAX_NAMES_IN_FUNCTION = 60;

/** The statements in the order of the run; steps within a call are statements of their own. */
export function* askableStatements(opened: OpenTrace): Generator<AskableStatement> {
  const { steps } = opened.trace;
  const facts = new RunFacts(opened);
  for (let at = 0; at + 1 < Math.min(steps.length, MAX_STEPS_ASKED); at++) {
    const step = askableStatementEnd(steps, at + 1);
    if (step === null) continue;
    const { line, stmt, kind, frame } = steps[step];
    const before = opened.state(at);
    const after = opened.state(step);
    yield {
      opened,
      at,
      step,
      line,
      stmt: stmt ?? -line,
      tree: facts.syntax(step),
      isBackward: step > at + 1,
      raised: kind === "raise",
      before,
      after,
      named: handlesWithNames(opened, after, frame, step),
      namedBefore: handlesWithNames(opened, before, frame, at),
      mentioned: facts.mentionsAt(step),
    };
    at = step - 1;
  }
}

/** The last step of the statement that begins at a step; null where it is asked about step by step, or not at all. */
function askableStatementEnd(steps: Step[], first: number) {
  const { kind, stmt, depth } = steps[first];
  if (steps[first].skipped) return null;
  if (kind === "statement" || kind === "raise") return first;
  if (kind !== "visit" && kind !== "call") return null;
  const end = steps.findIndex(
    (traceStep, i) =>
      i > first &&
      traceStep.stmt === stmt &&
      traceStep.depth === depth &&
      ["statement", "raise"].includes(traceStep.kind),
  );
  if (end < 0) return null;
  const innerSteps = steps.slice(first, end);
  const isWhole = innerSteps.some(({ visit }) => visit) && innerSteps.every((traceStep) => !traceStep.skipped);
  return isWhole ? end : null;
}

function handlesWithNames(
  opened: OpenTrace,
  entities: Entities,
  frameUid: string | null | undefined,
  step: number,
): NamedHandle[] {
  const named: NamedHandle[] = [];
  const { tags, paths } = opened.names(step);
  for (const [uid, list] of tags) {
    const handle = entities.get(uid);
    if (!isHandle(handle) || list[0]?.kind === "grad") continue;
    const variableTag = list.find((tag) => tag.kind === "var" && tag.frame === frameUid);
    const path = paths.get(uid) ?? "";
    const name = variableTag?.name ?? (list.some((tag) => tag.kind === "item") && !path.includes("['") ? path : "");
    if (name && name.length <= 40) named.push({ name, uid, handle });
    if (named.length > MAX_NAMES_IN_FUNCTION) return [];
  }
  return named;
}
