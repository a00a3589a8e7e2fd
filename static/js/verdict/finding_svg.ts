/** A verdict as the text of an SVG file. */

import tokens from "../../css/base/tokens.css";
import findingMarks from "../../css/findings/finding_marks.css";
import findingPictureStyles from "../../css/findings/verdict.css";
import { svgFileText } from "../marks/svg_document.ts";
import { pictureStyles } from "../picture/styles.ts";
import { plainText } from "./rich_text.ts";
import {
  findingPicture,
  findingPictureSentences,
  type FindingPictureSize,
  type FindingPictureSubject,
} from "./finding_picture.ts";
import type { Verdict } from "./verdict.ts";

export const findingPictureCss = [findingMarks, findingPictureStyles].join("");

export function findingSvg(
  verdict: Verdict,
  size: FindingPictureSize,
  subject: FindingPictureSubject,
  theme: "light" | "dark",
): string {
  const css = verdict.list ? [pictureStyles, findingPictureCss].join("") : findingPictureCss;
  const styles = { css, tokens, theme, language: subject.language };
  return svgFileText(
    "card",
    findingPicture(verdict, size, subject),
    plainText(verdict.headline),
    findingPictureSentences(verdict),
    styles,
  );
}
