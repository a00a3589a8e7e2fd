/** The offline file of two runs that are compared: both traces lie in the document. */

import { startComparisonViewer } from "./compare/viewer.ts";
import { highlightPython } from "./editor/highlight_python.ts";
import { locale } from "./words/locale.ts";

const content = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
startComparisonViewer(content, locale(document.documentElement.lang).say, async () => highlightPython);
