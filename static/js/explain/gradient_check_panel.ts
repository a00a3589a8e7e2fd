/**
 * The part of an answer that compares torch's gradients with finite differences: a button, then sentences and a table.
 */

import { nodesWithCode, paragraphWithCode, createElement, onHoverOrFocus } from "../browser/elements.ts";
import { shortNumberText } from "../trace/format.ts";
import type {
  CheckGradients,
  CheckReply,
  CheckedNumber,
  ElementCheck,
  GradientCheck,
  LeafCheck,
  GradientVerdict,
} from "../requests/gradient_check.ts";
import { sampleCheckPanel } from "./sample_check_panel.ts";
import type { AutomaticCheck } from "../findings/automatic_check.ts";
import type { Translate } from "../words/sentences.ts";

const SIGNIFICANT_DIGITS = 8;

const VERDICTS_BY_SEVERITY: GradientVerdict[] = [
  "differs",
  "stale",
  "cut",
  "imprecise",
  "unknown",
  "kink",
  "rounding",
  "agrees",
  "unused",
];

/** by the open trace and the call of backward */
const checkRepliesByTrace = new WeakMap<object, Map<number | null, CheckReply>>();

export interface GradientCheckSubject {
  opened: object;
  backward: number | null;
  /** what the tensor is called that the answer is about */
  asked: string;
  /** the key of the button's words, where they are others */
  button?: string;
  /**
   * where the check runs by itself: what it is about and what it may cost, and what is done where a gradient differs
   */
  byItself?: { check: AutomaticCheck; onDifference: () => void };
  say: Translate;
  check: CheckGradients;
  /** what a leaf's name means, null for nothing */
  light: (name: string | null) => void;
}

export function gradientCheckPanel({
  opened,
  backward,
  asked: askedName,
  button,
  byItself,
  say,
  check,
  light,
}: GradientCheckSubject) {
  const repliesOfRun = checkRepliesByTrace.get(opened) ?? new Map();
  checkRepliesByTrace.set(opened, repliesOfRun);
  const box = createElement("section", "gradient-check");
  box.setAttribute("aria-live", "polite");

  function offerCheck(key: string, ...before: HTMLElement[]) {
    const button = createElement("button", "check-start", say(key)) as HTMLButtonElement;
    button.type = "button";
    button.addEventListener("click", start);
    box.replaceChildren(...before, button);
  }

  async function start() {
    box.setAttribute("aria-busy", "true");
    box.replaceChildren(paragraphWithCode("check-status", say("check.running")));
    try {
      repliesOfRun.set(backward, await check(backward));
      show();
    } catch {
      offerCheck("check.again", paragraphWithCode("check-status", say("check.failed")));
    }
    box.removeAttribute("aria-busy");
  }

  /** Check without being asked: a difference is shown, agreement is one line, and of anything else nothing is said. */
  async function startByItself({ check: about, onDifference }: NonNullable<GradientCheckSubject["byItself"]>) {
    offerCheck(
      button ?? "check.button",
      paragraphWithCode("check-status", say(`check.self.${about.reason}`, { ...about })),
    );
    const reply = await check(about.backward, { elements: about.elements }).catch(() => null);
    if (box.getAttribute("aria-busy") || repliesOfRun.has(backward)) return; // the reader asked for more meanwhile
    const judgement = automaticCheckSentence(reply?.check ?? null);
    if (reply && judgement === "differs" && about.tellsDifference) {
      repliesOfRun.set(backward, reply);
      show();
      onDifference();
    } else if (judgement === "agrees") {
      const checked = sumOfNumbers((reply?.check?.leaves ?? []).map(({ rows }) => rows.length));
      const sentence = say("check.self.agrees", { line: reply?.check?.line ?? "?", checked });
      offerCheck(button ?? "check.button", paragraphWithCode("check-sentence", sentence));
    } else offerCheck(button ?? "check.button");
  }

  function show() {
    const reply = repliesOfRun.get(backward) as CheckReply;
    const title = createElement("h4", "", say("check.title"));
    box.replaceChildren(title, ...checkReplyElements(reply, { asked: askedName, say, light }));
  }

  if (repliesOfRun.has(backward)) show();
  else if (byItself) startByItself(byItself);
  else offerCheck(button ?? "check.button");
  const panels = createElement("div", "check-panels");
  panels.append(box, sampleCheckPanel({ opened, backward, say, check }));
  return panels;
}

interface GradientCheckContext {
  asked: string;
  say: Translate;
  light: (name: string | null) => void;
}

function checkReplyElements({ check, message }: CheckReply, context: GradientCheckContext): HTMLElement[] {
  const { say } = context;
  if (!check) return [paragraphWithCode("check-status", say("check.stopped", { message }))];
  if (check.problem)
    return [paragraphWithCode("check-status", say(`check.problem.${check.problem}`, { message: check.message }))];
  const leafSentences = check.leaves.flatMap((leaf) => leafProblemSentence(leaf, say) ?? []);
  const corners = check.leaves.some(({ verdict }) => verdict === "kink") ? check.corners : [];
  const notes = [
    ...(leafSentences.length ? leafSentences : [say("check.what.all")]),
    ...corners.map((corner) => say("check.corner", corner)),
  ];
  const sizes = {
    checked: sumOfNumbers(check.leaves.map(({ rows }) => rows.length)),
    elements: sumOfNumbers(check.leaves.map((l) => l.elements)),
  };
  const footSentences = [say("check.summary", { ...check, ...sizes })];
  if (!check.complete) footSentences.push(say("check.incomplete"));
  if (doesLossDiffer(check))
    footSentences.push(say("check.double_loss", { double: numberText(check.double), loss: numberText(check.loss) }));
  return [
    ...notes.map((text) => paragraphWithCode("check-sentence", text)),
    leafTable(check, context),
    ...footSentences.map((text) => paragraphWithCode("check-status", text)),
  ];
}

/**
 * What a check that nobody asked for says. It differs only where nothing else explains it: no hook, no gradient of 0 as
 * a mask leaves, no other path in float64. Null where it says nothing.
 */
export function automaticCheckSentence(check: GradientCheck | null): "agrees" | "differs" | null {
  if (!check || check.problem || doesLossDiffer(check)) return null;
  const isWrong = ({ verdict, torch, double, numeric }: ElementCheck) =>
    verdict === "differs" && [torch, double, numeric].every((value) => typeof value === "number") && double !== 0;
  if (check.leaves.some(({ hooked, rows }) => !hooked && rows.some(isWrong))) return "differs";
  const verdicts = check.leaves.flatMap(({ rows }) => rows.map(({ verdict }) => verdict));
  const areRight = verdicts.every((verdict) => verdict === "agrees" || verdict === "rounding");
  return areRight && verdicts.includes("agrees") ? "agrees" : null;
}

/** Whether the run in float64 has another loss than rounding explains. */
function doesLossDiffer({ loss, double }: GradientCheck) {
  if (typeof loss !== "number" || typeof double !== "number") return false;
  return Math.abs(loss - double) > 1e-3 * Math.max(Math.abs(loss), Math.abs(double), 1e-6);
}

/** What is not as it should be with a leaf. */
function leafProblemSentence(leaf: LeafCheck, say: Translate): string | null {
  const row = leaf.worst === null ? null : leaf.rows[leaf.worst];
  if (!row) {
    const why = say(`check.leaf.${leaf.problem}`, { line: leaf.problem_line });
    return leaf.problem ? `${leafText(leaf, null, say)}: ${why}` : null;
  }
  if (leaf.verdict === "agrees") return null;
  const key = leaf.hooked && leaf.verdict === "differs" ? "hooked" : leaf.verdict;
  const [torch, numeric, left, right] = [row.torch, row.numeric, row.left, row.right].map(numberText);
  return say(`check.what.${key}`, {
    x: leafText(leaf, row, say),
    torch,
    numeric,
    left,
    right,
    dtype: leaf.dtype,
    copy: leaf.copy_used?.dtype ?? "",
    made: leaf.copy_used?.line ?? "?",
  });
}

function leafTable({ leaves }: GradientCheck, context: GradientCheckContext) {
  const { say } = context;
  const frame = createElement("div", "check-frame");
  frame.tabIndex = 0;
  frame.setAttribute("role", "region");
  frame.setAttribute("aria-label", say("check.title"));
  const table = createElement("table", "check-table");
  const headRow = createElement("tr", "");
  for (const name of ["leaf", "torch", "numeric", "difference", "verdict"]) {
    const cell = createElement("th", "", say(`check.column.${name}`));
    cell.setAttribute("scope", "col");
    headRow.append(cell);
  }
  const [tableHead, body] = [createElement("thead", ""), createElement("tbody", "")];
  tableHead.append(headRow);
  const graverFirst = [...leaves].sort(
    (a, b) => VERDICTS_BY_SEVERITY.indexOf(a.verdict) - VERDICTS_BY_SEVERITY.indexOf(b.verdict),
  );
  for (const leaf of graverFirst) body.append(...leafRows(leaf, context));
  table.append(createElement("caption", "", say("check.caption")), tableHead, body);
  frame.append(table);
  return frame;
}

/** A leaf's row, and those of its elements, which a click shows. */
function leafRows(leaf: LeafCheck, { asked, say, light }: GradientCheckContext) {
  const worstElement = leaf.worst === null ? null : leaf.rows[leaf.worst];
  const row = checkedValueRow(leaf.verdict, worstElement, say);
  row.classList.toggle("asked", leaf.name === asked);
  const name = createElement("th", "");
  name.setAttribute("scope", "row");
  const button = createElement("button", "check-leaf link") as HTMLButtonElement;
  button.type = "button";
  button.append(...nodesWithCode(leafText(leaf, worstElement, say)));
  onHoverOrFocus(
    button,
    () => light(leaf.name),
    () => light(null),
  );
  const count = createElement(
    "span",
    "check-count",
    say("check.elements", { checked: leaf.rows.length, elements: leaf.elements }),
  );
  name.append(button, count);
  row.prepend(name);
  const elementRows = leaf.rows.length > 1 ? leaf.rows.map((elementCheck) => elementCheckRow(elementCheck, say)) : [];
  button.disabled = !elementRows.length;
  button.ariaExpanded = elementRows.length ? "false" : null;
  button.addEventListener("click", () => {
    for (const innerRow of elementRows) innerRow.hidden = !innerRow.hidden;
    button.ariaExpanded = String(!elementRows[0].hidden);
  });
  return [row, ...elementRows];
}

function elementCheckRow(check: ElementCheck, say: Translate) {
  const row = checkedValueRow(check.verdict, check, say);
  row.hidden = true;
  row.classList.add("check-element");
  const name = createElement("th", "");
  name.setAttribute("scope", "row");
  name.append(createElement("code", "", `[${check.index.join()}]`));
  row.prepend(name);
  return row;
}

function checkedValueRow(verdict: GradientVerdict, check: ElementCheck | null, say: Translate) {
  const row = createElement("tr", "");
  row.dataset.verdict = verdict;
  const difference = check ? differenceText(check.difference) : "";
  const values = [check ? numberText(check.torch) : "", check ? numberText(check.numeric) : "", difference];
  row.append(...values.map((text) => createElement("td", "check-value", text)));
  row.append(createElement("td", "check-verdict", say(`check.verdict.${verdict}`)));
  return row;
}

/** A leaf's name in marks of code, with the element where it has several. */
function leafText(leaf: LeafCheck, row: ElementCheck | null, say: Translate) {
  const indexText = row && leaf.elements > 1 ? `[${row.index.join()}]` : "";
  return leaf.name ? `\`${leaf.name}${indexText}\`` : `${say("check.nameless", { line: leaf.line })}${indexText}`;
}

function numberText(value: CheckedNumber | null) {
  if (value === null) return "None";
  return typeof value === "number" ? shortNumberText(value, SIGNIFICANT_DIGITS) : value.$f;
}

function differenceText(difference: number | null) {
  if (difference === null) return "";
  return difference && difference < 1e-3 ? difference.toExponential(0) : String(Number(difference.toPrecision(2)));
}

function sumOfNumbers(numbers: number[]) {
  return numbers.reduce((a, b) => a + b, 0);
}
