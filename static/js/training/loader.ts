/** The training axis of the timeline: its script is fetched with the first trace that has rounds. */

import type { createTrainingAxis, TrainingAxis } from "./training_axis.ts";
import type { Trace } from "../trace/wire.ts";

export function createLazyTrainingAxis(...axisArguments: Parameters<typeof createTrainingAxis>) {
  const [host] = axisArguments;
  let axis: TrainingAxis | null = null;
  let isLoading = false;
  let shown: { trace: Trace; step: number } | null = null;

  async function load() {
    isLoading = true;
    const script = await import("./training_axis.ts").catch(() => null);
    isLoading = false;
    if (!script) return; // the next trace tries again
    axis = script.createTrainingAxis(...axisArguments);
    if (shown) axis.show(shown.trace, shown.step);
  }

  return {
    /** @param trace null, or one without rounds: nothing is shown */
    show(trace: Trace | null, step: number) {
      shown = trace?.rounds ? { trace, step } : null;
      host.hidden = !shown;
      if (!shown) return;
      if (axis) axis.show(shown.trace, step);
      else if (!isLoading) void load();
    },
  };
}
