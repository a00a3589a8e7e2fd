/** What happens to the page: every change of its state is one of these, reduced in `page_state.ts`. */

import type { PredictQuestion } from "./predict_question.ts";
import type { LineEdit } from "../requests/fixes.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Repair, Trace } from "../trace/wire.ts";
import type { Settings } from "./settings.ts";
import type { Address, View } from "./url.ts";
import type { RequestProblem } from "../requests/trace_source.ts";
import type { AnswerInput, GivenAnswer } from "./predict_state.ts";

export type Action =
  | { type: "pageOpened"; address: Address }
  | { type: "liveSwitched"; on: boolean }
  | { type: "liveAnswered"; source: string; settings: Settings; trace: Trace }
  | { type: "linkOpened"; address: Address }
  | { type: "programEdited"; text: string }
  | { type: "settingsChanged"; settings: Settings }
  | { type: "runRequested" }
  | { type: "pageProgramChosen"; stopsBefore: string }
  | { type: "findingMade"; trace: Trace; step: number }
  | { type: "repairRequested"; repair: Repair; shape?: string }
  | { type: "cpuRunUndone" }
  | { type: "fixApplied"; edits: LineEdit[] }
  | { type: "siblingChosen"; edits: LineEdit[]; line: number }
  | { type: "cardChanged"; line: number }
  | { type: "iterationRequested"; index: number }
  | { type: "roundRequested"; n: number }
  | { type: "elementsRequested"; storage: string; at: number }
  | { type: "runQueued"; id: number; ahead: number }
  | { type: "runStarted"; id: number }
  | { type: "stepsArrived"; id: number; trace: Trace }
  | { type: "traceArrived"; id: number; trace: Trace }
  | { type: "traceMissing"; id: number }
  | { type: "runFailed"; id: number; problem: RequestProblem }
  | { type: "runCancelled"; id: number }
  | { type: "stepChosen"; step: number }
  | { type: "lineChosen"; line: number }
  | { type: "cellChosen"; storage: string; index: number; dtype: string }
  | { type: "pinChosen"; node: string; slot: string }
  | { type: "selectionChanged"; key: string | null }
  | { type: "questionAsked"; uid: string }
  | { type: "questionClosed" }
  | { type: "viewChosen"; view: View }
  | { type: "pictureUsed" }
  | { type: "predictSwitched"; on: boolean }
  | {
      type: "questionsMade";
      whole: OpenTrace;
      questions: PredictQuestion[];
      kept: { answers: GivenAnswer[]; reached: number } | null;
    }
  | { type: "predictionMade"; given: AnswerInput }
  | { type: "predictContinued" }
  | { type: "predictRestarted" }
  | { type: "problemFound"; problem: RequestProblem | null };
