/** The training axis of the timeline: its script is fetched with the first trace that has rounds. */

import { createLazyView } from "../browser/lazy_view.ts";
import type { createTrainingAxis, TrainingAxis } from "./training_axis.ts";
import type { Trace } from "../trace/wire.ts";

/** `onLoadFailed` is called where the script can't be fetched. */
export function createLazyTrainingAxis(axisArguments: Parameters<typeof createTrainingAxis>, onLoadFailed: () => void) {
  const [host] = axisArguments;
  let causes: number[] = [];
  const { show, current } = createLazyView<Parameters<TrainingAxis["show"]>, TrainingAxis>(async () => {
    const axis = (await import("./training_axis.ts")).createTrainingAxis(...axisArguments);
    axis.markFindings(causes);
    return axis;
  }, onLoadFailed);

  return {
    /** `steps` are those at which findings have their cause. */
    markFindings(steps: number[]) {
      causes = steps;
      current()?.markFindings(causes);
    },
    /** A trace that is null or without rounds shows nothing. `bytes` are in use after each step. */
    show(trace: Trace | null, step: number, bytes: number[] = []) {
      host.hidden = !hasTrainingAxis(trace);
      if (trace && !host.hidden) show(trace, step, bytes);
    },
  };
}

/** Whether a run has rounds to choose among. */
export function hasTrainingAxis(trace: Trace | null): boolean {
  return (trace?.rounds?.count ?? 0) > 1;
}
