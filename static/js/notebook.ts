/** The output of a notebook's cell: a trace that lies in the document, in the colours of the notebook around it. */

import * as findings from "./findings/page_api.ts";
import { findingLocale } from "./findings/locale.ts";
import { syncThemeWithHost } from "./browser/host_theme.ts";
import { bundledLocale } from "./words/locale.ts";
import * as predict from "./predict/predict.ts";
import { predictLocale } from "./predict/locale.ts";
import { startViewer } from "./page/viewer.ts";

const { lang } = document.documentElement;
const content = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const loadFindings = async () => ({ ...findings, sentences: async () => findingLocale(lang).say });
const loadPredict = async () => ({ ...predict, sentences: async () => predictLocale(lang).say });

startViewer(content, bundledLocale(lang).say, { loadFindings, loadPredict });
syncThemeWithHost(document.documentElement);
