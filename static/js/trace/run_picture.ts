/** Which picture a run is drawn by: the stage, which holds a small program, or a list of the rows of its code. */

import type { OpenTrace } from "./state.ts";
import { weakMemoize } from "./weak_memoize.ts";

/** stage: memory and graph beside each other, and the run by storage; list: a row for each module and line */
export type RunPicture = "stage" | "list";

/** As many tensors and nodes at a step are seen at once on the stage. */
const MAX_TENSORS = 12;
const MAX_NODES = 16;

/** It holds for all steps of the run. */
export const pictureOfRun = weakMemoize(
  (opened: OpenTrace): RunPicture => (hasRows(opened) && !hasRoomOnStage(opened) ? "list" : "stage"),
);

/** Whether it calls modules or makes nodes: of memory alone the stage says more, however much of it there is. */
function hasRows({ index }: OpenTrace): boolean {
  return index.eventPlacesByName.has("module_called") || index.nodes.size > 0;
}

/** Whether no step has more tensors, or more nodes of the graph, than the stage shows at once. */
function hasRoomOnStage({ index }: OpenTrace): boolean {
  const lives = [...index.lifetimes.values()].filter(({ birth, death }) => death >= birth);
  const isGradient = (uid: string) => index.byGrad.stretches.has(uid);
  const tensors = lives.filter(({ uid, kind }) => (kind === "tensor" || kind === "ndarray") && !isGradient(uid));
  const nodes = lives.filter(({ uid, kind }) => kind === "node" && !index.nodes.get(uid)?.variable);
  return maxAliveAtOnce(tensors) <= MAX_TENSORS && maxAliveAtOnce(nodes) <= MAX_NODES;
}

/** How many of them live at the step at which most do. */
function maxAliveAtOnce(lives: { birth: number; death: number }[]): number {
  const changes = new Map<number, number>();
  const change = (step: number, by: number) => changes.set(step, (changes.get(step) ?? 0) + by);
  for (const { birth, death } of lives) {
    change(birth, 1);
    change(death + 1, -1);
  }
  let [most, now] = [0, 0];
  for (const step of [...changes.keys()].sort((a, b) => a - b)) {
    now += changes.get(step) ?? 0;
    most = Math.max(most, now);
  }
  return most;
}
