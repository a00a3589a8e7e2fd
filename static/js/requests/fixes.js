/** Fixes of a finding: asked of the server, which runs each of them. */

import { ROOT } from "./root.js";

/** @typedef {{line: number, old: string, new: string | null}} LineEdit   new: null where the line is removed; several lines where some are added */
/** @typedef {{edits: LineEdit[], outcome: string, text: string}} Fix */
/** @typedef {(finding: {kind: string, line: number}, signal: AbortSignal) => Promise<Fix[]>} TryFixes */

/**
 * The fixes of one finding that work.
 * @param {{source: string, seed: number, device?: string, input?: string, language: string}} program as it was run
 * @param {{kind: string, line: number}} finding @param {AbortSignal} signal
 * @returns {Promise<Fix[]>} rejects where the server has no answer
 */
export async function tryFixes(program, { kind, line }, signal) {
  const response = await fetch(`${ROOT}/api/fixes`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...program, kind, line }),
    signal,
  });
  if (!response.ok) throw new Error(String(response.status));
  return (await response.json()).fixes;
}
