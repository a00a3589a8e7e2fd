/**
 * What the page itself shares of a finding: the proposed title, the film, the picture with its text. Fetched when one
 * is asked for.
 */

import { explain } from "../findings/explain.ts";
import { bundledLocale } from "../words/locale.ts";
import { findingText } from "../findings/finding_text.ts";
import { svgToPng } from "../picture/files.ts";
import { linkCardSvg } from "../picture/picture.ts";
import { filmSvg } from "./film.ts";
import { stepMarkdown, findingHtml, findingMarkdown, type FindingSummaryLinks } from "./markdown.ts";
import { plainText } from "./rich_text.ts";
import { verdictOf } from "./verdict.ts";
import { CARD_SIZE } from "./finding_picture.ts";
import { findingSvg } from "./finding_svg.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Translate } from "../words/sentences.ts";

export interface SharedRun {
  opened: OpenTrace;
  title: string;
  theme: "light" | "dark";
  language: string;
  /** of findings */
  sayFinding: Translate;
}

/** Characters of a title, as the server takes them. */
const MAX_TITLE = 200;

/** The headline of what is wrong in a run; "" where nothing is. */
export function findingHeadline(opened: OpenTrace, sayFinding: Translate): string {
  const finding = explain(opened).find(({ severity }) => severity !== "note");
  const headline = finding ? plainText(findingText(finding, sayFinding).what) : "";
  return headline.length > MAX_TITLE ? `${headline.slice(0, MAX_TITLE - 1)}…` : headline;
}

export function filmBlob(run: SharedRun): Blob {
  const { opened, title, sayFinding, language } = run;
  const subject = { opened, verdict: verdictOf(opened, sayFinding), title, language, sayFinding };
  return new Blob([filmSvg(subject, run)], { type: "image/svg+xml" });
}

/** The picture of the finding with its text: an answer for a forum. `address` is that of the permalink, "" for none. */
export async function pictureWithText(run: SharedRun, address: string) {
  const { opened, title, sayFinding, language } = run;
  const { say } = bundledLocale(language);
  const verdict = verdictOf(opened, sayFinding);
  const links: FindingSummaryLinks = { address, picture: address ? `${address}.card.png` : "" };
  const svg = verdict
    ? findingSvg(verdict, CARD_SIZE, { opened, title, say: sayFinding, language }, run.theme)
    : linkCardSvg(opened.trace, null, title, run);
  const text = verdict
    ? findingMarkdown(verdict, links, sayFinding)
    : stepMarkdown(opened, title, links, sayFinding, say);
  const html = verdict ? findingHtml(verdict, links, links.picture, sayFinding) : "";
  return { png: await svgToPng(svg), text, html };
}

/** Returns whether all of it was copied; where only the text was, the picture is to be saved beside it. */
export async function copyPictureWithText({ png, text, html }: { png: Blob; text: string; html: string }) {
  const typed = (content: string, type: string) => new Blob([content], { type });
  try {
    await navigator.clipboard.write([
      new ClipboardItem({
        "image/png": png,
        "text/plain": typed(text, "text/plain"),
        ...(html ? { "text/html": typed(html, "text/html") } : {}),
      }),
    ]);
    return true;
  } catch {
    await navigator.clipboard.writeText(text);
    return false;
  }
}
