/**
 * The offline file of a run: its trace lies in the document, for there is no server, and what was found in it. There
 * is a script for each picture that a run can have.
 */

import { keptFindings } from "./offline/kept_findings.ts";
import { keepRunSentences } from "./offline/kept_run_sentences.ts";
import { locale } from "./words/locale.ts";
import * as predict from "./predict/predict.ts";
import { predictLocale } from "./predict/words.ts";
import { showVerdict } from "./verdict/verdict_view.ts";
import { startViewer } from "./page/viewer.ts";
import type { OfflineAnswers } from "./offline/answers.ts";

const { lang } = document.documentElement;
const content = JSON.parse(document.getElementById("first")?.textContent ?? "{}");
const answers: OfflineAnswers = content.answers;
const findings = keptFindings(answers, lang);
keepRunSentences(answers.ofRun);

startViewer({ ...content, verdict: content.verdict && answers.verdict !== null }, locale(lang).say, {
  loadFindings: async () => findings,
  loadPredict: async () => ({ ...predict, sentences: async () => predictLocale(lang).say }),
  loadVerdict: async () => ({ showVerdict, verdictOf: () => answers.verdict }),
  loadPaint: async () => () => answers.painted,
});
