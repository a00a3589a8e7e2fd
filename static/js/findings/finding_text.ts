/** A finding in words: what happened, why torch minds, what to do, and a line for each link of its chain. */

import { unsteppedCause, gradNameOf, type Fact, type Facts, type Finding, type UnsteppedPlace } from "./finding.ts";
import { torchSuggestions, type TorchSuggestion } from "./torch_offers.ts";
import { questionAboutTensor, type TensorAnswer } from "./gradients/tensor_question.ts";
import type { Translate } from "../words/sentences.ts";
import type { LookedFor } from "./looked_for.ts";
import type { RunFacts } from "./facts/run_facts.ts";

/** names stand in backticks; empty where there is nothing to say */
export interface FindingText {
  what: string;
  why: string;
  todo: string;
  chain: string[];
  offers: TorchSuggestion[];
}

const MAX_LISTED_FACTS = 4;

export function findingText(finding: Finding, say: Translate): FindingText {
  const facts = { line: finding.cause.line, ...finding.facts };
  const sentenceOfPart = (part: string) => {
    const keys = [`finding.${finding.kind}.${finding.variant}.${part}`, `finding.${finding.kind}.${part}`];
    const text = firstKnownSentence(keys, facts, say, part === "what");
    return say("finding.join") === " " ? asSentence(text) : text;
  };
  const chain = finding.chain.map((link) => {
    const { kind, variant: ofKind } = link.words ?? finding;
    const keys = [ofKind, null].map((variant) => [kind, variant, "chain", link.role].filter(Boolean));
    keys.push(["chain", link.role]);
    const text = firstKnownSentence(
      keys.map((parts) => `finding.${parts.join(".")}`),
      { ...finding.facts, ...link.facts, line: link.line },
      say,
    );
    return link.place ? text + say("finding.link_place", { place: placeText(link.place, say) }) : text;
  });
  const place = unsteppedCause(finding);
  const isPlaceSaid = finding.facts.file_line || finding.facts.elsewhere;
  return {
    what: sentenceOfPart("what") + (place && !isPlaceSaid ? causePlaceText(place, say) : ""),
    why: sentenceOfPart("why"),
    todo: [sentenceOfPart("todo"), followText(finding, say)].filter(Boolean).join(say("finding.join")),
    chain,
    offers: torchSuggestions(finding, say),
  };
}

/** English begins a sentence with a capital; a name of torch's, such as `mse_loss`, is code and keeps its letters. */
function asSentence(text: string) {
  const [name] = /^[a-z]\w*_\w*/.exec(text) ?? [];
  return name ? `\`${name}\`${text.slice(name.length)}` : text.charAt(0).toUpperCase() + text.slice(1);
}

/** The line of code without steps that is the cause, as a sentence that follows another. */
function causePlaceText(place: UnsteppedPlace, say: Translate) {
  return (
    say("finding.join") +
    say(place.isOfUse ? "finding.cause_place_of_use" : "finding.cause_place", { place: placeText(place, say) })
  );
}

/** How the lines of the module are followed in another run of the person's own process. */
function followText({ facts }: Finding, say: Translate) {
  return facts.is_own_process && facts.unstepped_module
    ? say("finding.follow", { module: facts.unstepped_module })
    : "";
}

function placeText({ code, file, line, isOfUse }: UnsteppedPlace, say: Translate) {
  return say(isOfUse ? "finding.place_of_use" : "finding.place", { code: `\`${code}\``, file, line });
}

/** The whole finding as one paragraph. */
export function findingParagraph(finding: Finding, say: Translate) {
  const { what, why, todo, chain } = findingText(finding, say);
  const links = chain.map((text, k) => say("finding.link", { line: finding.chain[k].line, text }));
  const sentence = chain.length ? [say("finding.links", { links: links.join(say("finding.semicolon")) })] : [];
  return [what, ...sentence, why, todo].filter(Boolean).join(say("finding.join"));
}

/** The sentence of the first key that the language has. `withModuleName` adds to names those that they have outside. */
function firstKnownSentence(keys: string[], facts: Facts, say: Translate, withModuleName = false) {
  const key = keys.find((candidate) => say(candidate) !== candidate);
  if (!key) return "";
  const args = Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [name, factText(fact, say, withModuleName, facts.line)]),
  );
  return say(key, args);
}

/** A fact as a sentence about a line has it. */
export function factText(
  fact: Fact | Fact[],
  say: Translate,
  withModuleName = false,
  line: unknown = undefined,
): string {
  if (Array.isArray(fact)) {
    const texts = fact.slice(0, MAX_LISTED_FACTS).map((item) => factText(item, say, withModuleName, line));
    return texts.join(say("finding.comma")) + (fact.length > MAX_LISTED_FACTS ? say("finding.more") : "");
  }
  if (typeof fact !== "object") return String(fact);
  if ("phrase" in fact)
    return firstKnownSentence([fact.phrase, fact.otherwise].filter(Boolean) as string[], fact.facts ?? {}, say);
  if ("code" in fact && fact.isEarlier) return say("finding.earlier", { name: `\`${fact.code}\`` });
  if ("code" in fact) return withModuleName && fact.also ? say("finding.also", { ...fact }) : `\`${fact.code}\``;
  const key = fact.within ? "result_within" : fact.result ? "result" : "unnamed";
  const where = fact.line === line ? "here" : "of";
  return say(`finding.${key}_${where}`, { op: fact.result, expression: fact.within ?? "", line: fact.line });
}

/** what was looked for in a run, in words; names stand in backticks, what a row is about in asterisks */
export interface LookedForText {
  calm: boolean;
  line: string;
  remarks: string[];
  rows: string[];
  not_looked: string;
  /** the command's options for what was not looked for */
  flags: string[];
}

export function lookedForText(
  { isCalm, line, remarks, rows, notLooked, flags }: LookedFor,
  say: Translate,
): LookedForText {
  const sentence = ({ key, facts }: { key: string; facts: Facts }) => firstKnownSentence([key], facts, say);
  const missing = notLooked.map((key) => say(key)).join(say("finding.looked_for.separator"));
  return {
    calm: isCalm,
    line: sentence(line),
    remarks: remarks.map(sentence),
    rows: rows.map(sentence),
    not_looked: missing ? say("finding.looked_for.not_looked", { what: missing }) : "",
    flags,
  };
}

export interface AnswerText {
  title: string;
  what: string;
  why: string;
  todo: string;
  /** of the ways by which a gradient came */
  rows: string[];
  /** of why there is none */
  chain: string[];
}

/** An answer in words. */
export function answerText({ title, what, why, rows, finding }: TensorAnswer, say: Translate): AnswerText {
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

/** The question that can be asked of a tensor at a step. */
export function questionText(facts: RunFacts, uid: string, step: number, say: Translate) {
  const x = facts.nameFact(uid, step);
  const args = { x: factText(x, say), grad: factText(gradNameOf(x), say) };
  return say(`answer.ask.${questionAboutTensor(facts, uid, step)}`, args);
}
