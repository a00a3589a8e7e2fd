/** Fetches traces by their address, once more where the network or the server failed for a moment. */

import { ROOT } from "./root.js";

const RETRY_AFTER_MS = 400;

/** The server's answer when it sent no trace. */
export class TraceError extends Error {
  /** @param {number} status of the response, 0 where none came @param {{code: string, message: string, retry_after?: number}} problem */
  constructor(status, problem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }
}

/**
 * @param {string} url
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} the trace
 * @throws {TraceError} after a second attempt where no answer came or the server failed; and what the signal says
 */
export async function loadTrace(url, signal) {
  try {
    return await fetchJson(url, signal);
  } catch (error) {
    if (!(error instanceof TraceError) || (error.status > 0 && error.status < 500)) throw error;
  }
  await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
  return fetchJson(url, signal);
}

/** Run a program, and wait for its trace. @param {object} request as `POST /api/runs` takes it @param {AbortSignal} signal
 * @param {{live?: boolean}} [how] live: nobody pressed a button for it
 * @returns {Promise<any>} the trace @throws {TraceError} and what the signal says */
export function requestTrace(request, signal, { live = false } = {}) {
  const headers = { "Content-Type": "application/json" };
  return fetchJson(`${ROOT}/api/runs${live ? "?live=1" : ""}`, signal, {
    method: "POST",
    headers,
    body: JSON.stringify(request),
  });
}

/** @param {string} url @param {AbortSignal} [signal] @param {RequestInit} [request] @returns {Promise<any>} */
async function fetchJson(url, signal, request = {}) {
  signal?.throwIfAborted();
  let response;
  let text;
  try {
    response = await fetch(url, { ...request, signal });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw new TraceError(0, { code: "network", message: String(error) });
  }
  if (!response.ok) throw new TraceError(response.status, serverProblem(response.status, text));
  try {
    return JSON.parse(text);
  } catch (error) {
    // a proxy's page in place of the trace
    throw new TraceError(0, { code: "network", message: String(error) });
  }
}

/** The error of a response; a proxy's page says nothing but its status.
 * @param {number} status @param {string} text of the body @returns {{code: string, message: string, retry_after?: number}} */
export function serverProblem(status, text) {
  try {
    return JSON.parse(text).error ?? { code: "", message: String(status) };
  } catch {
    return { code: "", message: String(status) };
  }
}

/**
 * The sentence for a request that failed, as its key and facts.
 * @param {number} status of the response, 0 where none came
 * @param {{code: string, message: string, retry_after?: number}} problem
 * @returns {import("../page_state/page_state.js").Problem}
 */
export function problemOfResponse(status, problem) {
  if (status === 0) return { key: "error_network" };
  if (status === 401) return { key: "error_signed_out" };
  if (status !== 429) return { key: "error_server", args: { message: problem.message } };
  const key = problem.code === "limited" ? "error_limited" : "error_busy";
  return { key, args: { seconds: Math.ceil(problem.retry_after || 1) } };
}
