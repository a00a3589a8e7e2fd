/** The findings of a trace as the server and the terminal give them: with their words, by the fields of the interface. */

import { explainTrace } from "./explain.js";
import { runSummary } from "./run_summary.js";
import { findingParagraph, findingText } from "./text.js";
import { findingLocale } from "./words.js";

/**
 * @typedef {{kind: string, severity: string, variant: string | null, line: number, lines: number[], step: number,
 *   names: string[], text: string, what: string, why: string, todo: string,
 *   chain: {line: number, step: number, role: string, text: string}[], hints: import("./finding.js").FixHint[],
 *   offers: import("./torch_offers.js").Offer[], explains_error: boolean}} FindingReply
 *   line: of the cause; lines: of the chain, in order, each once; hints: which fixes there may be
 */

const MAX_FINDINGS = 100;

/** Characters of a reply, for a name may be as long as a trace. */
const MAX_CHARACTERS = 500_000;

/** How a run ended. @param {import("../trace/wire.js").Trace} trace @param {string} language */
export function summaryReply(trace, language) {
  return { finished: trace.outcome.status === "finished", text: runSummary(trace, findingLocale(language).say) };
}

/** @param {import("../trace/wire.js").Trace} trace @param {string} language @returns {FindingReply[]} the best first, as many as
 *   a reply holds */
export function findingsReply(trace, language) {
  const { say } = findingLocale(language);
  const replies = [];
  let charactersLeft = MAX_CHARACTERS;
  for (const finding of explainTrace(trace).slice(0, MAX_FINDINGS)) {
    const reply = findingReply(finding, say);
    charactersLeft -= JSON.stringify(reply).length;
    if (charactersLeft < 0) break;
    replies.push(reply);
  }
  return replies;
}

/** @param {import("./finding.js").Finding} finding @param {import("../words/locale.js").Locale["say"]} say @returns {FindingReply} */
function findingReply(finding, say) {
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
    explains_error: finding.explainsError,
  };
}
