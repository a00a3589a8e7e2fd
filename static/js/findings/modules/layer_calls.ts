/**
 * Where dropout and batch norm ran, in which mode, in whose call, and whether a backward started from what came of it.
 */

import type { Operation, RunFacts } from "../diagnosis.ts";
import { memoizePerRun } from "../facts/memoize_per_run.ts";
import type { CallingModule } from "../../trace/wire.ts";

export interface LayerCall {
  layer: "dropout" | "batch_norm";
  /** it drops, or takes the statistics of the batch */
  training: boolean;
  p: number;
  step: number;
  op: Operation;
  /** those in whose call it ran; inner: the innermost, outer: the outermost */
  modules: CallingModule[];
  inner: CallingModule | undefined;
  outer: CallingModule | undefined;
  /** a backward's root was computed from its result, with or without a history */
  isUsedForTraining: boolean;
}

/** The calls of a run, in order; without those that a backward repeats. */
export const layerCalls = memoizePerRun((facts: RunFacts): LayerCall[] => {
  const events = facts.eventsOfKind("layer_mode");
  const trained = events.length ? ancestorsOfRoots(facts) : new Set<string>();
  return events.flatMap((event) => {
    const op = facts.operationOfEvent(event);
    if (!op || facts.steps[event.step].visit) return [];
    const { layer, training, modules, step } = event;
    return {
      layer,
      training,
      p: event.p ?? 0,
      step,
      op,
      modules,
      inner: modules[0],
      outer: modules.at(-1),
      isUsedForTraining: op.outputs.some((uid) => trained.has(uid)),
    };
  });
});

/** Everything that the roots of the backward passes were computed from. */
export function ancestorsOfRoots(facts: RunFacts): Set<string> {
  return facts.dataflow.ancestors(facts.backwardCalls.flatMap(({ roots }) => roots.filter((root) => root !== null)));
}

/** What a value goes back to that is no parameter: the data it was computed from, each by its place in memory. */
export function dataSourcesOf(facts: RunFacts, uid: string): Set<string> {
  const { edgesInto } = facts.dataflow;
  const seen = new Set([uid]);
  const sources = new Set<string>();
  for (const tensor of seen) {
    const fields = facts.scan.initialFields(tensor);
    if (fields?.type === "Parameter") continue;
    const edges = edgesInto.get(tensor) ?? [];
    const isView = edges.length === 1 && facts.scan.initialFields(edges[0].from)?.storage === fields?.storage;
    if (!edges.length || isView) sources.add(`${fields?.storage} ${fields?.offset} ${fields?.shape}`);
    else for (const { from } of edges) seen.add(from);
  }
  return sources;
}

/** The step of the statement that called a layer, whose step is given, from outside of all `forward` functions. */
export function outermostCallStep(facts: RunFacts, step: number): number {
  const isForward = (frame: string | null | undefined) =>
    facts.entities.entityAfter(frame ?? "", step)?.kind === "frame" &&
    frameName(facts, frame ?? "", step) === "forward";
  if (!isForward(facts.steps[step].frame)) return step;
  const depthOfForward = facts.steps[step].depth;
  for (let i = step + 1; i < facts.steps.length; i++) {
    const { kind, depth, frame } = facts.steps[i];
    if (depth < depthOfForward && kind !== "call" && kind !== "visit" && frameName(facts, frame ?? "", i) !== "forward")
      return i;
  }
  return step;
}

function frameName(facts: RunFacts, frame: string, step: number) {
  const entity = facts.entities.entityAfter(frame, step);
  return entity?.kind === "frame" ? (entity.name ?? "") : "";
}

/** The step at which a module last went into a mode before another step; null where the trace does not say. */
export function modeChangeBefore(facts: RunFacts, uid: string | null | undefined, training: boolean, step: number) {
  let changed: number | null = null;
  let mode: boolean | null | undefined;
  for (const change of facts.index.objectChanges) {
    if (change.uid !== uid || change.fields.training === undefined || change.step > step) continue;
    if (change.fields.training !== mode && change.fields.training === training) changed = change.step;
    mode = change.fields.training;
  }
  return mode === training ? changed : null;
}

/** The first step after another at which a module is in training again; null where the trace does not say. */
export function nextTraining(facts: RunFacts, uid: string | null | undefined, step: number): number | null {
  const change = facts.index.objectChanges.find(
    (change) => change.uid === uid && change.step > step && change.fields.training === true,
  );
  return change?.step ?? null;
}
