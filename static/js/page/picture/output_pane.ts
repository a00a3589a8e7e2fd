/** The pane of printed output: all that a run prints, the step's own marked, what is still to come in grey. */

import { isStillRunning } from "../../trace/steps/truncated_trace.ts";
import type { Step, Trace } from "../../trace/wire.ts";
import type { Locale } from "../../words/sentences.ts";

interface OutputPiece {
  step: number;
  text: string;
  stream: string;
}

/** Characters that are shown of what was printed, and of what is still to come, unless the reader asks for all. */
const SHOWN_CHARACTERS = 20_000;
const LATER_CHARACTERS = 4_000;

/** The key of what is said of a run that printed nothing; the trace is null where nothing ran yet. */
export function emptyOutputKey(trace: Trace | null) {
  if (trace?.steps.length && !isStillRunning(trace))
    return trace.outcome.status === "finished" ? "prints_nothing" : "printed_nothing";
  return trace?.outcome.status === "refused" ? "refused" : "nothing_printed";
}

/** The pieces of output of a run. */
function outputPieces(steps: Step[]): OutputPiece[] {
  return steps.flatMap(({ log }, step) =>
    log.flatMap((entry) =>
      entry.kind === "out" ? [{ step, text: entry.text, stream: entry.stream ?? "stdout" }] : [],
    ),
  );
}

/** The last pieces, the first of them cut where need be, and how many characters stand before them. */
export function lastOutputPieces(
  pieces: OutputPiece[],
  maxLength: number = SHOWN_CHARACTERS,
): { before: number; pieces: OutputPiece[] } {
  let left = maxLength;
  let firstShown = pieces.length;
  while (firstShown > 0 && left > 0) left -= pieces[--firstShown].text.length;
  const shownPieces = pieces.slice(firstShown);
  if (left < 0) shownPieces[0] = { ...shownPieces[0], text: shownPieces[0].text.slice(-left) };
  const before = pieces.slice(0, firstShown).reduce((sum, piece) => sum + piece.text.length, Math.max(0, -left));
  return { before, pieces: shownPieces };
}

/** The first pieces, the last of them cut where need be, and how many characters stand after them. */
function firstPieces(
  pieces: OutputPiece[],
  maxLength: number = LATER_CHARACTERS,
): { after: number; pieces: OutputPiece[] } {
  let left = maxLength;
  let end = 0;
  while (end < pieces.length && left > 0) left -= pieces[end++].text.length;
  const shownPieces = pieces.slice(0, end);
  const last = shownPieces.length - 1;
  if (left < 0) shownPieces[last] = { ...shownPieces[last], text: shownPieces[last].text.slice(0, left) };
  const after = pieces.slice(end).reduce((sum, piece) => sum + piece.text.length, Math.max(0, -left));
  return { after, pieces: shownPieces };
}

/** How many pieces come from steps before `step`; they are in the order of steps. */
function pieceCountBefore(pieces: OutputPiece[], step: number) {
  let low = 0;
  let high = pieces.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pieces[middle].step < step) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * `pane` wears `none` where nothing is printed, and has a `.nothing`. `go` is called with the step that printed what
 * was clicked.
 */
export function createOutputPane(
  { pane, text }: { pane: HTMLElement; text: HTMLElement },
  say: Locale["say"],
  go: (step: number) => void,
) {
  const emptyLabel = pane.querySelector(".nothing");
  let printed: OutputPiece[] = [];
  /** all of it is shown, however long */
  let showsAll = false;
  let shownKey = "";
  /** one for each piece, where all of them are shown */
  let spans: HTMLSpanElement[] = [];
  let shownStep = -1;
  /** what is in sight */
  let scrolledTo: Element | undefined;
  const stepOfSpan = new WeakMap<Element, number>();

  text.addEventListener("click", (event) => {
    const step = event.target instanceof Element ? stepOfSpan.get(event.target) : undefined;
    if (step !== undefined && getSelection()?.isCollapsed !== false) go(step);
  });

  function spanOf({ text, step, stream }: OutputPiece, i: number) {
    const span = document.createElement("span");
    stepOfSpan.set(span, step);
    span.dataset.step = String(step);
    span.dataset.stream = stream;
    span.className = classOf(stream, step, i);
    span.textContent = text;
    return span;
  }

  /** Draw a part of what was printed, around the step. */
  function drawAroundStep(i: number) {
    const from = pieceCountBefore(printed, i);
    const to = pieceCountBefore(printed, i + 1);
    const key = `${from} ${to}`;
    if (shownKey === key) return;
    shownKey = key;
    const pieceBefore = lastOutputPieces(printed.slice(0, to));
    const later = firstPieces(printed.slice(to));
    text.replaceChildren(
      ...(pieceBefore.before ? [showAllButton("printed_before", pieceBefore.before, i)] : []),
      ...[...pieceBefore.pieces, ...later.pieces].map((piece) => spanOf(piece, i)),
      ...(later.after ? [showAllButton("printed_after", later.after, i)] : []),
    );
  }

  /** Mark the step's own output and what is still to come, where all of it is shown. */
  function markStepInAll(i: number) {
    if (!spans.length) {
      spans = printed.map((piece) => spanOf(piece, i));
      text.replaceChildren(...spans);
    }
    const from = pieceCountBefore(printed, Math.min(i, shownStep));
    const to = pieceCountBefore(printed, Math.max(i, shownStep) + 1);
    for (let k = from; k < to; k++) spans[k].className = classOf(printed[k].stream, printed[k].step, i);
    shownStep = i;
  }

  /** Scroll within the pane to what the step printed, else to the last that was printed. */
  function scrollToStep() {
    const stepOutput = text.querySelector(".now");
    const target = stepOutput ?? [...text.querySelectorAll("[data-step]:not(.later)")].at(-1);
    if (target === scrolledTo) return;
    scrolledTo = target;
    if (!target) {
      text.scrollTop = 0;
      return;
    }
    const box = target.getBoundingClientRect();
    const view = text.getBoundingClientRect();
    if (box.top >= view.top && box.bottom <= view.bottom) return;
    text.scrollTop +=
      box.bottom - box.top > view.height || !stepOutput ? box.bottom - view.bottom : box.top - view.top - 30;
  }

  /** A button that shows the text of `n` characters that is left out. */
  function showAllButton(key: string, n: number, i: number) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = key === "printed_before" ? `${say(key, { n })}\n` : `\n${say(key, { n })}`;
    button.addEventListener("click", () => {
      showsAll = true;
      show(i);
    });
    return button;
  }

  function show(i: number) {
    if (!printed.length) return;
    if (showsAll) markStepInAll(i);
    else drawAroundStep(i);
    scrollToStep();
  }

  return {
    show,
    /** The output of another run. `hidesMore`: what is still to come is not shown. */
    open(trace: Trace | null, hidesMore = false) {
      const steps = trace?.steps ?? [];
      printed = outputPieces(steps);
      showsAll = printed.reduce((sum, piece) => sum + piece.text.length, 0) <= SHOWN_CHARACTERS;
      shownKey = "";
      shownStep = -1;
      spans = [];
      text.replaceChildren();
      pane.classList.toggle("none", !printed.length);
      pane.classList.toggle("hides-more", hidesMore);
      if (emptyLabel) emptyLabel.textContent = say(hidesMore ? "printed_hidden" : emptyOutputKey(trace));
    },
  };
}

/** `step` printed, and step `i` is shown. */
function classOf(stream: string, step: number, i: number) {
  return `${stream}${step === i ? " now" : step > i ? " later" : ""}`;
}
