/**
 * The preview of a card that is not in the program yet: the program with it is run, and its picture shown at its line.
 */

import { openTrace, type OpenTrace } from "../trace/state.ts";
import { runForTrace, TraceRequestError } from "../requests/trace_source.ts";
import type { Step } from "../trace/wire.ts";

/** what draws a step of another run; text: what the foot says of it; more: sentences besides the step's own */
export interface PreviewStage {
  show: (opened: OpenTrace, step: number, text: string, more: string[]) => void;
  clear: () => void;
}

/** a program with its settings */
interface ProgramWithSettings {
  source: string;
}

/** Milliseconds after the reader's last move at which it is run. */
const RUN_DELAY_MS = 180;

interface CardPreviewEvents {
  /** why it would not run to its end */
  onProblem: (problem: { key: string; message: string } | null) => void;
  /** a preview is about to be shown: what it would take away */
  onPreview: (opened: OpenTrace, step: number) => string[];
}

/** `isLive`: the host has runs while typing, and a preview counts as one. */
export function createCardPreview(stage: PreviewStage, isLive: boolean, { onProblem, onPreview }: CardPreviewEvents) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pendingRequest = new AbortController();
  let shownSource = "";

  function cancel() {
    clearTimeout(timer);
    pendingRequest.abort();
  }

  /** Lines count from 1. `text` is what the stage's foot says. */
  async function run(program: ProgramWithSettings, line: number, text: string) {
    pendingRequest = new AbortController();
    const { signal } = pendingRequest;
    try {
      const trace = await runForTrace(program, signal, { live: isLive });
      if (signal.aborted) return;
      const { error, status } = trace.outcome;
      const opened = openTrace(trace);
      const steps = trace.steps.filter(
        (traceStep: Step) => traceStep.line === line && traceStep.kind !== "call" && traceStep.kind !== "visit",
      );
      if (status === "refused")
        onProblem({ key: "form_preview_refused", message: error?.refusals?.[0]?.message ?? error?.message ?? "" });
      else if (error)
        onProblem({ key: "form_preview_failed", message: `${error.type}: ${error.message}`.split("\n")[0] });
      else onProblem(null);
      if (steps.length) stage.show(opened, steps[0].i, text, onPreview(opened, steps[0].i));
      else stage.clear();
    } catch (error) {
      if (!signal.aborted && error instanceof TraceRequestError) stage.clear();
      else if (!signal.aborted) throw error;
    }
  }

  return {
    show(program: ProgramWithSettings, line: number, text: string) {
      if (program.source === shownSource) return;
      cancel();
      shownSource = program.source;
      timer = setTimeout(() => void run(program, line, text), RUN_DELAY_MS);
    },
    clear() {
      cancel();
      shownSource = "";
      onProblem(null);
      stage.clear();
    },
  };
}
