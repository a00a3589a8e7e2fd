/** In the place of what makes the headline of a whole run, in an offline file, which was made with it. */

import type { runSentences as makeRunSentences } from "../nets/whole_run/run_sentences.ts";

let kept: ReturnType<typeof makeRunSentences> = [];

export function setRunSentences(sentences: typeof kept) {
  kept = sentences;
}

export const runSentences: typeof makeRunSentences = () => kept;
