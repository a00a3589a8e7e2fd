/** The page that opens a file: it draws a trace by itself, and sends the reader with a program to the workbench. */

import { FileProblem, readFile } from "./chosen_file.js";
import { startFileOpening } from "./file_opening.js";
import { storeForNextPage, takeHandedTraces } from "./handed_traces.js";
import { loadFindings } from "../explain/findings_bundle.js";
import { loadLocale } from "../words/page_locale.js";
import { loadPredict } from "../page/predict_bundle.js";
import { ROOT } from "../requests/root.js";
import { startTheme } from "../browser/theme.js";
import { programFragment } from "../page_state/url.js";
import { startViewer } from "../page/viewer.js";

const { lang } = document.documentElement;
const { say } = await loadLocale(lang);
/** @template {HTMLElement} T @param {string} id @returns {T} */
const element = (id) => /** @type {T} */ (document.getElementById(id));

const problem = element("problem");

/** @param {unknown} error @param {string} name of the file */
function showProblem(error, name) {
  const { key, args } = error instanceof FileProblem ? error : { key: "file_unread", args: { name } };
  problem.textContent = say(key, args);
  problem.hidden = false;
}

/** @param {File[]} files */
async function openFiles(files) {
  problem.hidden = true;
  try {
    if (files.length !== 1) throw new FileProblem("file_one");
    const content = await readFile(files[0]);
    if (content.kind === "program")
      location.assign(`${ROOT}/?lang=${lang}${await programFragment(content.source, null)}`);
    else await reloadWith({ name: content.name, texts: content.texts, shown: 0 });
  } catch (error) {
    showProblem(error, files[0]?.name ?? "");
  }
}

/** Show a trace on this page, begun afresh. @param {import("./handed_traces.js").HandedTraces} traces */
async function reloadWith(traces) {
  await storeForNextPage(traces);
  history.replaceState(null, "", location.pathname + location.search); // a step of the trace before
  location.reload();
}

/** What several traces of a file are called. @param {string} text @param {number} k @returns {string} */
function traceName(text, k) {
  const { name } = JSON.parse(text).runtime.regions?.[0] ?? {};
  return name ? `${k + 1}: ${name}` : String(k + 1);
}

/** @param {import("./handed_traces.js").HandedTraces} traces */
function showOpened(traces) {
  const { name, texts, shown } = traces;
  element("chooser").hidden = true;
  element("opened").hidden = false;
  const traceChooser = /** @type {HTMLSelectElement} */ (element("which"));
  element("which-of").hidden = texts.length < 2;
  traceChooser.replaceChildren(
    ...texts.map((text, k) => new Option(traceName(text, k), String(k), false, k === shown)),
  );
  traceChooser.addEventListener("change", () => void reloadWith({ ...traces, shown: Number(traceChooser.value) }));
  document.title = `${name} · Gradbox`;
  try {
    startViewer({ trace: JSON.parse(texts[shown]), step: null, title: name }, say, loadFindings, loadPredict);
  } catch (error) {
    console.error(error);
    element("chooser").hidden = false;
    element("opened").hidden = true;
    showProblem(new FileProblem("file_damaged", { name }), name);
  }
}

const field = /** @type {HTMLInputElement} */ (element("file"));
startFileOpening({ button: element("open-file"), field }, openFiles);
element("choose").addEventListener("click", () => field.click());
const traces = await takeHandedTraces();
if (traces) showOpened(traces);
else startTheme(element("theme"));
