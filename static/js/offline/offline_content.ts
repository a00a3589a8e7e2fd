/** What an offline file says of its run: worked out when it is made, so that it need not carry what finds it. */

import en from "../../locales/findings.en.json" with { type: "json" };
import zh from "../../locales/findings.zh.json" with { type: "json" };
import { highlightPython, type HighlightedText } from "../editor/highlight_python.ts";
import { explain } from "../findings/explain.ts";
import { RunFacts } from "../findings/facts/run_facts.ts";
import { answerAboutTensor, type TensorAnswer } from "../findings/gradients/tensor_question.ts";
import { lookedForIn } from "../findings/looked_for.ts";
import * as text from "../findings/finding_text.ts";
import { pictureOfRun, type RunPicture } from "../trace/run_picture.ts";
import { runSentences } from "../nets/whole_run/run_sentences.ts";
import { createLocale } from "../words/sentences.ts";
import { verdictOf, type Verdict } from "../verdict/verdict.ts";
import type { Finding } from "../findings/finding.ts";
import type { OpenTrace } from "../trace/state.ts";

/** What a reader may ask of a tensor, with what is answered; it counts for several steps, and so has none. */
interface StoredAnswer {
  question: string;
  answer: Omit<TensorAnswer, "step">;
  text: text.AnswerText;
}

export interface OfflineContent {
  /** which script draws the run */
  picture: RunPicture;
  findings: Finding[];
  /** in words, each */
  texts: text.FindingText[];
  lookedFor: text.LookedForText | null;
  verdict: Verdict | null;
  /** the headline of the whole run */
  ofRun: ReturnType<typeof runSentences>;
  answers: StoredAnswer[];
  /** by step, then tensor, which answer */
  answerAt: Record<string, number>[];
  /** of sentences that are said when the file is looked at */
  words: Record<string, string>;
  painted: HighlightedText[][];
}

const SENTENCES: Record<string, Record<string, string>> = { en, zh };
const KEPT_WORDS = /^(verdict\.|finding\.looked_for\.toggle$)/;
/** As many questions are answered ahead; a run with more has none. */
const MAX_QUESTIONS = 3000;

export function offlineContent(opened: OpenTrace, language: string): OfflineContent {
  const { say } = createLocale(SENTENCES)(language);
  const findings = opened.count ? explain(opened) : [];
  const lookedFor = opened.count ? lookedForIn(opened, findings) : null;
  const words = Object.entries(SENTENCES[language] ?? en).filter(([key]) => KEPT_WORDS.test(key));
  return {
    picture: pictureOfRun(opened),
    findings,
    texts: findings.map((finding) => text.findingText(finding, say)),
    lookedFor: lookedFor && text.lookedForText(lookedFor, say),
    verdict: verdictOf(opened, say),
    ofRun: opened.count ? runSentences(opened, language) : [],
    ...(pictureOfRun(opened) === "stage" ? questionsOf(opened, say) : { answers: [], answerAt: [] }),
    words: Object.fromEntries(words),
    painted: highlightPython(opened.trace.program.source),
  };
}

/** Of every tensor with a name, at every step. */
function questionsOf(opened: OpenTrace, say: Parameters<typeof text.answerText>[1]) {
  const named = opened.trace.steps.map((_, i) => [...opened.names(i).tags.keys()].filter((uid) => uid[0] === "t"));
  if (named.flat().length > MAX_QUESTIONS) return { answers: [], answerAt: [] };
  const facts = new RunFacts(opened);
  const answers: StoredAnswer[] = [];
  const known = new Map<string, number>();
  const answerAt = named.map((uids, i) =>
    Object.fromEntries(
      uids.map((uid) => {
        const { step: _, ...answer } = answerAboutTensor(facts, uid, i);
        const kept = {
          question: text.questionText(facts, uid, i, say),
          answer,
          text: text.answerText({ ...answer, step: i }, say),
        };
        const key = JSON.stringify(kept);
        const k = known.get(key) ?? answers.push(kept) - 1;
        known.set(key, k);
        return [uid, k];
      }),
    ),
  );
  return { answers, answerAt };
}
