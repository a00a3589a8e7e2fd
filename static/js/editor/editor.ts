/**
 * The program's editor: CodeMirror for Python, with the step's line highlighted, breakpoints, and messages at lines.
 */

import {
  Compartment,
  EditorState,
  RangeSet,
  StateEffect,
  StateField,
  Transaction,
  type ChangeSpec,
  type Extension,
  type StateEffectType,
} from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  EditorView,
  gutter,
  GutterMarker,
  keymap,
  lineNumbers,
  WidgetType,
} from "@codemirror/view";
import {
  dropErrorsEffect,
  keepMarksFacet,
  decorationsAfterChange,
  messageField,
  setMessagesEffect,
} from "./editor_messages.ts";
import type { FoldedLines } from "./finding_folds.ts";
import { shortestTextChange } from "./text_change.ts";
import { setUnfinishedLineEffect, unfinishedLineField } from "./unfinished_mark.ts";
import { lineRoleElement } from "../explain/finding_icons.ts";
import { mostSevereMarkByLine, type ChainMark } from "../findings/chain_marks.ts";
import type { HighlightedRange } from "./prebuilt_highlights.ts";
import type { LineMessage } from "../program/line_message.ts";

/** @see loadEditorTools */
export type EditorTools = typeof import("./editor_tools.ts");

const setStepLineEffect: StateEffectType<{ line: number; tone: string } | null> = StateEffect.define();
const setNextLineEffect: StateEffectType<number | null> = StateEffect.define();
const setFindingChainEffect: StateEffectType<FindingChain> = StateEffect.define();

/** the beginning of a line */
const toggleBreakpointEffect: StateEffectType<number> = StateEffect.define({
  map: (at, changes) => changes.mapPos(at),
});

/** The lines of a finding, and what stands at them and between them. */
interface FindingChain {
  marks: ChainMark[];
  roleName: (role: ChainMark["role"]) => string;
  foldLabel: (fold: FoldedLines) => string;
}

class BreakpointMarker extends GutterMarker {
  toDOM() {
    return document.createTextNode("●");
  }
}

const breakpointMarker = new BreakpointMarker();

/** where the reader wants to stop; they move with their lines */
const breakpointsField: StateField<RangeSet<GutterMarker>> = StateField.define({
  create: () => RangeSet.empty,
  update(set, transaction) {
    let next = set.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(toggleBreakpointEffect)) continue;
      let exists = false;
      next.between(effect.value, effect.value, () => {
        exists = true;
      });
      next = next.update(
        exists ? { filter: (from) => from !== effect.value } : { add: [breakpointMarker.range(effect.value)] },
      );
    }
    return next;
  },
});

const stepLineField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = decorationsAfterChange(marks, transaction);
    for (const effect of transaction.effects)
      if (effect.is(setStepLineEffect)) {
        const { line = null, tone = "" } = effect.value ?? {};
        next = lineDecoration(transaction.state, line, `cm-now ${tone}`);
      }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The line that comes next, where the steps after it are hidden. */
const nextLineField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = transaction.docChanged ? Decoration.none : marks;
    for (const effect of transaction.effects)
      if (effect.is(setNextLineEffect)) next = lineDecoration(transaction.state, effect.value, "cm-next");
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** What a line has to do with the finding that is open, at its right end. */
class ChainRoleWidget extends WidgetType {
  role: ChainMark["role"];
  name: string;

  constructor(role: ChainMark["role"], name: string) {
    super();
    this.role = role;
    this.name = name;
  }

  eq(other: ChainRoleWidget) {
    return other.role === this.role && other.name === this.name;
  }

  toDOM() {
    return lineRoleElement(this.role, this.name);
  }
}

const findingChainField = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = transaction.docChanged ? Decoration.none : marks;
    for (const effect of transaction.effects)
      if (effect.is(setFindingChainEffect)) next = findingChainDecorations(transaction.state, effect.value);
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The role of each line's gravest link, and the cause underlined. */
function findingChainDecorations(state: EditorState, { marks, roleName }: FindingChain) {
  const ranges = [];
  for (const { line: number, role, isCause } of mostSevereMarkByLine(marks)) {
    if (number < 1 || number > state.doc.lines) continue;
    const docLine = state.doc.line(number);
    const indent = docLine.text.length - docLine.text.trimStart().length;
    const end = docLine.text.replace(/\s*(#.*)?$/, "").length;
    if (isCause && indent < end)
      ranges.push(Decoration.mark({ class: "cm-cause" }).range(docLine.from + indent, docLine.from + end));
    ranges.push(Decoration.line({ class: "cm-role-line" }).range(docLine.from));
    ranges.push(Decoration.widget({ widget: new ChainRoleWidget(role, roleName(role)), side: 1 }).range(docLine.to));
  }
  return Decoration.set(ranges, true);
}

function lineDecoration(state: EditorState, line: number | null, className: string) {
  if (line === null || line < 1 || line > state.doc.lines) return Decoration.none;
  return Decoration.set([Decoration.line({ class: className }).range(state.doc.line(line).from)]);
}

/** Heights of lines that were never in sight are estimates: after a jump they are measured, and it is adjusted. */
const MAX_SCROLL_JUMPS = 4;

/** Scroll a line into the middle of the editor, unless it is in sight. It is measured with the next frame: asked for
 * at once, the browser would lay out the page for each step. */
function scrollToLine(view: EditorView, line: number, jumps = 0) {
  view.requestMeasure({
    key: "now",
    read: () => {
      const block = view.lineBlockAt(view.state.doc.line(Math.min(line, view.state.doc.lines)).from);
      const { scrollTop, clientHeight } = view.scrollDOM;
      const isInSight = block.top >= scrollTop && block.bottom <= scrollTop + clientHeight;
      return isInSight ? null : Math.max(0, block.top - Math.max(0, (clientHeight - block.height) / 2));
    },
    write: (top) => {
      if (top === null || jumps === MAX_SCROLL_JUMPS) return;
      view.scrollDOM.scrollTop = top;
      requestAnimationFrame(() => scrollToLine(view, line, jumps + 1));
    },
  });
}

interface EditorOptions {
  source: string;
  label: string;
  leaveHint: string;
  nonce: string;
  onRun: () => void;
  onChange: () => void;
  onLine: (line: number) => void;
  /** null: they come later, by `useTools`; until then the text has the colours of `painted` */
  tools: EditorTools | null;
  painted?: HighlightedRange[];
  extensions?: Extension;
  /** the step's line and the messages stay beside their lines while the text is edited, until others are set */
  keepMarks?: boolean;
}

/** The colours of a text until the grammar has come; they move with what they colour. */
function highlightedRangesExtension(parts: HighlightedRange[]): Extension {
  return StateField.define({
    create: () => Decoration.set(parts.map(([from, to, style]) => Decoration.mark({ class: style }).range(from, to))),
    update: (marks, transaction) => marks.map(transaction.changes),
    provide: (field) => EditorView.decorations.from(field),
  });
}

/** What the editor can do and show. `tools` can be exchanged. */
function editorExtensions(
  { label, leaveHint, nonce, onRun, onLine, extensions = [], keepMarks = false }: EditorOptions,
  tools: Extension,
): Extension {
  const runOnKey = () => {
    onRun();
    return true;
  };
  return [
    EditorView.cspNonce.of(nonce),
    breakpointsField,
    gutter({
      class: "cm-breaks",
      markers: (editor) => editor.state.field(breakpointsField),
      initialSpacer: () => breakpointMarker,
      domEventHandlers: {
        mousedown(editor, block) {
          editor.dispatch({ effects: toggleBreakpointEffect.of(editor.state.doc.lineAt(block.from).from) });
          return true;
        },
      },
    }),
    lineNumbers({
      domEventHandlers: {
        mousedown(editor, block) {
          onLine(editor.state.doc.lineAt(block.from).number);
          return true;
        },
      },
    }),
    keymap.of([{ key: "Mod-Enter", run: runOnKey }]),
    drawSelection(),
    EditorView.lineWrapping,
    tools,
    stepLineField,
    nextLineField,
    findingChainField,
    messageField,
    unfinishedLineField,
    keepMarksFacet.of(keepMarks),
    extensions,
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-description": leaveHint,
      spellcheck: "false",
      autocapitalize: "off",
      tabindex: "0",
    }),
  ];
}

export function createEditor(host: HTMLElement, options: EditorOptions) {
  let suppressChange = false;
  /** the line that is lit, with its tone; empty where none is, `moved` where the text has changed since */
  let litLine = "";
  /** the step's line, or the next one; null where there is none */
  let followedLine: number | null = null;
  /** somebody writes: the text stays where it is */
  let isTyping = false;
  let chain: FindingChain = { marks: [], roleName: () => "", foldLabel: () => "" };
  /** what folds comes with the first finding */
  let folding: typeof import("./finding_folds.ts") | null = null;
  let { tools } = options;
  const toolsPart = new Compartment();
  const view = new EditorView({
    parent: host,
    state: EditorState.create({
      doc: options.source,
      extensions: [
        editorExtensions(
          { ...options, onRun: run },
          toolsPart.of(tools ? tools.toolExtensions() : highlightedRangesExtension(options.painted ?? [])),
        ),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) litLine = "moved";
          if (!update.docChanged || suppressChange) return;
          isTyping = true;
          options.onChange();
        }),
      ],
    }),
  });
  const initialText = view.state.doc;

  function run() {
    isTyping = false;
    options.onRun();
  }

  /** Scrolls the step's line into sight. */
  function scrollToFollowedLine() {
    if (followedLine === null || (view.hasFocus && isTyping)) return;
    if (followedLine >= 1 && followedLine <= view.state.doc.lines) scrollToLine(view, followedLine);
  }

  /** Folds what lies between the lines of a finding while the step is at one of them, where they don't fit else. */
  async function foldBetweenMarkedLines() {
    if (!chain.marks.length && !folding) return;
    if (!folding) {
      const loaded = await import("./finding_folds.ts").catch(() => null); // offline, or the server has a newer page
      if (!loaded) return;
      if (!folding) view.dispatch({ effects: StateEffect.appendConfig.of(loaded.findingFoldField) });
      folding = loaded;
    }
    const { findingFoldField, foldEffect, foldsBetween, isHigherThanEditor } = folding;
    const lines = chain.marks.map(({ line }) => line);
    const isAtLine = followedLine !== null && lines.includes(followedLine);
    const folds = isAtLine && isHigherThanEditor(view, lines) ? foldsBetween(lines, view.state.doc.lines) : [];
    if (folds.length || view.state.field(findingFoldField).size)
      view.dispatch({ effects: foldEffect(folds, chain.foldLabel) });
  }

  // what is told below the program takes room from it
  let height = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.height !== height) void foldBetweenMarkedLines();
    if (contentRect.height < height) scrollToFollowedLine();
    height = contentRect.height;
  }).observe(view.scrollDOM);

  const undoAlone = () => (tools ? [tools.undoSeparately] : []);
  return {
    text: () => view.state.doc.toString(),
    /** Gives the editor the tools that it was made without. */
    useTools(loaded: EditorTools) {
      if (tools) return;
      tools = loaded;
      view.dispatch({ effects: toolsPart.reconfigure(tools.toolExtensions()) });
      const { doc, selection } = view.state;
      const change = shortestTextChange(initialText.toString(), doc.toString());
      if (!change) return;
      // what was written before them is made again, so that it can be undone
      suppressChange = true;
      const addToHistory = Transaction.addToHistory.of(false);
      view.dispatch({
        changes: {
          from: change.from,
          to: change.from + change.insert.length,
          insert: initialText.slice(change.from, change.to),
        },
        annotations: addToHistory,
      });
      view.dispatch({ changes: change, selection, annotations: undoAlone() });
      suppressChange = false;
    },
    /** Replaces the text as one change that can be undone. */
    setText(text: string) {
      if (text === view.state.doc.toString()) return;
      suppressChange = true;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: text },
        annotations: undoAlone(),
      });
      suppressChange = false;
    },
    /** Changes parts of the text, as one change that can be undone. */
    change(changes: ChangeSpec) {
      view.dispatch({ changes, annotations: undoAlone() });
    },
    undo: () => tools?.undo(view) ?? false,
    redo: () => tools?.redo(view) ?? false,
    canUndo: () => tools !== null && tools.undoDepth(view.state) > 0,
    canRedo: () => tools !== null && tools.redoDepth(view.state) > 0,
    /** The line of the cursor, from 1. */
    cursorLine: () => view.state.doc.lineAt(view.state.selection.main.head).number,
    /** Puts the cursor at a line; lines count from 1. */
    openLine(line: number) {
      const { from, text } = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
      view.focus();
      view.dispatch({ selection: { anchor: from + text.length }, scrollIntoView: true });
    },
    /** @see unfinishedLine */
    unfinishedLine: () => tools?.unfinishedLine(view.state) ?? null,
    /** Marks the line that is being written, and says `words` of it. */
    markUnfinished(line: number | null, words: string) {
      if (line === null && !view.state.field(unfinishedLineField).size) return; // every step asks for it
      view.dispatch({ effects: setUnfinishedLineEffect.of(line === null ? null : { line, words }) });
    },
    /** Lights the line that the step is at, and scrolls it into the middle unless it is in sight or somebody types. */
    setStepLine(line: number | null, tone = "") {
      const next = line === null ? "" : `${line} ${tone}`;
      if (next !== litLine) view.dispatch({ effects: setStepLineEffect.of(line === null ? null : { line, tone }) });
      litLine = next;
      if (line !== followedLine) {
        followedLine = line;
        void foldBetweenMarkedLines();
      }
      scrollToFollowedLine();
    },
    /** Marks the line that comes next, and scrolls to it as `setStepLine` does. */
    setNextLine(line: number | null) {
      view.dispatch({ effects: setNextLineEffect.of(line) });
      if (line !== null) followedLine = line;
      scrollToFollowedLine();
    },
    setMessages(list: LineMessage[]) {
      view.dispatch({ effects: setMessagesEffect.of(list) });
    },
    /** The messages that are no errors stay, until others are set. */
    dropErrors() {
      view.dispatch({ effects: dropErrorsEffect.of(null) });
    },
    /** Marks the lines of a finding's chain. */
    setChain(shown: FindingChain) {
      chain = shown;
      view.dispatch({ effects: setFindingChainEffect.of(shown) });
      void foldBetweenMarkedLines();
    },
    /** The lines where the reader wants to stop. */
    breakpoints(): Set<number> {
      const lines = new Set<number>();
      view.state.field(breakpointsField).between(0, view.state.doc.length, (from) => {
        lines.add(view.state.doc.lineAt(from).number);
      });
      return lines;
    },
    toggleBreakpoint(line: number) {
      if (line >= 1 && line <= view.state.doc.lines)
        view.dispatch({ effects: toggleBreakpointEffect.of(view.state.doc.line(line).from) });
    },
    focused: () => view.hasFocus,
    focus: () => view.focus(),
  };
}
