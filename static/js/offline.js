/** The offline file: its trace lies in the document, for there is no server. */

import { startViewer } from "./viewer.js";

startViewer(JSON.parse(document.getElementById("first")?.textContent ?? "{}"));
