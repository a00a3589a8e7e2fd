/** The offline file of two runs that are compared: both traces lie in the document. */

import { startComparisonViewer } from "./compare/comparison_viewer.ts";
import { highlightPython } from "./editor/highlight_python.ts";
import { bundledLocale } from "./words/locale.ts";

const content = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
startComparisonViewer(content, bundledLocale(document.documentElement.lang).say, async () => highlightPython);
