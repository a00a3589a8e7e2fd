/**
 * The offline file of a run: its trace lies in the document, for there is no server, and what was found in it. There
 * is a script for each picture that a run can have.
 */

import { storedFindings } from "./offline/stored_findings.ts";
import { setRunSentences } from "./offline/stored_run_sentences.ts";
import { bundledLocale } from "./words/locale.ts";
import * as predict from "./predict/predict.ts";
import { predictLocale } from "./predict/locale.ts";
import { showFindingPicture } from "./verdict/finding_picture_view.ts";
import { startViewer } from "./page/viewer.ts";
import type { OfflineContent } from "./offline/offline_content.ts";

const { lang } = document.documentElement;
const content = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const answers: OfflineContent = content.answers;
const findings = storedFindings(answers, lang);
setRunSentences(answers.ofRun);

startViewer({ ...content, verdict: content.verdict && answers.verdict !== null }, bundledLocale(lang).say, {
  loadFindings: async () => findings,
  loadPredict: async () => ({ ...predict, sentences: async () => predictLocale(lang).say }),
  loadFindingPicture: async () => ({ showFindingPicture, verdictOf: () => answers.verdict }),
  loadHighlighter: async () => () => answers.painted,
});
