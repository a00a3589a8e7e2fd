/** The page of one trace that is only looked at: an offline file, where there is no server, and the frame in another's page. */

import { startKeys } from "./keys.js";
import { captionItems } from "./caption_list.js";
import { locale } from "./locale.js";
import { createLoom } from "./loom.js";
import { messages } from "./messages.js";
import { createPrinted } from "./printed.js";
import { createStage } from "./stage.js";
import { openTrace } from "./state.js";
import {
  outcomeSentence,
  loomLabels,
  nextRunOfLine,
  sentences,
  stageLabels,
  openingStep,
  stepHeading,
} from "./captions.js";
import { startTheme } from "./theme.js";
import { createTimeline } from "./timeline.js";
import * as url from "./url.js";
import { createViews } from "./views.js";
import { writeBefore } from "./cell_writers.js";

const CLOSER = 1.25;
/** @template {HTMLElement} T @param {string} id @returns {T} */
const part = (id) => /** @type {T} */ (document.getElementById(id));

/** @type {{trace: any, step: number | null, title: string}} */
const { trace, step: first, title } = JSON.parse(part("first").textContent ?? "{}");
const { say } = locale(document.documentElement.lang);
const opened = openTrace(trace);
const steps = /** @type {any[]} */ (trace.steps);
const away = /** @type {HTMLAnchorElement | null} */ (document.querySelector("a[data-away]"));
let step = 0;
/** @type {string | null} what stays lit */
let selection = null;

startTheme(part("theme"));
part("title").textContent = title;

const rows = trace.program.source
  .trimEnd()
  .split("\n")
  .map((/** @type {string} */ text, /** @type {number} */ k) => {
    const row = document.createElement("li");
    row.textContent = text;
    row.addEventListener("click", () => toLine(k + 1));
    return row;
  });
part("listing").replaceChildren(...rows);

const stage = createStage(part("stage"), document, {
  words: stageLabels(say),
  cell: toWriter,
  selected(key) {
    selection = key;
    onward();
  },
});
const loom = createLoom(part("loom"), document, { labels: loomLabels(say), go });
const printed = createPrinted({ pane: part("printed-box"), text: part("printed") }, say);
const views = createViews(part("views"), (name) => {
  part("stage").classList.toggle("aside", name !== "stage");
  part("loom").classList.toggle("aside", name !== "loom");
  if (opened.count) go(step);
});
const timeline = createTimeline(
  { root: part("timeline"), slider: part("slider"), marks: part("marks"), label: part("where") },
  { go, describe, stopsAt: () => false, reducedMotion: matchMedia("(prefers-reduced-motion: reduce)").matches },
);

/** @param {number} i */
function describe(i) {
  if (!opened.count) return say("no_steps");
  const { at, line } = stepHeading(trace, i, say);
  return `${at} · ${line}`;
}

/** @param {number} i */
function go(i) {
  step = Math.max(0, Math.min(i, opened.count - 1));
  if (views.current() === "loom") loom.show(opened, step);
  else stage.show(opened, step);
  timeline.show(step);
  const { line, kind } = steps[step];
  rows.forEach((/** @type {HTMLElement} */ row, /** @type {number} */ k) => {
    row.className = k + 1 === line ? `cm-now ${kind === "raise" ? "raised" : kind === "visit" ? "visit" : ""}` : "";
    if (k + 1 === line) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  });
  beside(rows[line - 1]);
  part("sentences").replaceChildren(...captionItems(sentences(opened, step, say)));
  printed.show(step);
  part("workbench").dataset.step = String(step);
  onward();
}

/** The permalink, at what is seen here. */
function onward() {
  if (away) away.hash = url.at(opened.count ? step : null) + url.lit(selection) + views.fragment();
}

/** Bring a line into the listing's sight; a page around us is not ours to scroll. @param {HTMLElement | undefined} row */
function beside(row) {
  const box = part("listing").closest("section");
  if (!row || !box) return;
  const { top, bottom } = box.getBoundingClientRect();
  const at = row.getBoundingClientRect();
  if (at.top < top) box.scrollTop += at.top - top;
  else if (at.bottom > bottom) box.scrollTop += at.bottom - bottom;
}

/** No step was recorded: why. */
function nothing() {
  const wrong = messages(trace, say, () => {}).filter(({ kind }) => kind === "error");
  for (const { line } of wrong) if (rows[line - 1]) rows[line - 1].className = "cm-now raised";
  part("sentences").replaceChildren(
    ...captionItems([outcomeSentence(trace, say), ...wrong.map(({ text }) => ({ text, tone: "bad" }))]),
  );
  timeline.show(0);
}

/** Go to where a line next ran. @param {number} line */
function toLine(line) {
  const found = nextRunOfLine(steps, line, step);
  if (found >= 0) go(found);
}

/** Go to the step that made a cell what it is; from that step, to the one before.
 * @param {string} storage @param {number} index @param {string} dtype */
function toWriter(storage, index, dtype) {
  const found = writeBefore(opened, storage, index, dtype, step);
  if (found >= 0) go(found);
}

startKeys(
  { focused: () => false },
  {
    "+": () => stage.zoom(CLOSER),
    "=": () => stage.zoom(CLOSER),
    "-": () => stage.zoom(1 / CLOSER),
    0: () => stage.whole(),
    l: () => opened.count && views.toggle(),
  },
  { run() {}, key: timeline.key },
);
window.addEventListener("beforeprint", () => opened.count && loom.print(opened));
window.addEventListener("afterprint", () => loom.clearPrint());

timeline.open(steps);
printed.open(steps);
part("views").hidden = !opened.count;
if (opened.count) step = url.step(location.hash) ?? first ?? openingStep(trace);
else nothing();
stage.select(url.selection(location.hash));
views.start();

window.addEventListener("hashchange", () => {
  const asked = url.step(location.hash);
  stage.select(url.selection(location.hash));
  views.read(location.hash);
  if (asked !== null && opened.count) go(asked);
});
