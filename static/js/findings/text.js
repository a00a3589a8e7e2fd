/** A finding in words: what happened, why torch minds, what to do, and a line for each link of its chain. */

import { torchOffers } from "./torch_offers.js";
import { gradName } from "./gradient_name.js";
import { questionOf } from "./tensor_question.js";

/** @typedef {import("./finding.js").Finding} Finding */
/** @typedef {import("./finding.js").Fact} Fact */
/** @typedef {import("../words/locale.js").Locale["say"]} Say */
/**
 * @typedef {{what: string, why: string, todo: string, chain: string[],
 *   offers: import("./torch_offers.js").Offer[]}} FindingText   names stand in backticks; empty where there is nothing to say
 */

const MAX_LISTED = 4;

/** @param {Finding} finding @param {Say} say @returns {FindingText} */
export function findingText(finding, say) {
  const facts = { line: finding.cause.line, ...finding.facts };
  const sentenceOfPart = (/** @type {string} */ part) => {
    const keys = [`finding.${finding.kind}.${finding.variant}.${part}`, `finding.${finding.kind}.${part}`];
    const text = firstKnownSentence(keys, facts, say, part === "what");
    return say("finding.join") === " " ? withCapital(text) : text;
  };
  const chain = finding.chain.map((link) => {
    const keys = [finding.variant, null].map((variant) => [finding.kind, variant, "chain", link.role].filter(Boolean));
    keys.push(["chain", link.role]);
    return firstKnownSentence(
      keys.map((parts) => `finding.${parts.join(".")}`),
      { ...finding.facts, ...link.facts, line: link.line },
      say,
    );
  });
  return {
    what: sentenceOfPart("what"),
    why: sentenceOfPart("why"),
    todo: sentenceOfPart("todo"),
    chain,
    offers: torchOffers(finding, say),
  };
}

/** A sentence with a capital at its beginning, where that is a letter of prose. @param {string} text */
function withCapital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The whole finding as one paragraph. @param {Finding} finding @param {Say} say */
export function findingParagraph(finding, say) {
  const { what, why, todo, chain } = findingText(finding, say);
  const links = chain.map((text, k) => say("finding.link", { line: finding.chain[k].line, text }));
  const sentence = chain.length ? [say("finding.links", { links: links.join(say("finding.semicolon")) })] : [];
  return [what, ...sentence, why, todo].filter(Boolean).join(say("finding.join"));
}

/** The sentence of the first key that the language has. @param {string[]} keys @param {import("./finding.js").Facts} facts
 * @param {Say} say @param {boolean} [withModuleName] names with those that they have outside */
function firstKnownSentence(keys, facts, say, withModuleName = false) {
  const key = keys.find((candidate) => say(candidate) !== candidate);
  if (!key) return "";
  const args = Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [name, factText(fact, say, withModuleName, facts.line)]),
  );
  return say(key, args);
}

/** @param {Fact | Fact[]} fact @param {Say} say @param {boolean} [withModuleName] @param {unknown} [line] that is spoken of
 * @returns {string} */
function factText(fact, say, withModuleName = false, line = undefined) {
  if (Array.isArray(fact)) {
    const texts = fact.slice(0, MAX_LISTED).map((item) => factText(item, say, withModuleName, line));
    return texts.join(say("finding.comma")) + (fact.length > MAX_LISTED ? say("finding.more") : "");
  }
  if (typeof fact !== "object") return String(fact);
  if ("phrase" in fact) return firstKnownSentence([fact.phrase], fact.facts ?? {}, say);
  if ("code" in fact) return withModuleName && fact.also ? say("finding.also", fact) : `\`${fact.code}\``;
  const key = fact.result ? "result" : "unnamed";
  return say(`finding.${key}_${fact.line === line ? "here" : "of"}`, { op: fact.result, line: fact.line });
}

/**
 * @typedef {{title: string, what: string, why: string, todo: string, rows: string[], chain: string[]}} AnswerText
 *   rows: of the ways by which a gradient came; chain: of why there is none
 */

/** An answer in words. @param {import("./tensor_question.js").Answer} answer @param {Say} say @returns {AnswerText} */
export function answerText({ title, what, why, rows, finding }, say) {
  const reasonText = finding ? findingText(finding, say) : { what: "", why: "", todo: "", chain: [], offers: [] };
  const ownText = what ? factText(what, say) : "";
  const reasons = why ? [factText(why, say)] : [];
  if (ownText) reasons.push(reasonText.what);
  return {
    title: factText(title, say),
    what: ownText || reasonText.what,
    why: [...reasons, reasonText.why].filter(Boolean).join(say("finding.join")),
    todo: reasonText.todo,
    rows: rows.map(({ key, facts, line }) => firstKnownSentence([key], { ...facts, line: facts.line ?? line }, say)),
    chain: reasonText.chain,
  };
}

/** The question that can be asked of a tensor at a step. @param {import("./run_facts.js").RunFacts} facts @param {string} uid
 * @param {number} step @param {Say} say */
export function questionText(facts, uid, step, say) {
  const x = facts.nameFact(uid, step);
  const args = { x: factText(x, say), grad: factText(gradName(x), say) };
  return say(`answer.ask.${questionOf(facts, uid, step)}`, args);
}
