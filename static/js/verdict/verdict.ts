/**
 * A finding as it leaves the page: its headline, the line that is the cause and the one where it shows, the rows they
 * are about.
 */

import { chainMarksOf, type ChainMark } from "../findings/chain_marks.ts";
import { explain } from "../findings/explain.ts";
import { indexOfCauseLink, type ChainLink, type Finding, type LinkRole, type Severity } from "../findings/finding.ts";
import { RunFacts } from "../findings/facts/run_facts.ts";
import { factText, findingText } from "../findings/finding_text.ts";
import { findingEvidenceRows, type FindingSummaryPin, type FindingSummaryRow } from "./finding_evidence_rows.ts";
import { shortLineName } from "../trace/program_files.ts";
import { pictureOfRun } from "../trace/run_picture.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Translate } from "../words/sentences.ts";

/** a line of the program, and what it has to do with the finding */
export interface FindingSummaryLine {
  line: number;
  step: number;
  code: string;
  /** names stand in backticks */
  links: { role: LinkRole; text: string }[];
  isCause: boolean;
  isEffect: boolean;
}

export interface LabelledFindingRow extends FindingSummaryRow {
  /** what stands for a name where it has none, in words */
  label: string;
  /** where it is so, in words */
  when: string;
}

/** names stand in backticks */
export interface Verdict {
  severity: Severity;
  /** whether torch, or Python, stopped the program */
  stopped: boolean;
  kicker: string;
  headline: string;
  why: string;
  todo: string;
  /** two, in the order in which they ran; one where both are the same and no other says more */
  lines: FindingSummaryLine[];
  linesBetween: number;
  rows: LabelledFindingRow[];
  rowsAfterCut: LabelledFindingRow[];
  /** what the cut is called; "" where there is none */
  cut: string;
  pin: FindingSummaryPin | null;
  causeStep: number;
  effectStep: number;
  chain: { step: number; role: LinkRole }[];
  /** what is said of each link */
  chainTexts: string[];
  /** the step with its rows, where the run is drawn as a list; null on the stage */
  list: { i: number; view: "step"; chain: ChainMark[] } | null;
}

/**
 * The best finding of a run, in the words of `say`, which knows the sentences of findings; null where there is none. Of
 * a list a note is none: its page opens as if there were no finding.
 */
export function verdictOf(opened: OpenTrace, say: Translate): Verdict | null {
  if (!opened.count) return null;
  const finding = explain(opened)[0];
  const isShown = finding && (finding.severity !== "note" || pictureOfRun(opened) === "stage");
  return isShown ? summaryOfFinding(new RunFacts(opened), finding, say) : null;
}

function summaryOfFinding(facts: RunFacts, finding: Finding, say: Translate): Verdict {
  const { what, why, todo, chain } = findingText(finding, say);
  const places = placesOf(facts, finding);
  const lines = places.map(({ line, step, links, isCause, isEffect }) => ({
    line,
    step,
    code: facts.statementText(step),
    links: links.map((link) => ({ role: link.role, text: chain[finding.chain.indexOf(link)] ?? "" })),
    isCause,
    isEffect,
  }));
  const [first, last] = [places[0], places[places.length - 1]];
  const evidence = findingEvidenceRows(facts, finding, first.links, last === first ? first.links : last.links);
  const inWords = (row: FindingSummaryRow): LabelledFindingRow => ({
    ...row,
    label: row.names.length ? "" : factText(row.called, say),
    when: say("verdict.after_line", { line: shortLineName(row.line) }),
  });
  const cause = shortLineName(finding.cause.line);
  return {
    severity: finding.severity,
    stopped: finding.explainsError,
    kicker: lineAboveHeadline(facts, finding, say),
    headline: what,
    why,
    todo,
    lines,
    linesBetween: Math.max(0, Math.abs(last.line - first.line) - 1),
    rows: evidence.rows.map(inWords),
    rowsAfterCut: evidence.rowsAfterCut.map(inWords),
    cut: evidence.isCut ? say("verdict.cut", { line: cause }) : "",
    pin: evidence.pin,
    causeStep: (places.find(({ isCause }) => isCause) ?? first).step,
    effectStep: (places.find(({ isEffect }) => isEffect) ?? last).step,
    chain: finding.chain,
    chainTexts: chain,
    list: listMomentOfFinding(facts, finding, chain),
  };
}

/** Where the page opens it. */
function listMomentOfFinding({ opened, errorStep }: RunFacts, finding: Finding, chainTexts: string[]): Verdict["list"] {
  if (pictureOfRun(opened) === "stage") return null;
  const i = finding.explainsError ? errorStep : finding.cause.step;
  return { i, view: "step", chain: chainMarksOf(finding, chainTexts) };
}

function lineAboveHeadline({ error }: RunFacts, { cause, explainsError, severity }: Finding, say: Translate) {
  const causeLine = shortLineName(cause.line);
  if (explainsError && error?.line) {
    const line = shortLineName(error.line);
    return error.line === cause.line
      ? say("verdict.stopped", { line })
      : say("verdict.stopped_cause", { line, cause: causeLine });
  }
  return say(severity === "note" ? "verdict.note" : "verdict.no_error", { cause: causeLine });
}

interface LineWithLinks {
  line: number;
  step: number;
  links: ChainLink[];
  isCause: boolean;
  isEffect: boolean;
}

/**
 * The line of the cause and that of the effect; where both are one, with the last line before it that has to do with
 * it.
 */
function placesOf(facts: RunFacts, finding: Finding): LineWithLinks[] {
  const { chain, cause } = finding;
  const causeIndex = indexOfCauseLink(finding);
  const causeLink: ChainLink = chain[causeIndex] ?? { ...cause, role: "made", facts: {}, uids: [] };
  const effectLink = effectOf(facts, finding, causeLink);
  if (effectLink.line !== causeLink.line)
    return [
      placeOf([causeLink], { isCause: true, isEffect: false }),
      placeOf([effectLink], { isCause: false, isEffect: true }),
    ];
  const both = causeLink === effectLink ? [causeLink] : [causeLink, effectLink];
  const place = placeOf(both, { isCause: true, isEffect: true });
  const context = chain.findLast(({ line }) => line !== causeLink.line);
  if (!context) return [place];
  const contextPlace = placeOf([context], { isCause: false, isEffect: false });
  return context.step < effectLink.step ? [contextPlace, place] : [place, contextPlace];
}

/** Where the finding shows: where the program stopped, else the last link after the cause. */
function effectOf({ error, errorStep }: RunFacts, { chain, explainsError }: Finding, cause: ChainLink): ChainLink {
  const later = chain.filter((link) => link !== cause && link.step >= cause.step);
  if (!explainsError || !error?.line) return later.at(-1) ?? cause;
  const atError = chain.findLast(({ line, step }) => line === error.line && step >= cause.step);
  return atError ?? { line: error.line, step: errorStep, role: "checked", facts: {}, uids: [] };
}

function placeOf(links: ChainLink[], roles: { isCause: boolean; isEffect: boolean }): LineWithLinks {
  return { line: links[0].line, step: links[links.length - 1].step, links, ...roles };
}
