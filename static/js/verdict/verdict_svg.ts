/** A verdict as the text of an SVG file. */

import tokens from "../../css/base/tokens.css";
import findingMarks from "../../css/findings/finding_marks.css";
import verdictStyles from "../../css/findings/verdict.css";
import { svgFileText } from "../marks/svg_document.ts";
import { pictureStyles } from "../picture/styles.ts";
import { plainText } from "./rich_text.ts";
import { verdictPicture, verdictSentences, type VerdictSize, type VerdictSubject } from "./verdict_picture.ts";
import type { Verdict } from "./verdict.ts";

export const verdictCss = [findingMarks, verdictStyles].join("");

export function verdictSvg(
  verdict: Verdict,
  size: VerdictSize,
  subject: VerdictSubject,
  theme: "light" | "dark",
): string {
  const css = verdict.list ? [pictureStyles, verdictCss].join("") : verdictCss;
  const styles = { css, tokens, theme, language: subject.language };
  return svgFileText(
    "card",
    verdictPicture(verdict, size, subject),
    plainText(verdict.headline),
    verdictSentences(verdict),
    styles,
  );
}
