/** Entities and steps for hand-written traces, each with the fields that torch 2.13 gives it. */

import { frame as specimenFrame, trace as specimenTrace } from "../specimens/entities.js";

export { counter, ndarray, node, ref, storage, tensor } from "../specimens/entities.js";

/** @param {string} source @param {any[]} steps */
export function trace(source, steps) {
  return { schema: 1, runtime: {}, cost: {}, ...specimenTrace(source, steps) };
}

/** @param {Record<string, any>} vars @param {any} [rest] */
export const frame = (vars, rest = {}) => ({ ...specimenFrame(vars), ...rest });

/** @param {Record<string, any>} vars */
export const vars = (vars) => ({ vars });
