/** A note as nodes: its text as it is, addresses of the web in it as links. */

import { createElement } from "./elements.ts";

/** An address ends at a blank, at what may not stand in one, and before the punctuation of its sentence. */
const WEB_ADDRESS_PATTERN = /https?:\/\/[!#-;=?-_a-z~]+/gi;
const TRAILING_PUNCTUATION_PATTERN = /[.,;:!?)\]]+$/;

interface NotePart {
  text: string;
  /** null for plain text */
  url: string | null;
}

export function splitNoteAtLinks(note: string): NotePart[] {
  const parts: NotePart[] = [];
  let partEnd = 0;
  for (const match of note.matchAll(WEB_ADDRESS_PATTERN)) {
    const text = match[0].replace(TRAILING_PUNCTUATION_PATTERN, (punctuation) =>
      doesPunctuationCloseBracket(match[0], punctuation) ? punctuation[0] : "",
    );
    const url = validWebAddress(text);
    if (!url) continue;
    if (match.index > partEnd) parts.push({ text: note.slice(partEnd, match.index), url: null });
    parts.push({ text, url });
    partEnd = match.index + text.length;
  }
  if (partEnd < note.length) parts.push({ text: note.slice(partEnd), url: null });
  return parts;
}

/** Whether the first mark after an address closes a bracket that was opened in it, as in
 * `…/Tensor_(machine_learning)`. */
function doesPunctuationCloseBracket(address: string, punctuation: string) {
  return punctuation[0] === ")" && address.slice(0, address.length - punctuation.length).includes("(");
}

/** The address as the browser writes it; null where it is neither http nor https. */
function validWebAddress(text: string): string | null {
  try {
    const { protocol, href, hostname } = new URL(text);
    return (protocol === "http:" || protocol === "https:") && hostname ? href : null;
  } catch {
    return null;
  }
}

/** Line ends stay, for styles that show them. */
export function noteNodes(note: string): (string | HTMLElement)[] {
  return splitNoteAtLinks(note).map(({ text, url }) => {
    if (!url) return text;
    const link = createElement("a", "note-link", text) as HTMLAnchorElement;
    link.href = url;
    link.rel = "noopener nofollow";
    link.target = "_blank";
    return link;
  });
}
