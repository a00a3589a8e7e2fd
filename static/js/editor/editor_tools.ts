/**
 * What the editor has for who writes in it: the grammar with its colours, undoing, keys. The first picture does not
 * wait for it.
 */

import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { keymap } from "@codemirror/view";
import { pythonHighlighter } from "./python_highlighter.ts";
import type { Extension } from "@codemirror/state";

export { redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
export { unfinishedLine } from "./unfinished_line.ts";

/** What an editor is extended by. */
export function toolExtensions(): Extension {
  return [
    history(),
    indentOnInput(),
    indentUnit.of("    "),
    bracketMatching(),
    pythonLanguage, // without its completions, which would be a tenth of the script
    syntaxHighlighting(pythonHighlighter),
    keymap.of([indentWithTab, ...defaultKeymap, ...historyKeymap]),
  ];
}

/** On a change: it is undone by itself, not together with the ones before it. */
export const undoSeparately = isolateHistory.of("full");
