/**
 * The offline file of a series: its traces lie in the document, and what finds and draws in all of them. A run of which
 * too much would have had to be worked out when the file was made is one, too.
 */

import { highlightPython } from "./editor/highlight_python.ts";
import * as findings from "./findings/page_api.ts";
import { findingLocale } from "./findings/locale.ts";
import { bundledLocale } from "./words/locale.ts";
import * as predict from "./predict/predict.ts";
import { predictLocale } from "./predict/locale.ts";
import { readOfflineSeries, reloadWhenFragmentNamesOtherItem } from "./series/offline.ts";
import { startViewer } from "./page/viewer.ts";

const { lang } = document.documentElement;
const { say } = bundledLocale(lang);
const first = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const parts = {
  loadFindings: async () => ({ ...findings, sentences: async () => findingLocale(lang).say }),
  loadPredict: async () => ({ ...predict, sentences: async () => predictLocale(lang).say }),
  loadHighlighter: async () => highlightPython,
};

if ("traces" in first) {
  reloadWhenFragmentNamesOtherItem(first.series.items);
  void readOfflineSeries(first, location.hash).then(({ content, note }) =>
    startViewer(content, say, { ...parts, loadNote: async () => note }),
  );
} else startViewer(first, say, parts);
