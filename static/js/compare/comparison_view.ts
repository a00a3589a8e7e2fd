/**
 * Two runs side by side on one timeline: a sentence, two stages, two lanes, and the numbered differences of the place.
 */

import { nodesWithCode, createElement } from "../browser/elements.ts";
import { ComparisonTooLarge, compareTraces, differencesAt, type Comparison } from "./comparison.ts";
import { timelineLanesElement } from "./lanes.ts";
import { statementTexts } from "./align.ts";
import {
  groupByName,
  clauseAboutName,
  comparisonLocale,
  lineOfRow,
  outcomeText,
  outputDifferenceText,
  comparisonSummary,
} from "./comparison_words.ts";
import type { Trace } from "../trace/wire.ts";
import type { SideView } from "./side_view.ts";

/** Differences that are numbered and listed at a place. */
const MAX_LISTED_DIFFERENCES = 12;

/** `root` holds the parts of `_comparison.html`. `onMoved` is called with each place that is shown. */
export function createComparisonView(
  root: HTMLElement,
  sides: { left: SideView; right: SideView },
  language: string,
  onMoved: (row: number) => void = () => {},
) {
  const { say } = comparisonLocale(language);
  const elementById = (id: string) => root.querySelector(`#${id}`) as HTMLElement;
  const slider = elementById("slider") as HTMLInputElement;
  let comparison: Comparison | null = null;
  let row = 0;

  const lastRow = () => (comparison ? comparison.rows.length - 1 : 0);
  /** The rows at which a difference begins, or one side does something alone. */
  const landmarkRows = () => {
    if (!comparison) return [];
    const { differences, output, rows } = comparison;
    const aloneRows = rows.flatMap((place, k) => (!place.both && (k === 0 || rows[k - 1].both) ? [k] : []));
    return [...new Set([...differences.map(({ from }) => from), ...output.map((line) => line.row), ...aloneRows])].sort(
      (a, b) => a - b,
    );
  };

  function goToRow(target: number) {
    if (!comparison) return;
    row = Math.max(0, Math.min(target, lastRow()));
    show();
    onMoved(row);
  }

  /** To the next place that is different, the first one after the last. */
  function goToDifference(direction: 1 | -1) {
    const differingRows = landmarkRows();
    const nextPlace =
      direction === 1 ? differingRows.find((place) => place > row) : differingRows.findLast((place) => place < row);
    const target = nextPlace ?? (direction === 1 ? differingRows[0] : differingRows.at(-1));
    if (target !== undefined) goToRow(target);
  }

  function show() {
    if (!comparison) return;
    const { left, right, rows } = comparison;
    const stepsAtRow = rows[row];
    const before = rows[row - 1] ?? { left: -1, right: -1 };
    const groups = groupByName(differencesAt(comparison, row)).slice(0, MAX_LISTED_DIFFERENCES);
    const markedNames = (uid: "leftUid" | "rightUid") =>
      groups.map((group, k) => ({
        number: k + 1,
        uid: group[0][uid],
        properties: group.map(({ property }) => property),
      }));
    if (stepsAtRow) {
      sides.left.show(left, stepsAtRow.left, stepsAtRow.left > before.left, markedNames("leftUid"));
      sides.right.show(right, stepsAtRow.right, stepsAtRow.right > before.right, markedNames("rightUid"));
    } else {
      sides.left.show(left, -1, false, []);
      sides.right.show(right, -1, false, []);
    }
    slider.value = String(row);
    const label = stepsAtRow
      ? say("compare.where", { at: row + 1, count: rows.length, line: lineOfRow(comparison, row) })
      : "";
    slider.setAttribute("aria-valuetext", label);
    elementById("where").textContent = label;
    slider.style.setProperty("--at", lastRow() > 0 ? String(row / lastRow()) : "0");
    listDifferences(groups);
    root.dataset.row = String(row);
  }

  function listDifferences(groups: ReturnType<typeof differencesAt>[]) {
    if (!comparison) return;
    const items = groups.map((group) => sentenceItem(clauseAboutName(group, say)));
    const outputsHere = comparison.output.filter((difference) => difference.row === row);
    const output = outputsHere.map((difference) =>
      sentenceItem(outputDifferenceText(difference, say), "printed-difference"),
    );
    const emptyItems =
      items.length || output.length ? [] : [createElement("li", "none", say("compare.no_difference_here"))];
    elementById("differences").replaceChildren(...items, ...output, ...emptyItems);
  }

  slider.addEventListener("input", () => goToRow(Number(slider.value)));
  const actions = {
    first: () => goToRow(0),
    previous: () => goToRow(row - 1),
    next: () => goToRow(row + 1),
    last: () => goToRow(lastRow()),
    difference: () => goToDifference(1),
  };
  for (const [name, doAction] of Object.entries(actions))
    root.querySelector(`[data-go="${name}"]`)?.addEventListener("click", doAction);

  return {
    /** Compares two runs, and shows `initialRow`, or where they part if that is null. */
    open(leftTrace: Trace, rightTrace: Trace, initialRow: number | null) {
      comparison = null;
      try {
        comparison = compareTraces(leftTrace, rightTrace);
      } catch (error) {
        if (!(error instanceof ComparisonTooLarge)) throw error;
        elementById("verdict").textContent = say("compare.too_large");
        return;
      }
      const { left, right, rows, apart } = comparison;
      elementById("verdict").replaceChildren(...nodesWithCode(comparisonSummary(comparison, say)));
      for (const [side, opened] of [
        ["left", left],
        ["right", right],
      ] as const) {
        const { outcome } = opened.trace;
        sides[side].showOutcome(outcomeText(outcome, say), outcome.status === "finished");
        sides[side].showChanged(linesOfChangedStatements(comparison, side));
      }
      elementById("lanes").replaceChildren(timelineLanesElement(comparison));
      elementById("track").style.setProperty("--apart", apart === null ? "0" : String(apart / rows.length));
      elementById("track").style.setProperty("--rows", String(Math.max(rows.length, 1)));
      elementById("apart").textContent =
        apart === null ? "" : say("compare.apart_label", { line: lineOfRow(comparison, apart) });
      slider.max = String(lastRow());
      slider.disabled = rows.length === 0;
      for (const name of Object.keys(actions)) {
        const button = root.querySelector(`[data-go="${name}"]`) as HTMLButtonElement | null;
        if (button) button.disabled = rows.length === 0 || (name === "difference" && !landmarkRows().length);
      }
      root.dataset.rows = String(rows.length);
      goToRow(initialRow ?? apart ?? lastRow());
    },
    go: goToRow,
    get comparison() {
      return comparison;
    },
    get row() {
      return row;
    },
    /** To the place at which a side is on a line first. */
    goToLine(side: "left" | "right", line: number) {
      if (!comparison) return;
      const { steps } = comparison[side].trace;
      const target = comparison.rows.findIndex((place) => steps[place[side]]?.line === line);
      if (target >= 0) goToRow(target);
    },
    /** by key */
    shortcuts: { d: () => goToDifference(1), D: () => goToDifference(-1) } as Record<string, () => void>,
    /** Takes a key pressed outside of any field. Returns whether it was handled. */
    key(name: string): boolean {
      const moves = { ArrowRight: actions.next, ArrowLeft: actions.previous, Home: actions.first, End: actions.last };
      const move = moves[name as keyof typeof moves];
      move?.();
      return move !== undefined;
    },
  };
}

function sentenceItem(text: string, className = "") {
  const item = createElement("li", className);
  const sentence = createElement("span", "");
  sentence.append(...nodesWithCode(text));
  item.append(sentence);
  return item;
}

/** Lines of a side's statements that the other side does not have, or has in other words. */
function linesOfChangedStatements({ left, right, statements }: Comparison, side: "left" | "right"): Set<number> {
  const texts = { left: statementTexts(left.trace.program), right: statementTexts(right.trace.program) };
  const ownStatements = (side === "left" ? left : right).trace.program.statements ?? [];
  const lines = new Set<number>();
  for (const pair of statements) {
    const index = pair[side];
    if (index === null) continue;
    if (pair.left !== null && pair.right !== null && texts.left[pair.left] === texts.right[pair.right]) continue;
    const { line, end_line } = ownStatements[index];
    const firstInner = ownStatements.find((statement) => statement.parent === index);
    for (let k = line; k <= (firstInner ? Math.max(line, firstInner.line - 1) : end_line); k++) lines.add(k);
  }
  return lines;
}
