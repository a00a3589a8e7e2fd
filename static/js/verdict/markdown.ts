/** A verdict as Markdown and as HTML, for an answer in a forum. */

import { captionSentences, stepHeading } from "../captions/captions.ts";
import { landingStep } from "../trace/steps/landing.ts";
import { shortLineName } from "../trace/program_files.ts";
import { plainText } from "./rich_text.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Translate } from "../words/sentences.ts";
import type { Verdict } from "./verdict.ts";

export interface FindingSummaryLinks {
  /** of the permalink; "" for a program that is not saved */
  address: string;
  /** of its card; "" where there is none */
  picture: string;
}

const MAX_COMMENT_COLUMN = 56;

/** Headline, picture, the two lines with a comment each, what to do, the link. */
export function findingMarkdown(verdict: Verdict, links: FindingSummaryLinks, say: Translate): string {
  const parts = [
    `**${markdownOfRichText(verdict.headline)}**`,
    links.picture && `![${escapeMarkdown(plainText(verdict.headline))}](${links.picture})`,
    codeLines(verdict)
      .map((line) => `    ${inOneLine(line)}`)
      .join("\n"),
    verdict.todo && markdownOfRichText(verdict.todo),
    links.address && `[${say("verdict.step_through")}](${links.address})`,
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

/** A run without a finding: the step at which its reader lands. `sayCaption` has the sentences of captions. */
export function stepMarkdown(
  opened: OpenTrace,
  title: string,
  links: FindingSummaryLinks,
  say: Translate,
  sayCaption: Translate,
): string {
  const i = Math.max(0, landingStep(opened));
  const { line } = opened.count ? stepHeading(opened.trace, i, sayCaption) : { line: "" };
  const sentence = opened.count ? (captionSentences(opened, i, sayCaption)[0]?.text ?? "") : "";
  const parts = [
    title && `**${escapeMarkdown(title)}**`,
    links.picture && `![${escapeMarkdown(title || line)}](${links.picture})`,
    line && `    ${shortLineName(opened.trace.steps[i].line)}  ${inOneLine(line)}`,
    escapeMarkdown(sentence),
    links.address && `[${say("verdict.step_through")}](${links.address})`,
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

/** The same as HTML, for editors that take it. `image` is the picture as an address, "" for none. */
export function findingHtml(verdict: Verdict, links: FindingSummaryLinks, image: string, say: Translate): string {
  const parts = [
    `<p><b>${htmlWithCode(verdict.headline)}</b></p>`,
    image && `<p><img src="${escapeHtml(image)}" width="600" alt="${escapeHtml(plainText(verdict.headline))}"></p>`,
    `<pre><code>${escapeHtml(codeLines(verdict).join("\n"))}</code></pre>`,
    verdict.todo && `<p>${htmlWithCode(verdict.todo)}</p>`,
    links.address && `<p><a href="${escapeHtml(links.address)}">${escapeHtml(say("verdict.step_through"))}</a></p>`,
  ];
  return parts.filter(Boolean).join("\n");
}

/**
 * Both statements with their numbers; what each has to do with it is a comment, beside it or, where it is long, above.
 */
function codeLines({ lines }: Verdict): string[] {
  const numberWidth = Math.max(...lines.map(({ line }) => shortLineName(line).length));
  const codeWidth = Math.min(MAX_COMMENT_COLUMN, Math.max(...lines.map(({ code }) => code.length)));
  return lines.flatMap(({ line, code, links }) => {
    const number = shortLineName(line).padStart(numberWidth);
    const comment = links.map(({ text }) => plainText(text)).join("; ");
    if (code.length > MAX_COMMENT_COLUMN) return [`${" ".repeat(numberWidth)}  # ${comment}`, `${number}  ${code}`];
    return [`${number}  ${code.padEnd(codeWidth)}  # ${comment}`];
  });
}

/** Characters that mean something in the Markdown of forums: emphasis, code, links, pictures, HTML, entities, tables,
 * strokes, formulas, addresses that become links; and at the beginning, a heading, a list or a rule. */
const MARKDOWN = /[\\`*_{}[\]<>#|~&!$@]|:(?=\/\/)|(?<=www)\.|^[-+=]|(?<=^\d+)[.)]/gi;

function escapeMarkdown(text: string) {
  return inOneLine(text).trim().replace(MARKDOWN, "\\$&");
}

/** Prose with names in backticks, which Markdown shows as they are. */
function markdownOfRichText(text: string) {
  const parts = text.split("`").map((part, k) => (k % 2 ? part && `\`${part}\`` : part.replace(MARKDOWN, "\\$&")));
  return inOneLine(parts.join("")).trim();
}

/** Without what ends a paragraph or a line of code in Markdown. */
function inOneLine(text: string) {
  return text.replace(/[\r\n\f\v\u0085\u2028\u2029]+/g, " ");
}

function escapeHtml(text: string) {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

function htmlWithCode(text: string) {
  return text
    .split("`")
    .map((part, k) => (k % 2 ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part)))
    .join("");
}
