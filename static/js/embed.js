/** The frame in another site's page: fetches the trace of its saved program. */

import { captionItems } from "./captions/caption_list.js";
import { loadFindings } from "./explain/findings_bundle.js";
import { loadLocale } from "./words/page_locale.js";
import { loadPredict } from "./page/predict_bundle.js";
import { fetchNote } from "./series/reader.js";
import { loadTrace, problemOfResponse, TraceError } from "./requests/trace_source.js";
import { startViewer } from "./page/viewer.js";

const { trace_url: url, step, title, series } = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const { say } = await loadLocale(document.documentElement.lang);
try {
  const loadNote = () => fetchNote(series.notes, series.place);
  startViewer({ trace: await loadTrace(url), step, title, series }, say, loadFindings, loadPredict, loadNote);
} catch (error) {
  if (!(error instanceof TraceError)) throw error;
  const { key, args } = problemOfResponse(error.status, error.problem);
  document.getElementById("sentences")?.replaceChildren(...captionItems([{ text: say(key, args), tone: "bad" }]));
}
