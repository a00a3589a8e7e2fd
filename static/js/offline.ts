/**
 * The offline file: its trace, or the two that it compares, or those of a series, lie in the document, for there is no
 * server.
 */

import { startComparisonViewer } from "./compare/viewer.ts";
import { paintPython } from "./editor/paint.ts";
import * as findings from "./findings/page_api.ts";
import { findingLocale } from "./findings/words.ts";
import { locale } from "./words/locale.ts";
import * as predict from "./predict/predict.ts";
import { predictLocale } from "./predict/words.ts";
import { readOfflineSeries, reloadWhenFragmentNamesOtherItem, type OfflineSeries } from "./series/offline.ts";
import * as verdictView from "./verdict/verdict_view.ts";
import { startViewer } from "./page/viewer.ts";

const { lang } = document.documentElement;
const content = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const { say } = locale(lang);
const loadFindings = async () => ({ ...findings, sentences: async () => findingLocale(lang).say });
const loadPredict = async () => ({ ...predict, sentences: async () => predictLocale(lang).say });

const loadPaint = async () => paintPython;

if ("left" in content) startComparisonViewer(content, say, loadPaint);
else if ("traces" in content) void showSeries(content);
else startViewer(content, say, { loadFindings, loadPredict, loadVerdict: async () => verdictView, loadPaint });

async function showSeries(series: OfflineSeries) {
  reloadWhenFragmentNamesOtherItem(series.series.items);
  const { content: item, note } = await readOfflineSeries(series, location.hash);
  startViewer(item, say, { loadFindings, loadPredict, loadPaint, loadNote: async () => note });
}
