/** The offline file: its trace, or the two that it compares, or those of a series, lie in the document, for there is no server. */

import { startComparisonViewer } from "./compare/viewer.js";
import * as findings from "./findings/page_api.js";
import { findingLocale } from "./findings/words.js";
import { locale } from "./words/locale.js";
import * as predict from "./predict/predict.js";
import { predictLocale } from "./predict/words.js";
import { readOfflineSeries, reloadOnItem } from "./series/offline.js";
import { startViewer } from "./page/viewer.js";

const { lang } = document.documentElement;
const content = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const { say } = locale(lang);
const loadFindings = async () => ({ ...findings, sentences: async () => findingLocale(lang).say });
const loadPredict = async () => ({ ...predict, sentences: async () => predictLocale(lang).say });

if ("left" in content) startComparisonViewer(content, say);
else if ("traces" in content) void showSeries(content);
else startViewer(content, say, loadFindings, loadPredict);

/** @param {import("./series/offline.js").OfflineSeries} series */
async function showSeries(series) {
  reloadOnItem(series.series.items);
  const { content: item, note } = await readOfflineSeries(series, location.hash);
  startViewer(item, say, loadFindings, loadPredict, async () => note);
}
