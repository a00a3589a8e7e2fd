/** What a reader has seen and answered in predict mode. */

import type { OpenTrace } from "../trace/state.ts";
import type { PredictQuestion } from "./predict_question.ts";

export interface GivenAnswer {
  /** of the question */
  at: number;
  /** what was answered */
  text: string;
  /** of the sentence for it, as of a choice */
  key?: string;
  isRight: boolean;
  isSkipped: boolean;
}

export interface PredictState {
  /** the run with its future, null until there is one */
  whole: OpenTrace | null;
  /** the last step that is shown */
  reached: number;
  /** null until they are made */
  questions: PredictQuestion[] | null;
  answers: GivenAnswer[];
  /** the answer to the last question is being read */
  isTold: boolean;
  /** the reader has gone on from the first step */
  hasBegun: boolean;
  /** how often the reader wanted to go on past a question */
  nudges: number;
  /** programs ran while they were edited, before */
  wasLive: boolean;
}

/** null: the reader would rather see it */
export type AnswerInput = { choice: number } | { typed: string } | null;
