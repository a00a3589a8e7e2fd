/** The colours of Python's words: in the editor, on the cards, and in a program that is only read. */

import { tagHighlighter, tags } from "@lezer/highlight";

export const pythonHighlighter = tagHighlighter([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword],
    class: "sx-word",
  },
  { tag: [tags.string, tags.special(tags.string)], class: "sx-text" },
  { tag: [tags.number, tags.bool, tags.null], class: "sx-number" },
  { tag: [tags.comment, tags.lineComment], class: "sx-note" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], class: "sx-name" },
]);
