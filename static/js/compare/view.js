/** Two runs side by side on one timeline: a sentence, two stages, two lanes, and the numbered differences of the place. */

import { codeNodes, element } from "../elements.js";
import { compareTraces, differencesAt } from "./comparison.js";
import { lanes } from "./lanes.js";
import { statementTexts } from "./align.js";
import { byName, clause, compareLocale, lineOf, outcomeText, outputText, summary } from "./words.js";

/** @typedef {import("./comparison.js").Comparison} Comparison */
/** @typedef {import("./side_view.js").SideView} SideView */
/** @typedef {import("../trace.js").Trace} Trace */
/** @typedef {ReturnType<typeof createComparisonView>} ComparisonView */

/** Differences that are numbered and listed at a place. */
const MAX_LISTED = 12;

/**
 * @param {HTMLElement} root with the parts of `_comparison.html`
 * @param {{left: SideView, right: SideView}} sides
 * @param {string} language
 * @param {(row: number) => void} [moved] called with each place that is shown
 */
export function createComparisonView(root, sides, language, moved = () => {}) {
  const { say } = compareLocale(language);
  const part = (/** @type {string} */ id) => /** @type {HTMLElement} */ (root.querySelector(`#${id}`));
  const slider = /** @type {HTMLInputElement} */ (part("slider"));
  /** @type {Comparison | null} */
  let comparison = null;
  let row = 0;

  const last = () => (comparison ? comparison.rows.length - 1 : 0);
  /** The rows at which a difference begins, or one side does something alone. */
  const landmarks = () => {
    if (!comparison) return [];
    const { differences, output, rows } = comparison;
    const alone = rows.flatMap((place, k) => (!place.both && (k === 0 || rows[k - 1].both) ? [k] : []));
    return [...new Set([...differences.map(({ from }) => from), ...output.map((line) => line.row), ...alone])].sort(
      (a, b) => a - b,
    );
  };

  /** @param {number} target */
  function goToRow(target) {
    if (!comparison) return;
    row = Math.max(0, Math.min(target, last()));
    show();
    moved(row);
  }

  /** To the next place that is different, the first one after the last. @param {1 | -1} direction */
  function goToDifference(direction) {
    const places = landmarks();
    const next = direction === 1 ? places.find((place) => place > row) : places.findLast((place) => place < row);
    const target = next ?? (direction === 1 ? places[0] : places.at(-1));
    if (target !== undefined) goToRow(target);
  }

  function show() {
    if (!comparison) return;
    const { left, right, rows } = comparison;
    const place = rows[row];
    const before = rows[row - 1] ?? { left: -1, right: -1 };
    const groups = byName(differencesAt(comparison, row)).slice(0, MAX_LISTED);
    const marked = (/** @type {"leftUid" | "rightUid"} */ uid) =>
      groups.map((group, k) => ({
        number: k + 1,
        uid: group[0][uid],
        properties: group.map(({ property }) => property),
      }));
    if (place) {
      sides.left.show(left, place.left, place.left > before.left, marked("leftUid"));
      sides.right.show(right, place.right, place.right > before.right, marked("rightUid"));
    }
    slider.value = String(row);
    const label = place ? say("compare.where", { at: row + 1, count: rows.length, line: lineOf(comparison, row) }) : "";
    slider.setAttribute("aria-valuetext", label);
    part("where").textContent = label;
    slider.style.setProperty("--at", last() > 0 ? String(row / last()) : "0");
    listDifferences(groups);
    root.dataset.row = String(row);
  }

  /** @param {ReturnType<typeof differencesAt>[]} groups */
  function listDifferences(groups) {
    if (!comparison) return;
    const items = groups.map((group) => sentenceItem(clause(group, say)));
    const printed = comparison.output.filter((difference) => difference.row === row);
    const output = printed.map((difference) => sentenceItem(outputText(difference, say), "printed-difference"));
    const none = items.length || output.length ? [] : [element("li", "none", say("compare.no_difference_here"))];
    part("differences").replaceChildren(...items, ...output, ...none);
  }

  slider.addEventListener("input", () => goToRow(Number(slider.value)));
  const actions = {
    first: () => goToRow(0),
    previous: () => goToRow(row - 1),
    next: () => goToRow(row + 1),
    last: () => goToRow(last()),
    difference: () => goToDifference(1),
  };
  for (const [name, act] of Object.entries(actions))
    root.querySelector(`[data-go="${name}"]`)?.addEventListener("click", act);

  return {
    /** Compare two runs, and show the place where they part. @param {Trace} leftTrace @param {Trace} rightTrace
     * @param {number | null} at the place to show; null for where they part */
    open(leftTrace, rightTrace, at) {
      comparison = compareTraces(leftTrace, rightTrace);
      const { left, right, rows, apart } = comparison;
      part("verdict").replaceChildren(...codeNodes(summary(comparison, say)));
      for (const [side, opened] of /** @type {const} */ ([
        ["left", left],
        ["right", right],
      ])) {
        const { outcome } = opened.trace;
        sides[side].showOutcome(outcomeText(outcome, say), outcome.status === "finished");
        sides[side].showChanged(changedLines(comparison, side));
      }
      part("lanes").replaceChildren(lanes(comparison));
      part("track").style.setProperty("--apart", apart === null ? "0" : String(apart / rows.length));
      part("track").style.setProperty("--rows", String(Math.max(rows.length, 1)));
      part("apart").textContent = apart === null ? "" : say("compare.apart_label", { line: lineOf(comparison, apart) });
      slider.max = String(last());
      slider.disabled = rows.length === 0;
      for (const name of Object.keys(actions)) {
        const button = /** @type {HTMLButtonElement | null} */ (root.querySelector(`[data-go="${name}"]`));
        if (button) button.disabled = rows.length === 0 || (name === "difference" && !landmarks().length);
      }
      root.dataset.rows = String(rows.length);
      goToRow(at ?? apart ?? last());
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
  const own = (side === "left" ? left : right).trace.program.statements ?? [];
  const lines = new Set();
  for (const pair of statements) {
    const index = pair[side];
    if (index === null) continue;
    if (pair.left !== null && pair.right !== null && texts.left[pair.left] === texts.right[pair.right]) continue;
    const { line, end_line } = own[index];
    const inner = own.find((statement) => statement.parent === index);
    for (let k = line; k <= (inner ? Math.max(line, inner.line - 1) : end_line); k++) lines.add(k);
  }
  return lines;
}
