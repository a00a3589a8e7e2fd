/** The findings of an offline file, which were made with it. */

import { resolvePath } from "../findings/facts/resolve.ts";
import { RunFacts } from "../findings/facts/run_facts.ts";
import { selectedTensor } from "../findings/gradients/tensor_question.ts";
import { setSeverities } from "../findings/severities.ts";
import { createLocale } from "../words/sentences.ts";
import type { FindingsApi } from "../explain/findings_card.ts";
import type { OfflineContent } from "./offline_content.ts";

export function storedFindings(kept: OfflineContent, language: string): FindingsApi {
  const { findings, texts, lookedFor, answers, answerAt } = kept;
  const { say } = createLocale({ [language]: kept.words })(language);
  const answerOf = (uid: string, step: number) => answers[answerAt[step]?.[uid]];
  return {
    RunFacts,
    resolvePath,
    sentences: async () => say,
    explain(opened) {
      setSeverities(opened, findings);
      return findings;
    },
    findingText: (finding) => texts[findings.indexOf(finding)],
    lookedForIn: () => lookedFor as never,
    lookedForText: () => lookedFor as never,
    backwardToCheck: () => null,
    automaticCheck: () => null,
    selectedTensor(opened, key, step) {
      const uid = selectedTensor(opened, key, step);
      return uid && answerOf(uid, step) ? uid : null;
    },
    questionText: (_, uid, step) => answerOf(uid, step).question,
    answerAboutTensor: (_, uid, step) => ({ ...answerOf(uid, step).answer, step }),
    answerText: ({ uid, step }) => answerOf(uid, step).text,
  };
}
