/** The page that opens a file: it draws a trace by itself, and sends the reader with a program to the workbench. */

import { FileProblem, readChosenFile } from "./chosen_file.ts";
import { startFileButtonAndDrop } from "./file_opening.ts";
import {
  storeTracesForNextPage,
  takeTracesFromPreviousPage,
  type TracesFromPreviousPage,
} from "./traces_between_pages.ts";
import { loadFindings } from "../explain/findings_bundle.ts";
import { loadLocale } from "../words/page_locale.ts";
import { loadPredict } from "../page/predict_bundle.ts";
import { SERVER_ROOT } from "../requests/root.ts";
import { startThemeButton } from "../browser/theme.ts";
import { programFragment } from "../page_state/url.ts";
import { startViewer } from "../page/viewer.ts";

const { lang } = document.documentElement;
const { say } = await loadLocale(lang);
const elementById = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

const problemElement = elementById("problem");

/** `name` is the file's. */
function showProblem(error: unknown, name: string) {
  const { key, args } = error instanceof FileProblem ? error : { key: "file_unread", args: { name } };
  problemElement.textContent = say(key, args);
  problemElement.hidden = false;
}

async function openFiles(files: File[]) {
  problemElement.hidden = true;
  try {
    if (files.length !== 1) throw new FileProblem("file_one");
    const content = await readChosenFile(files[0]);
    if (content.kind === "program")
      location.assign(`${SERVER_ROOT}/?lang=${lang}${await programFragment(content.source, null)}`);
    else await reloadPageWithTraces({ name: content.name, texts: content.texts, shown: 0 });
  } catch (error) {
    showProblem(error, files[0]?.name ?? "");
  }
}

/** Show a trace on this page, begun afresh. */
async function reloadPageWithTraces(traces: TracesFromPreviousPage) {
  await storeTracesForNextPage(traces);
  history.replaceState(null, "", location.pathname + location.search); // a step of the trace before
  location.reload();
}

/** What several traces of a file are called. */
function traceName(text: string, k: number): string {
  const { name } = JSON.parse(text).runtime.regions?.[0] ?? {};
  return name ? `${k + 1}: ${name}` : String(k + 1);
}

function showOpenedTraces(traces: TracesFromPreviousPage) {
  const { name, texts, shown } = traces;
  elementById("chooser").hidden = true;
  elementById("opened").hidden = false;
  const traceChooser = elementById("which") as HTMLSelectElement;
  elementById("which-of").hidden = texts.length < 2;
  traceChooser.replaceChildren(
    ...texts.map((text, k) => new Option(traceName(text, k), String(k), false, k === shown)),
  );
  traceChooser.addEventListener(
    "change",
    () => void reloadPageWithTraces({ ...traces, shown: Number(traceChooser.value) }),
  );
  document.title = `${name} · Gradbox`;
  try {
    startViewer({ trace: JSON.parse(texts[shown]), step: null, title: name }, say, {
      loadFindings,
      loadPredict,
      loadHighlighter: async () => (await import("../editor/highlight_python.ts")).highlightPython,
    });
  } catch (error) {
    console.error(error);
    elementById("chooser").hidden = false;
    elementById("opened").hidden = true;
    showProblem(new FileProblem("file_damaged", { name }), name);
  }
}

const fileField = elementById("file") as HTMLInputElement;
startFileButtonAndDrop({ button: elementById("open-file"), field: fileField }, openFiles);
elementById("choose").addEventListener("click", () => fileField.click());
const handedTraces = await takeTracesFromPreviousPage();
if (handedTraces) showOpenedTraces(handedTraces);
else startThemeButton(elementById("theme"));
