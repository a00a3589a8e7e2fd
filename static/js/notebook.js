/** The output of a notebook's cell: a trace that lies in the document, in the colours of the notebook around it. */

import * as findings from "./findings/page_api.js";
import { findingLocale } from "./findings/words.js";
import { followHostTheme } from "./browser/host_theme.js";
import { locale } from "./words/locale.js";
import * as predict from "./predict/predict.js";
import { predictLocale } from "./predict/words.js";
import { startViewer } from "./page/viewer.js";

const { lang } = document.documentElement;
const content = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const loadFindings = async () => ({ ...findings, sentences: async () => findingLocale(lang).say });
const loadPredict = async () => ({ ...predict, sentences: async () => predictLocale(lang).say });

startViewer(content, locale(lang).say, loadFindings, loadPredict);
followHostTheme(document.documentElement);
