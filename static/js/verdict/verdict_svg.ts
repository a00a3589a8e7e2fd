/** A verdict as the text of an SVG file. */

import tokens from "../../css/base/tokens.css";
import findingMarks from "../../css/findings/finding_marks.css";
import verdictStyles from "../../css/findings/verdict.css";
import { svgFileText } from "../marks/svg_document.ts";
import { plainText } from "./rich_text.ts";
import { verdictPicture, type VerdictSize } from "./verdict_picture.ts";
import type { Verdict } from "./verdict.ts";
import type { Say } from "../words/sentences.ts";

export const verdictCss = [findingMarks, verdictStyles].join("");

interface VerdictDrawingOptions {
  theme: "light" | "dark";
  language: string;
}

export function verdictSvg(
  verdict: Verdict,
  size: VerdictSize,
  title: string,
  say: Say,
  { theme, language }: VerdictDrawingOptions,
): string {
  const styles = { css: verdictCss, tokens, theme, language };
  return svgFileText(
    "card",
    verdictPicture(verdict, size, title, say),
    plainText(verdict.headline),
    verdictSentences(verdict),
    styles,
  );
}

/** All that a verdict says of its two lines, for those who can't see it. */
export function verdictSentences({ kicker, lines, why, todo }: Verdict) {
  const links = lines.flatMap(({ links: ofLine }) => ofLine.map(({ text }) => text));
  return plainText([kicker, ...links, why, todo].filter(Boolean).join(". "));
}
