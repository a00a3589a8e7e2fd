/** A picture as a file of its own: an SVG that needs no page, with its styles, its title and a caption under it. */

import { textWidth } from "../layout/text/metrics.ts";
import { classNames, h, vnodeToSvg, SVG_NAMESPACE, type VNode } from "../browser/svg.ts";
import { circleMark, pathMark, textMark } from "../browser/shapes.ts";
import { pictureStylesheet } from "./svg_styles.ts";

export interface Picture {
  width: number;
  height: number;
  nodes: VNode[];
  /** it goes on above or below */
  cut?: boolean;
}

type Kind = "stage" | "loom";

export interface PictureCaption {
  at: string;
  line: string;
  sentences: { text: string; tone: string }[];
}

const PICTURE_EDGE = 24;
const MIN_PICTURE_WIDTH = 560;
const MAX_CAPTION_WIDTH = 900;
/** Of a statement, and of a sentence. */
const MAX_CAPTION_LINES = 12;

interface Styles {
  /** the stylesheets */
  css: string;
  /** the colours */
  tokens: string;
  theme: "light" | "dark";
  language: string;
}

/** The file's text: the picture with its caption under it. */
export function svgFileWithCaption(
  kind: Kind,
  { width, height, nodes }: Picture,
  caption: PictureCaption,
  styles: Styles,
) {
  const w = Math.ceil(Math.max(width, MIN_PICTURE_WIDTH));
  const { lines, foot: bottom } = pictureCaptionMarks(caption, w, Math.ceil(height));
  const body = [
    h("rect", { class: "paper", width: w, height: bottom }),
    ...nodes,
    pathMark("paper-rule", `M0 ${Math.ceil(height) + 0.5}H${w}`),
    ...lines,
  ];
  const description = caption.sentences.map(({ text }) => text).join(" ");
  return svgFileText(
    `${kind}-svg`,
    { width: w, height: bottom, nodes: body },
    [caption.line, caption.at].filter(Boolean).join(" · "),
    description,
    styles,
  );
}

/** A picture as a file's text, with only the styles that it needs. `className` is the class of its root. */
export function svgFileText(
  className: string,
  { width, height, nodes }: Picture,
  title: string,
  description: string,
  { css, tokens, theme, language }: Styles,
) {
  const body = nodes.map(withoutTabindex);
  const svg = h(
    "svg",
    {
      xmlns: SVG_NAMESPACE,
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      class: className,
      role: "img",
      "xml:lang": language,
      "aria-labelledby": "picture-title picture-desc",
      "data-theme": theme,
    },
    h("title", { id: "picture-title" }, title),
    h("desc", { id: "picture-desc" }, description),
    h("style", {}, pictureStylesheet(css, tokens, theme, collectClassNames(body, new Set([className])))),
    body,
  );
  return replaceInvalidXmlCharacters(`<?xml version="1.0" encoding="UTF-8"?>\n${vnodeToSvg(svg)}\n`);
}

/** What stands under the picture, and where it ends. */
function pictureCaptionMarks({ at, line, sentences }: PictureCaption, w: number, top: number) {
  const maxWidth = Math.min(w, MAX_CAPTION_WIDTH) - 2 * PICTURE_EDGE;
  let y = top + 30;
  const lines = [textMark("paper-at", PICTURE_EDGE, y, at)];
  for (const [k, text] of clipLines(line ? wrapText(line, maxWidth, 14) : [], MAX_CAPTION_LINES).entries())
    lines.push(textMark("paper-line", PICTURE_EDGE, (y += k ? 19 : 23), text));
  y += 6;
  for (const { text, tone } of sentences)
    for (const [k, part] of clipLines(wrapText(text, maxWidth - 14, 11.5), MAX_CAPTION_LINES).entries()) {
      y += 19;
      if (!k) lines.push(circleMark(classNames("paper-dot", tone), PICTURE_EDGE + 3, y - 4, 2.5));
      lines.push(textMark(classNames("paper-note", tone), PICTURE_EDGE + 14, y, part));
    }
  return { lines, foot: y + 22 };
}

/** A text in lines of at most that width: broken at blanks, between East Asian characters, else where it must. */
export function wrapText(text: string, maxWidth: number, size: number): string[] {
  const lines = [""];
  let usedWidth = 0;
  const addToLine = (part: string, width: number) => {
    lines[lines.length - 1] += part;
    usedWidth += width;
  };
  const startLine = () => {
    lines.push("");
    usedWidth = 0;
  };
  for (const word of text.match(
    /\s+|[\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|[^\s\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]+/gu,
  ) ?? []) {
    const width = textWidth(word, size);
    if (usedWidth + width <= maxWidth) addToLine(word, width);
    else if (!word.trim()) startLine();
    else {
      if (lines[lines.length - 1]) startLine();
      for (const character of word) {
        const characterWidth = textWidth(character, size);
        if (usedWidth + characterWidth > maxWidth) startLine();
        addToLine(character, characterWidth);
      }
    }
  }
  return lines.map((line) => line.trimEnd()).filter((line, k) => line || !k);
}

/** At most so many lines; the last says that there was more. */
export function clipLines(lines: string[], maxLines: number) {
  return lines.length <= maxLines ? lines : [...lines.slice(0, maxLines - 1), `${lines[maxLines - 1].slice(0, -1)}…`];
}

/** The same without what only a page can do. */
function withoutTabindex(node: VNode): VNode {
  const { tabindex: _, ...attrs } = node.attrs;
  return { ...node, attrs, children: node.children.map(withoutTabindex) };
}

/** Adds the class names that nodes wear to `names`. */
function collectClassNames(nodes: VNode[], names: Set<string>) {
  for (const { attrs, children } of nodes) {
    for (const name of (attrs.class ?? "").split(" ")) names.add(name);
    collectClassNames(children, names);
  }
  return names;
}

/** XML knows no control characters and no halves of characters. */
function replaceInvalidXmlCharacters(text: string) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that have to go
  const withoutControlCharacters = text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
  return withoutControlCharacters.replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    "\ufffd",
  );
}
