/** The sentences of each step of a trace, for tests: a trace on stdin, a JSON list of lists of sentences on stdout. */

import { readFileSync } from "node:fs";
import { captionSentences } from "../../static/js/captions/captions.ts";
import { locale } from "../../static/js/words/locale.ts";
import { openTrace } from "../../static/js/trace/state.ts";

const opened = openTrace(JSON.parse(readFileSync(0, "utf8")));
const { say } = locale(process.argv[2] ?? "en");
const texts = opened.trace.steps.map((_, i) => captionSentences(opened, i, say).map(({ text }) => text));
process.stdout.write(JSON.stringify(texts));
