/** The page of an offline file: one trace, stepped through where there is no server and no network. */

import { locale } from "./locale.js";
import { createStage } from "./stage.js";
import { openTrace } from "./state.js";
import { sentences, stageWords, where } from "./telling.js";
import { startTheme } from "./theme.js";
import { createTimeline } from "./timeline.js";
import { lastWrite } from "./writers.js";

/** @template {HTMLElement} T @param {string} id @returns {T} */
const part = (id) => /** @type {T} */ (document.getElementById(id));

/** @type {{trace: any, step: number, title: string}} */
const { trace, step: first, title } = JSON.parse(part("first").textContent ?? "{}");
const { say } = locale(document.documentElement.lang);
const opened = openTrace(trace);
const steps = /** @type {any[]} */ (trace.steps);
let step = first;

startTheme(part("theme"));
part("title").textContent = title;

const rows = trace.program.source.split("\n").map((/** @type {string} */ text, /** @type {number} */ k) => {
  const row = document.createElement("li");
  row.textContent = text;
  row.addEventListener("click", () => toLine(k + 1));
  return row;
});
part("listing").replaceChildren(...rows);

const stage = createStage(part("stage"), document, {
  words: stageWords(say),
  cell: toWriter,
});
const timeline = createTimeline(
  { root: part("timeline"), slider: part("slider"), marks: part("marks"), label: part("where") },
  { go, describe, halts: () => false, calm: matchMedia("(prefers-reduced-motion: reduce)").matches },
);

/** @param {number} i */
function describe(i) {
  const { at, line } = where(trace, i, say);
  return `${at} · ${line}`;
}

/** @param {number} i */
function go(i) {
  step = Math.max(0, Math.min(i, opened.count - 1));
  stage.show(opened, step);
  timeline.show(step);
  const { line, kind } = steps[step];
  rows.forEach((/** @type {HTMLElement} */ row, /** @type {number} */ k) => {
    row.className = k + 1 === line ? `cm-now ${kind === "raise" ? "raised" : kind === "visit" ? "visit" : ""}` : "";
    if (k + 1 === line) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  });
  rows[line - 1]?.scrollIntoView({ block: "nearest" });
  part("sentences").replaceChildren(...sentences(opened, step, say).map(({ text, tone }) => {
    const item = document.createElement("li");
    item.className = tone;
    item.textContent = text;
    return item;
  }));
  const said = steps.slice(0, step + 1).flatMap((one) => one.log.flatMap((/** @type {any} */ e) => (e.kind === "out" ? [e.text] : [])));
  part("printed").textContent = said.join("");
  part("printed-box").classList.toggle("none", !said.length);
  part("workbench").dataset.step = String(step);
}

/** Go to where a line next ran. @param {number} line */
function toLine(line) {
  const at = steps.findIndex((s, i) => i > step && s.line === line);
  const found = at >= 0 ? at : steps.findIndex((s) => s.line === line);
  if (found >= 0) go(found);
}

/** Go to the step that made a cell what it is; from that step, to the one before.
 * @param {string} storage @param {number} index @param {string} dtype */
function toWriter(storage, index, dtype) {
  const at = lastWrite(opened, storage, index, dtype, step);
  const found = at === step ? lastWrite(opened, storage, index, dtype, step - 1) : at;
  if (found >= 0) go(found);
}

document.addEventListener("keydown", (event) => {
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (target?.closest("button") && event.key === " ") return;
  if (target?.id === "slider" && event.key !== " ") return;
  if (timeline.key(event.key, event.shiftKey)) event.preventDefault();
});

timeline.open(steps);
go(first);
