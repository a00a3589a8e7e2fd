/** What is in force and what is alive at each step: modes, and bytes of storages. */

import type { Entities, OpenTrace } from "./state.ts";

/** Bytes of all living storages after each step; one that lies within another counts once. */
export function liveBytesByStep(opened: OpenTrace): number[] {
  return opened.index.liveBytesByStep;
}

/** The modes that are not as a fresh torch has them, in torch's words. */
export function nonDefaultModes(entities: Entities): string[] {
  const mode = [...entities.values()].find((entity) => entity.kind === "mode");
  if (!mode) return [];
  const names = [];
  if (mode.inference) names.push("inference_mode");
  else if (mode.grad === false) names.push("no_grad");
  if (mode.autocast) names.push(`autocast ${mode.autocast}`);
  if (mode.anomaly) names.push("detect_anomaly");
  if (mode.saved_hooks) names.push("saved_tensors_hooks");
  if (mode.default_dtype && mode.default_dtype !== "float32") names.push(mode.default_dtype);
  return [...names, ...(mode.functorch ?? [])];
}
