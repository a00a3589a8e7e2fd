/** The sentences of each step of a trace, for tests: by language, a list of sentences for each step. */

import { captionSentences } from "../../static/js/captions/captions.ts";
import { bundledLocale } from "../../static/js/words/locale.ts";
import { openTrace } from "../../static/js/trace/state.ts";

export default function captions(trace, languages) {
  const opened = openTrace(trace);
  const texts = (say) => opened.trace.steps.map((_, i) => captionSentences(opened, i, say).map(({ text }) => text));
  return Object.fromEntries(languages.map((language) => [language, texts(bundledLocale(language).say)]));
}
