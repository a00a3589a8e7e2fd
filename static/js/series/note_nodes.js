/** A note as nodes: its text as it is, addresses of the web in it as links. */

import { element } from "../browser/elements.js";

/** An address ends at a blank, at what may not stand in one, and before the punctuation of its sentence. */
const ADDRESS = /https?:\/\/[!#-;=?-_a-z~]+/gi;
const PUNCTUATION = /[.,;:!?)\]]+$/;

/** @typedef {{text: string, url: string | null}} NotePart   url: null for plain text */

/** @param {string} note @returns {NotePart[]} */
export function noteParts(note) {
  /** @type {NotePart[]} */
  const parts = [];
  let partEnd = 0;
  for (const match of note.matchAll(ADDRESS)) {
    const text = match[0].replace(PUNCTUATION, (punctuation) =>
      closesBracket(match[0], punctuation) ? punctuation[0] : "",
    );
    const url = webAddress(text);
    if (!url) continue;
    if (match.index > partEnd) parts.push({ text: note.slice(partEnd, match.index), url: null });
    parts.push({ text, url });
    partEnd = match.index + text.length;
  }
  if (partEnd < note.length) parts.push({ text: note.slice(partEnd), url: null });
  return parts;
}

/** Whether the first mark after an address closes a bracket that was opened in it, as in `…/Tensor_(machine_learning)`.
 * @param {string} address @param {string} punctuation */
function closesBracket(address, punctuation) {
  return punctuation[0] === ")" && address.slice(0, address.length - punctuation.length).includes("(");
}

/** @param {string} text @returns {string | null} null where it is none of http or https */
function webAddress(text) {
  try {
    const { protocol, href, hostname } = new URL(text);
    return (protocol === "http:" || protocol === "https:") && hostname ? href : null;
  } catch {
    return null;
  }
}

/** @param {string} note @returns {(string | HTMLElement)[]} its line ends stay, for styles that show them */
export function noteNodes(note) {
  return noteParts(note).map(({ text, url }) => {
    if (!url) return text;
    const link = /** @type {HTMLAnchorElement} */ (element("a", "note-link", text));
    link.href = url;
    link.rel = "noopener nofollow";
    link.target = "_blank";
    return link;
  });
}
