/** The frame that compares two saved programs: fetches both traces. */

import { loadLocale } from "../words/page_locale.ts";
import { loadTrace, problemOfResponse, TraceRequestError } from "../requests/trace_source.ts";
import { startComparisonViewer } from "./comparison_viewer.ts";

const { say } = await loadLocale(document.documentElement.lang);
const { left, right, row } = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
try {
  const [leftTrace, rightTrace] = await Promise.all([loadTrace(left.trace_url), loadTrace(right.trace_url)]);
  startComparisonViewer(
    { left: { trace: leftTrace, title: left.title }, right: { trace: rightTrace, title: right.title }, row },
    say,
    async () => (await import("../editor/highlight_python.ts")).highlightPython,
  );
} catch (error) {
  if (!(error instanceof TraceRequestError)) throw error;
  const { key, args } = problemOfResponse(error.status, error.problem);
  const verdict = document.getElementById("verdict");
  if (verdict) verdict.textContent = say(key, args);
}
