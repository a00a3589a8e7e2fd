/** Whether gradients are right: asked of the server, which runs the program again with numbers changed a little. */

import { ROOT } from "./root.js";

/** @typedef {number | {$f: string}} CheckedNumber   NaN and infinities by their names */
/**
 * @typedef {"agrees" | "rounding" | "kink" | "unknown" | "cut" | "differs" | "unused"} Verdict
 * @typedef {{index: number[], torch: CheckedNumber | null, double: CheckedNumber | null, numeric: CheckedNumber | null, left: CheckedNumber | null,
 *   right: CheckedNumber | null, difference: number | null, verdict: Verdict}} ElementCheck
 * @typedef {{name: string | null, line: number | null, shape: number[], dtype: string, elements: number, verdict: Verdict,
 *   worst: number | null, hooked: boolean, problem: string | null, problem_line: number | null, rows: ElementCheck[]}} LeafCheck
 * @typedef {{problem: string | null, message: string, backward: number | null, line: number | null, loss: CheckedNumber | null,
 *   double: CheckedNumber | null, runs: number, complete: boolean, corners: {op: string, line: number | null}[],
 *   leaves: LeafCheck[]}} GradientCheck
 * @typedef {{status: string, message: string, check: GradientCheck | null}} CheckReply
 */
/** @typedef {(backward: number | null) => Promise<CheckReply>} CheckGradients   backward: which call, from 0; null for the last */

/**
 * @param {{source: string, seed: number, input?: string}} program as it was run
 * @param {number | null} backward @returns {Promise<CheckReply>} rejects where the server has no answer
 */
export async function checkGradients({ source, seed, input }, backward) {
  const response = await fetch(`${ROOT}/api/gradient-checks`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ source, seed, ...(input && { input }), backward }),
  });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}
