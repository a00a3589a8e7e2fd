/**
 * The findings of a trace as the server and the terminal give them: with their words, by the fields of the interface.
 */

import type { Finding, FixHint } from "./finding.ts";
import { openTrace } from "../trace/state.ts";
import { explain, explainTrace } from "./explain.ts";
import { lossesOfRun } from "./run_losses.ts";
import { effectsOfRun } from "./run_effects.ts";
import { runSummary } from "./run_summary.ts";
import { lookedForIn } from "./looked_for.ts";
import { findingParagraph, findingText, lookedForText } from "./finding_text.ts";
import { findingLocale } from "./locale.ts";
import type { Trace } from "../trace/wire.ts";
import type { Locale } from "../words/sentences.ts";
import type { TorchSuggestion } from "./torch_offers.ts";

interface FindingReply {
  kind: string;
  severity: string;
  variant: string | null;
  /** of the cause */
  line: number;
  /** of the chain, in order, each once */
  lines: number[];
  step: number;
  names: string[];
  text: string;
  what: string;
  why: string;
  todo: string;
  chain: { line: number; step: number; role: string; text: string }[];
  /** which fixes there may be */
  hints: FixHint[];
  offers: TorchSuggestion[];
  /** the module whose lines another run would follow */
  also: string | null;
  explains_error: boolean;
}

const MAX_FINDINGS_IN_REPLY = 100;

/** Characters of a reply, for a name may be as long as a trace. */
const MAX_CHARACTERS_OF_REPLY = 500_000;

/** How a run ended, its losses from round to round, and what it did to what is trained. */
export function outcomeSummaryReply(trace: Trace, language: string) {
  const text = runSummary(trace, findingLocale(language).say);
  return { finished: trace.outcome.status === "finished", text, losses: lossesOfRun(trace), ...effectsOfRun(trace) };
}

/** What is said of a run in which nothing is wrong; null where something is. */
export function lookedForReply(trace: Trace, language: string) {
  const opened = openTrace(trace);
  const lookedFor = lookedForIn(opened, explain(opened));
  return lookedFor && lookedForText(lookedFor, findingLocale(language).say);
}

/** The best first, in the words of a language. */
export function findingsReply(trace: Trace, language: string): FindingReply[] {
  return findingReplies(explainTrace(trace), language);
}

/** Findings in the words of a language, in their order, as many as a reply holds. */
export function findingReplies(findings: Finding[], language: string): FindingReply[] {
  const { say } = findingLocale(language);
  const replies = [];
  let charactersLeft = MAX_CHARACTERS_OF_REPLY;
  for (const finding of findings.slice(0, MAX_FINDINGS_IN_REPLY)) {
    const reply = findingReply(finding, say);
    charactersLeft -= JSON.stringify(reply).length;
    if (charactersLeft < 0) break;
    replies.push(reply);
  }
  return replies;
}

function findingReply(finding: Finding, say: Locale["say"]): FindingReply {
  const { what, why, todo, chain, offers } = findingText(finding, say);
  return {
    kind: finding.kind,
    severity: finding.severity,
    variant: finding.variant ?? null,
    line: finding.cause.line,
    lines: [...new Set(finding.chain.map((link) => link.line))],
    step: finding.cause.step,
    names: finding.names.map((name) => name.code),
    text: findingParagraph(finding, say),
    what,
    why,
    todo,
    chain: finding.chain.map(({ line, step, role }, i) => ({ line, step, role, text: chain[i] })),
    hints: finding.fixes,
    offers,
    also: typeof finding.facts.unstepped_module === "string" ? finding.facts.unstepped_module || null : null,
    explains_error: finding.explainsError,
  };
}
