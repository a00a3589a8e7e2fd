/** Entities and steps for hand-written traces, each with the fields that torch 2.13 gives it. */

import { frame as specimenFrame, makeTrace as specimenTrace } from "../specimens/entities.ts";

export { counter, ndarray, node, entityRef as ref, storage, tensor } from "../specimens/entities.ts";

export function trace(source: string, steps: any[]) {
  return { schema: 1, runtime: {}, cost: {}, ...specimenTrace(source, steps) };
}

export const frame = (vars: Record<string, any>, rest: any = {}) => ({ ...specimenFrame(vars), ...rest });

export const vars = (vars: Record<string, any>) => ({ vars });
