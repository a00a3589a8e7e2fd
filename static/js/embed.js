/** The frame in another site's page: fetches the trace of its saved program. */

import { captionItems } from "./caption_list.js";
import { loadFindings } from "./findings_bundle.js";
import { loadLocale } from "./page_locale.js";
import { loadPredict } from "./predict_bundle.js";
import { fetchNote } from "./series/reader.js";
import { loadTrace, problemOfResponse, TraceError } from "./trace_source.js";
import { startViewer } from "./viewer.js";

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
