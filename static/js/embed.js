/** The frame in another site's page: fetches the trace of its saved program. */

import { captionItems } from "./caption_list.js";
import { locale } from "./locale.js";
import { loadTrace, problemOf, TraceError } from "./trace_source.js";
import { startViewer } from "./viewer.js";

const { trace_url: url, step, title } = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
try {
  startViewer({ trace: await loadTrace(url), step, title });
} catch (error) {
  if (!(error instanceof TraceError)) throw error;
  const { key, args } = problemOf(error.status, error.problem);
  const { say } = locale(document.documentElement.lang);
  document.getElementById("sentences")?.replaceChildren(...captionItems([{ text: say(key, args), tone: "bad" }]));
}
