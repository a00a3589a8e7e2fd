/** The offline file: its trace, or the two that it compares, lie in the document, for there is no server. */

import { startComparisonViewer } from "./compare/viewer.js";
import * as findings from "./findings/surface.js";
import { findingLocale } from "./findings/words.js";
import { locale } from "./locale.js";
import * as predict from "./predict/predict.js";
import { predictLocale } from "./predict/words.js";
import { startViewer } from "./viewer.js";

const { lang } = document.documentElement;
const content = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const { say } = locale(lang);
if ("left" in content) startComparisonViewer(content, say);
else
  startViewer(
    content,
    say,
    async () => ({ ...findings, sentences: async () => findingLocale(lang).say }),
    async () => ({ ...predict, sentences: async () => predictLocale(lang).say }),
  );
