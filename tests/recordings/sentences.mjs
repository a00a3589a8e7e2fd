/** What is said of a trace at its steps, for the referee: each sentence with its key, its arguments and its text. */

import { stepNotes } from "../../static/js/captions/notes.ts";
import { partsText, sentenceParts } from "../../static/js/captions/sentence.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { locale } from "../../static/js/words/locale.ts";

export default function sentences(trace) {
  const { say } = locale("en");
  const opened = openTrace(trace);
  return opened.trace.steps.flatMap((_, step) => {
    const said = new Map();
    for (const { key, args } of stepNotes(opened, step)) {
      const text = partsText(sentenceParts({ key, args }, say));
      if (!said.has(text)) said.set(text, { step, key, args, text });
    }
    return [...said.values()];
  });
}
