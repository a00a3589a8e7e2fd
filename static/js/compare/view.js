/** Two runs side by side on one timeline: a sentence, two stages, two lanes, and the numbered differences of the place. */

import { codeNodes, element } from "../browser/elements.js";
import { compareTraces, differencesAt } from "./comparison.js";
import { lanesElement } from "./lanes.js";
import { statementTexts } from "./align.js";
import {
  changesByName,
  nameClause,
  compareLocale,
  lineOfRow,
  outcomeText,
  outputText,
  comparisonSummary,
} from "./words.js";

/** @typedef {import("./comparison.js").Comparison} Comparison */
/** @typedef {import("./side_view.js").SideView} SideView */
/** @typedef {import("../trace/wire.js").Trace} Trace */
/** @typedef {ReturnType<typeof createComparisonView>} ComparisonView */

/** Differences that are numbered and listed at a place. */
const MAX_LISTED = 12;

/**
 * @param {HTMLElement} root with the parts of `_comparison.html`
 * @param {{left: SideView, right: SideView}} sides
 * @param {string} language
 * @param {(row: number) => void} [onMoved] called with each place that is shown
 */
export function createComparisonView(root, sides, language, onMoved = () => {}) {
  const { say } = compareLocale(language);
  const elementById = (/** @type {string} */ id) => /** @type {HTMLElement} */ (root.querySelector(`#${id}`));
  const slider = /** @type {HTMLInputElement} */ (elementById("slider"));
  /** @type {Comparison | null} */
  let comparison = null;
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

  /** @param {number} target */
  function goToRow(target) {
    if (!comparison) return;
    row = Math.max(0, Math.min(target, lastRow()));
    show();
    onMoved(row);
  }

  /** To the next place that is different, the first one after the last. @param {1 | -1} direction */
  function goToDifference(direction) {
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
    const groups = changesByName(differencesAt(comparison, row)).slice(0, MAX_LISTED);
    const markedNames = (/** @type {"leftUid" | "rightUid"} */ uid) =>
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

  /** @param {ReturnType<typeof differencesAt>[]} groups */
  function listDifferences(groups) {
    if (!comparison) return;
    const items = groups.map((group) => sentenceItem(nameClause(group, say)));
    const outputsHere = comparison.output.filter((difference) => difference.row === row);
    const output = outputsHere.map((difference) => sentenceItem(outputText(difference, say), "printed-difference"));
    const emptyItems = items.length || output.length ? [] : [element("li", "none", say("compare.no_difference_here"))];
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
    /** Compare two runs, and show the place where they part. @param {Trace} leftTrace @param {Trace} rightTrace
     * @param {number | null} initialRow the place to show; null for where they part */
    open(leftTrace, rightTrace, initialRow) {
      comparison = compareTraces(leftTrace, rightTrace);
      const { left, right, rows, apart } = comparison;
      elementById("verdict").replaceChildren(...codeNodes(comparisonSummary(comparison, say)));
      for (const [side, opened] of /** @type {const} */ ([
        ["left", left],
        ["right", right],
      ])) {
        const { outcome } = opened.trace;
        sides[side].showOutcome(outcomeText(outcome, say), outcome.status === "finished");
        sides[side].showChanged(changedLines(comparison, side));
      }
      elementById("lanes").replaceChildren(lanesElement(comparison));
      elementById("track").style.setProperty("--apart", apart === null ? "0" : String(apart / rows.length));
      elementById("track").style.setProperty("--rows", String(Math.max(rows.length, 1)));
      elementById("apart").textContent =
        apart === null ? "" : say("compare.apart_label", { line: lineOfRow(comparison, apart) });
      slider.max = String(lastRow());
      slider.disabled = rows.length === 0;
      for (const name of Object.keys(actions)) {
        const button = /** @type {HTMLButtonElement | null} */ (root.querySelector(`[data-go="${name}"]`));
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
    /** To the place at which a side is on a line first. @param {"left" | "right"} side @param {number} line */
    goToLine(side, line) {
      if (!comparison) return;
      const { steps } = comparison[side].trace;
      const target = comparison.rows.findIndex((place) => steps[place[side]]?.line === line);
      if (target >= 0) goToRow(target);
    },
    /** @type {Record<string, () => void>} by key */
    shortcuts: { d: () => goToDifference(1), D: () => goToDifference(-1) },
    /** A key pressed outside of any field. @param {string} name @returns {boolean} whether it was handled */
    key(name) {
      const moves = { ArrowRight: actions.next, ArrowLeft: actions.previous, Home: actions.first, End: actions.last };
      const move = moves[/** @type {keyof typeof moves} */ (name)];
      move?.();
      return move !== undefined;
    },
  };
}

/** @param {string} text @param {string} [className] */
function sentenceItem(text, className = "") {
  const item = element("li", className);
  const sentence = element("span", "");
  sentence.append(...codeNodes(text));
  item.append(sentence);
  return item;
}

/** Lines of a side's statements that the other side does not have, or has in other words.
 * @param {Comparison} comparison @param {"left" | "right"} side @returns {Set<number>} */
function changedLines({ left, right, statements }, side) {
  const texts = { left: statementTexts(left.trace.program), right: statementTexts(right.trace.program) };
  const ownStatements = (side === "left" ? left : right).trace.program.statements ?? [];
  const lines = new Set();
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
