/** The frame in another site's page: fetches the trace of its saved program. */

import { captionListItems } from "./captions/caption_list.ts";
import { loadFindings } from "./explain/findings_bundle.ts";
import { loadLocale } from "./words/page_locale.ts";
import { loadPredict } from "./page/predict_bundle.ts";
import { fetchSeriesNote } from "./page/series_reader.ts";
import { loadTrace, problemOfResponse, TraceRequestError } from "./requests/trace_source.ts";
import { startViewer } from "./page/viewer.ts";

const { trace_url: url, step, title, series } = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const { say } = await loadLocale(document.documentElement.lang);
try {
  const loadNote = () => fetchSeriesNote(series.notes, series.place);
  const loadHighlighter = async () => (await import("./editor/highlight_python.ts")).highlightPython;
  const content = { trace: await loadTrace(url), step, title, series, verdict: !series };
  const loadFindingPicture = async () => ({
    ...(await import("./verdict/finding_picture_view.ts")),
    ...(await import("./verdict/verdict.ts")),
  });
  startViewer(content, say, { loadFindings, loadPredict, loadFindingPicture, loadNote, loadHighlighter });
} catch (error) {
  if (!(error instanceof TraceRequestError)) throw error;
  const { key, args } = problemOfResponse(error.status, error.problem);
  document.getElementById("sentences")?.replaceChildren(...captionListItems([{ text: say(key, args), tone: "bad" }]));
}
