/**
 * What a finding is: facts by which a reader is told what happened, from which lines it follows, and what to do. No
 * words.
 */

import type { CodePlace } from "../trace/wire.ts";

export type Severity = "error" | "warning" | "note";

/** what a step has to do with the finding: its value is saved, it shares memory, writes, is where torch checks, uses
 * what was changed, cuts the graph, makes a tensor, starts a backward, lies on the way, leaves no `.grad`, has the
 * first NaN, stores a gradient, lets go of saved values, keeps something alive, reads, hangs up a hook, gives a name
 * another meaning, has sizes or counts */
export type LinkRole =
  | "saved"
  | "shares"
  | "written"
  | "checked"
  | "used"
  | "cut"
  | "made"
  | "starts"
  | "way"
  | "none"
  | "nonfinite"
  | "gradient"
  | "released"
  | "kept"
  | "read"
  | "hooked"
  | "moved"
  | "counted";

/** a name or an expression of the program, written as code */
export interface CodeFact {
  code: string;
  /** what it is called outside of the function that runs */
  also?: string;
  /** it meant the thing before, and means something else now */
  isEarlier?: boolean;
}

/** a tensor that no name leads to, by the operation that made it */
interface UnnamedResultFact {
  /** what was computed, as the program writes it; else the operation's name */
  result: string;
  /** the expression in which the operation ran, where it did not make that expression's value */
  within?: string;
  line: number | "";
}

/** a part of a sentence, by its key in the locales */
export interface Phrase {
  phrase: string;
  facts?: Facts;
  /** the key where the language has no such sentence */
  otherwise?: string;
}

export type Fact = string | number | CodeFact | UnnamedResultFact | Phrase;

/** what fills the placeholders of a sentence; a list is written with commas */
export type Facts = Record<string, Fact | Fact[]>;

export interface LineAndStep {
  line: number;
  step: number;
}

/** a line of code without steps; isOfUse: it is the first that used what it is about */
export type UnsteppedPlace = CodePlace & { isOfUse: boolean };

export type ChainLink = LineAndStep & {
  role: LinkRole;
  facts: Facts;
  /** the entities that it names, for the stage */
  uids: string[];
  /** `node:slot` of a saved value */
  slot?: string;
  /** at which it happened, where that is no line of the program */
  place?: UnsteppedPlace;
  /** of which kind of finding its sentence is, where that is another */
  words?: { kind: string; variant?: string };
};

/** an edit that `gradbox/language/fixes` knows, with what it needs of the trace */
export type FixHint = LineAndStep & { kind: string; facts: Record<string, string | number> };

/** what a diagnosis gives: variant: which of the kind's sentences */
export interface Diagnosis {
  variant?: string;
  /** where it is not the kind's own */
  severity?: Severity;
  cause: LineAndStep;
  chain: ChainLink[];
  /** those that the reader uses for what it is about */
  names: CodeFact[];
  facts: Facts;
  fixes: FixHint[];
  /** all tensors that it is about, where its chain has only the first */
  concerns?: string[];
  /** it says why the program raised */
  explainsError?: boolean;
}

export type Finding = Diagnosis & { kind: string; severity: Severity; explainsError: boolean };

/** A name or an expression, as code. */
export function codeFact(text: string): CodeFact {
  return { code: text };
}

/** A link of the chain. */
export function chainLink(
  { line, step }: LineAndStep,
  role: LinkRole,
  facts: Facts = {},
  uids: (string | null | undefined)[] = [],
  slot?: string,
): ChainLink {
  const knownUids = uids.filter(Boolean) as string[];
  return { line, step, role, facts, uids: knownUids, ...(slot ? { slot } : {}) };
}

/** A hint for a fix. */
export function fixHint(
  kind: string,
  { line, step }: LineAndStep,
  facts: Record<string, string | number> = {},
): FixHint {
  return { kind, line, step, facts };
}

/**
 * A part of a sentence that is a key of the locales itself. `otherwise` is the key to use where there is no such
 * sentence.
 */
export function phrase(key: string, facts: Facts = {}, otherwise?: string): Phrase {
  return { phrase: key, facts, ...(otherwise ? { otherwise } : {}) };
}

/** The text of a name; empty for what has none. */
export function nameTextOfFact(fact: Fact | Fact[] | undefined) {
  return typeof fact === "object" && "code" in fact ? fact.code : "";
}

/** `x.grad` of what is called `x`; of a tensor without a name, what stands for it. */
export function gradNameOf(name: Fact): Fact {
  if (typeof name !== "object" || !("code" in name)) return name;
  const { code, also, isEarlier } = name;
  return {
    ...codeFact(`${code}.grad`),
    ...(also ? { also: `${also}.grad` } : {}),
    ...(isEarlier ? { isEarlier } : {}),
  };
}

/** The names among facts, each once. */
export function namesInFacts(...facts: (Fact | Fact[] | undefined)[]): CodeFact[] {
  const texts = new Set(
    facts
      .flat()
      .flatMap((fact) => (typeof fact === "object" && "code" in fact ? [fact.code, fact.also ?? fact.code] : [])),
  );
  return [...texts].map(codeFact);
}

/** The line without steps at which the cause happened, where it did at one. */
export function unsteppedCause({ cause, chain }: Finding): UnsteppedPlace | undefined {
  return chain.findLast(({ step, line, place }) => place && step === cause.step && line === cause.line)?.place;
}

/** The link that is the cause: at its step, else at its line, the last of several. */
export function indexOfCauseLink({ cause, chain }: Finding): number {
  const atStep = chain.findLastIndex(({ step, line }) => step === cause.step && line === cause.line);
  return atStep >= 0 ? atStep : chain.findLastIndex(({ line }) => line === cause.line);
}

/** What an open finding says, with names in backticks. */
export interface FindingSentence {
  text: string;
  severity: Severity;
}

/** Whether a finding is said over the picture of a step: at each of its chain, and at the error that it explains. */
export function isFindingShownAtStep({ chain, severity, explainsError }: Finding, i: number, errorStep: number | null) {
  return severity !== "note" && ((explainsError && i === errorStep) || chain.some(({ step }) => step === i));
}
