/** The findings of a trace, for tests: explained once, in the words of each language. */

import { explainTrace } from "../../static/js/findings/explain.ts";
import { findingReplies } from "../../static/js/findings/findings_reply.ts";

export default function findings(trace, languages) {
  const found = explainTrace(trace);
  return Object.fromEntries(languages.map((language) => [language, findingReplies(found, language)]));
}
