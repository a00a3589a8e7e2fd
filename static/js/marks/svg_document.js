/** A picture as a file of its own: an SVG that needs no page, with its styles, its title and a caption under it. */

import { textWidth } from "../layout/metrics.js";
import { cls, h, svgText, SVG } from "../browser/svg.js";
import { stylesFor } from "./svg_styles.js";

/** @typedef {import("../browser/svg.js").VNode} VNode */
/** @typedef {{width: number, height: number, nodes: VNode[], cut?: boolean}} Picture cut: it goes on above or below */
/** @typedef {"stage" | "loom"} Kind */
/** @typedef {{at: string, line: string, sentences: {text: string, tone: string}[]}} Caption */

const EDGE = 24;
const MIN_WIDTH = 560;
const WRAP_WIDTH = 900;
/** Of a statement, and of a sentence. */
const MAX_LINES = 12;

/** @typedef {{css: string, tokens: string, theme: "light" | "dark", language: string}} Styles css: the stylesheets, tokens: the colours */

/**
 * The file's text: the picture with its caption under it.
 * @param {Kind} kind @param {Picture} picture @param {Caption} caption @param {Styles} styles
 */
export function svgDocument(kind, { width, height, nodes }, caption, styles) {
  const w = Math.ceil(Math.max(width, MIN_WIDTH));
  const { lines, foot: bottom } = captionMarks(caption, w, Math.ceil(height));
  const body = [
    h("rect", { class: "paper", width: w, height: bottom }),
    ...nodes,
    h("path", { class: "paper-rule", d: `M0 ${Math.ceil(height) + 0.5}H${w}` }),
    ...lines,
  ];
  const description = caption.sentences.map(({ text }) => text).join(" ");
  return serialize(
    `${kind}-svg`,
    { width: w, height: bottom, nodes: body },
    [caption.line, caption.at].filter(Boolean).join(" · "),
    description,
    styles,
  );
}

/** A picture as a file's text, with only the styles that it needs.
 * @param {string} className the class of its root @param {Picture} picture @param {string} title @param {string} description @param {Styles} ink */
export function serialize(className, { width, height, nodes }, title, description, { css, tokens, theme, language }) {
  const body = nodes.map(withoutFocus);
  const svg = h(
    "svg",
    {
      xmlns: SVG,
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
    h("style", {}, stylesFor(css, tokens, theme, collectClasses(body, new Set([className])))),
    body,
  );
  return replaceInvalidXmlCharacters(`<?xml version="1.0" encoding="UTF-8"?>\n${svgText(svg)}\n`);
}

/** What stands under the picture, and where it ends. @param {Caption} caption @param {number} w @param {number} top */
function captionMarks({ at, line, sentences }, w, top) {
  const maxWidth = Math.min(w, WRAP_WIDTH) - 2 * EDGE;
  let y = top + 30;
  const lines = [h("text", { class: "paper-at", x: EDGE, y }, at)];
  for (const [k, text] of clipLines(wrapText(line, maxWidth, 14), MAX_LINES).entries())
    lines.push(h("text", { class: "paper-line", x: EDGE, y: (y += k ? 19 : 23) }, text));
  y += 6;
  for (const { text, tone } of sentences)
    for (const [k, part] of clipLines(wrapText(text, maxWidth - 14, 11.5), MAX_LINES).entries()) {
      y += 19;
      if (!k) lines.push(h("circle", { class: cls("paper-dot", tone), cx: EDGE + 3, cy: y - 4, r: 2.5 }));
      lines.push(h("text", { class: cls("paper-note", tone), x: EDGE + 14, y }, part));
    }
  return { lines, foot: y + 22 };
}

/** A text in lines of at most that width: broken at blanks, between East Asian characters, else where it must.
 * @param {string} text @param {number} maxWidth @param {number} size @returns {string[]} */
export function wrapText(text, maxWidth, size) {
  const lines = [""];
  let usedWidth = 0;
  const addToLine = (/** @type {string} */ part, /** @type {number} */ width) => {
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

/** At most so many lines; the last says that there was more. @param {string[]} lines @param {number} maxLines */
export function clipLines(lines, maxLines) {
  return lines.length <= maxLines ? lines : [...lines.slice(0, maxLines - 1), `${lines[maxLines - 1].slice(0, -1)}…`];
}

/** The same without what only a page can do. @param {VNode} node @returns {VNode} */
function withoutFocus(node) {
  const { tabindex: _, ...attrs } = node.attrs;
  return { ...node, attrs, children: node.children.map(withoutFocus) };
}

/** @param {VNode[]} nodes @param {Set<string>} names the class names that they wear are added */
function collectClasses(nodes, names) {
  for (const { attrs, children } of nodes) {
    for (const name of (attrs.class ?? "").split(" ")) names.add(name);
    collectClasses(children, names);
  }
  return names;
}

/** XML knows no control characters and no halves of characters. @param {string} text */
function replaceInvalidXmlCharacters(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that have to go
  const withoutControlCharacters = text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
  return withoutControlCharacters.replace(
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    "\ufffd",
  );
}
