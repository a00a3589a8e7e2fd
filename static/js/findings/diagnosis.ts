/**
 * How the file of a finding declares what it looks for and what it says. What every finding needs is done here: one of
 * each line, the place and the statement of each link, the edits where the cause is.
 */

import { chainLink, fixHint, namesInFacts } from "./finding.ts";
import type {
  ChainLink,
  Diagnosis as CompleteDiagnosis,
  Fact,
  Facts,
  FixHint,
  LineAndStep,
  LinkRole,
  Severity,
} from "./finding.ts";
import type { RunFacts } from "./facts/run_facts.ts";
import type { BackwardCall } from "./facts/scan.ts";

export {
  chainLink,
  codeFact,
  fixHint,
  gradNameOf,
  namesInFacts,
  nameTextOfFact,
  phrase,
  type ChainLink,
  type CodeFact,
  type Fact,
  type Facts,
  type FixHint,
  type LineAndStep,
  type LinkRole,
  type Phrase,
  type Severity,
} from "./finding.ts";
export { operationName } from "./facts/operation_name.ts";
export type { RunFacts } from "./facts/run_facts.ts";
export type { BackwardCall, EventOccurrence, NameBinding, Operation } from "./facts/scan.ts";

/** a step, a call of the engine, or a line that is another than its step's */
type At = number | LineAndStep | BackwardCall;

/** facts: of its sentence, beside those of the finding; `code` is the statement that stands there */
export type Link<Place = At> = [
  at: Place,
  role: LinkRole,
  uids?: (string | null | undefined)[],
  facts?: Facts,
  slot?: string,
];

/** an edit that `gradbox/language/fixes` knows, with what it needs; where the cause is, unless it says where */
export type Fix = [kind: string, facts?: Record<string, string | number>, at?: At];

/** what a finding says of one case */
export interface Diagnosis {
  /** which of the kind's sentences */
  variant?: string;
  /** where it is not the kind's own */
  severity?: Severity;
  cause: At;
  /** what does not apply is left out */
  chain: (Link | ChainLink | false | null | undefined | "")[];
  /** those that the reader uses for what it is about; `x` and `y` of the facts, where it does not say */
  names?: (Fact | Fact[] | undefined)[];
  /** of the sentences; `code` is the statement of the cause */
  facts: Facts;
  fixes?: (Fix | FixHint)[];
  /** all tensors that it is about, where its chain has only the first */
  concerns?: string[];
  /** it says why the program raised */
  explainsError?: boolean;
}

/** What is looked for in every run. */
export type LookedForName = "writes" | "cut" | "optimizers" | "modes" | "numbers" | "graphs" | "sharing";

export interface DiagnosisRow {
  kind: string;
  severity: Severity;
  diagnose: (facts: RunFacts) => Diagnosis[];
  /** it is only asked where the program raised */
  onError?: boolean;
  /** the row of `looked_for.ts` that a note of this kind would contradict */
  lookedFor?: LookedForName;
}

interface DiagnosisDeclaration<T> extends Omit<DiagnosisRow, "diagnose"> {
  /** whether the run can have it at all */
  when?: (facts: RunFacts) => unknown;
  /** what it may be about */
  of: (facts: RunFacts) => Iterable<T>;
  /** of those with the same key, as a line or a statement, the first with something to say is enough */
  once?: (candidate: T, facts: RunFacts) => unknown;
  /** so many at most are told */
  most?: number;
  /** what is said of one; nothing where all is well */
  say: (facts: RunFacts, candidate: T) => Diagnosis | null | undefined | "";
}

/** A row of the table of findings. */
export function diagnosis<T>({ when, of, once, most = Infinity, say, ...row }: DiagnosisDeclaration<T>): DiagnosisRow {
  const diagnose = (facts: RunFacts) => {
    const said = new Map<unknown, Diagnosis>();
    for (const candidate of !when || when(facts) ? of(facts) : []) {
      if (said.size >= most) break;
      const key = once ? once(candidate, facts) : candidate;
      const found = said.has(key) ? null : say(facts, candidate);
      if (found) said.set(key, found);
    }
    return [...said.values()];
  };
  return { ...row, diagnose };
}

interface ErrorDeclaration extends Pick<DiagnosisRow, "kind" | "lookedFor"> {
  /** of the errors that it may explain */
  message?: RegExp;
  /** step: at which the error was raised; match: of its message */
  say: (facts: RunFacts, step: number, match: RegExpExecArray) => Diagnosis | null | undefined;
}

/** A row of a finding that says why the program raised. */
export function declareErrorDiagnosis({ message = /^/, say, ...row }: ErrorDeclaration): DiagnosisRow {
  return {
    ...row,
    severity: "error",
    onError: true,
    diagnose: (facts) => {
      const match = facts.error && message.exec(facts.error.message);
      const said = match && say(facts, facts.errorStep, match);
      return said ? [{ explainsError: true, ...said }] : [];
    },
  };
}

/** For `say`: where the candidates are what is said. */
export function asFound(_: RunFacts, found: Diagnosis) {
  return found;
}

/** For `once`: the statement of the program, or the line of a step that is of none. */
export function statementOfCandidate({ step }: { step: number }, { steps }: RunFacts) {
  return steps[step].stmt ?? `line ${steps[step].line}`;
}

/** The link of what made a tensor; null where that was not before a step. */
export function madeBefore(
  facts: RunFacts,
  uid: string | null | undefined,
  step: number,
  own: Facts = {},
): Link | null {
  const made = facts.birthStep(uid);
  return made >= 0 && made < step ? [made, "made", [uid], own] : null;
}

/** A diagnosis with its places and all its facts. */
export function completeDiagnosis(run: RunFacts, { cause, chain, names, facts, fixes, ...rest }: Diagnosis) {
  const said: Facts = { code: statementAt(run, cause), ...facts };
  const linkOf = (link: Link | ChainLink) => {
    if (!Array.isArray(link)) return link;
    const [at, role, uids, own, slot] = link;
    return chainLink(placeAt(run, at), role, { ...said, code: statementAt(run, at), ...own }, uids, slot);
  };
  const fixOf = (fix: Fix | FixHint) =>
    Array.isArray(fix) ? fixHint(fix[0], placeAt(run, fix[2] ?? cause), fix[1]) : fix;
  return {
    ...rest,
    cause: placeAt(run, cause),
    chain: chain.flatMap((link) => (link ? linkOf(link) : [])),
    names: namesInFacts(...(names ?? [facts.x, facts.y])),
    facts: said,
    fixes: (fixes ?? []).map(fixOf),
  } satisfies CompleteDiagnosis;
}

/** The line and the step of a place. */
export function placeAt(facts: RunFacts, at: At): LineAndStep {
  if (typeof at === "number") return facts.place(at);
  return "roots" in at ? facts.placeOfBackward(at) : at;
}

function statementAt(facts: RunFacts, at: At) {
  if (typeof at === "number") return facts.statementFact(at);
  return "roots" in at ? facts.backwardStatementFact(at) : facts.statementFact(at.step);
}
