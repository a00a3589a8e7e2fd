/** Fetches traces by their address, once more where the network or the server failed for a moment. */

import { SERVER_ROOT } from "./root.ts";
import type { Trace } from "../trace/wire.ts";

const RETRY_AFTER_MS = 400;

/** The server's answer when it sent no trace. */
export class TraceRequestError extends Error {
  status: number;
  problem: { code: string; message: string; retry_after?: number };

  /** `status` is that of the response, 0 where none came. */
  constructor(status: number, problem: { code: string; message: string; retry_after?: number }) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }
}

/** Raises TraceRequestError after a second attempt without an answer or with a failed server; or as the signal says. */
export async function loadTrace(url: string, signal?: AbortSignal): Promise<Trace> {
  try {
    return await fetchTrace(url, signal);
  } catch (error) {
    if (!(error instanceof TraceRequestError) || (error.status > 0 && error.status < 500)) throw error;
  }
  await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER_MS));
  return fetchTrace(url, signal);
}

/** The trace of a run that goes on, as far as it is recorded; null where there is none yet. Raises as `loadTrace`. */
export async function loadTraceSoFar(url: string, signal: AbortSignal): Promise<Trace | null> {
  const { status, text } = await fetchText(url, signal);
  return status === 204 ? null : parseJsonResponse<Trace>(text);
}

/**
 * Runs a program, and waits for its trace; `request` is what `POST /api/runs` takes. `live`: nobody pressed a button
 * for it. Raises TraceRequestError and what the signal says.
 */
export function runForTrace(
  request: object,
  signal: AbortSignal,
  { live = false }: { live?: boolean } = {},
): Promise<Trace> {
  const headers = { "Content-Type": "application/json" };
  return fetchTrace(`${SERVER_ROOT}/api/runs${live ? "?live=1" : ""}`, signal, {
    method: "POST",
    headers,
    body: JSON.stringify(request),
  });
}

/** What the server says of a program: its trace, or the id of the run that goes on. */
type StartedRun = { trace: Trace } | { runId: string };

/**
 * Runs a program; the server answers with its trace if that takes no longer than a second. `request` is what `POST
 * /api/runs` takes. Raises TraceRequestError and what the signal says.
 */
export async function startRun(request: object, signal: AbortSignal): Promise<StartedRun> {
  const headers = { "Content-Type": "application/json", Prefer: "respond-async, wait=1" };
  const response = await fetchText(`${SERVER_ROOT}/api/runs`, signal, {
    method: "POST",
    headers,
    body: JSON.stringify(request),
  });
  return response.status === 202
    ? { runId: parseJsonResponse<{ id: string }>(response.text).id }
    : { trace: parseJsonResponse<Trace>(response.text) };
}

async function fetchTrace(url: string, signal?: AbortSignal, request?: RequestInit): Promise<Trace> {
  return parseJsonResponse((await fetchText(url, signal, request)).text);
}

async function fetchText(
  url: string,
  signal?: AbortSignal,
  request: RequestInit = {},
): Promise<{ status: number; text: string }> {
  signal?.throwIfAborted();
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, { ...request, signal });
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw new TraceRequestError(0, { code: "network", message: String(error) });
  }
  if (!response.ok) throw new TraceRequestError(response.status, problemInResponseText(response.status, text));
  return { status: response.status, text };
}

function parseJsonResponse<T>(text: string): T {
  try {
    return JSON.parse(text);
  } catch (error) {
    // a proxy's page in place of the trace
    throw new TraceRequestError(0, { code: "network", message: String(error) });
  }
}

/** The error that a response's body says; a proxy's page says nothing but its status. */
export function problemInResponseText(
  status: number,
  text: string,
): { code: string; message: string; retry_after?: number } {
  try {
    return JSON.parse(text).error ?? { code: "", message: String(status) };
  } catch {
    return { code: "", message: String(status) };
  }
}

/**
 * The sentence for a request that failed, as its key and facts. `status` is that of the response, 0 where none came.
 */
export function problemOfResponse(
  status: number,
  problem: { code: string; message: string; retry_after?: number },
): RequestProblem {
  if (status === 0) return { key: "error_network" };
  if (status === 401) return { key: "error_signed_out" };
  if (status !== 429) return { key: "error_server", args: { message: problem.message } };
  const key = problem.code === "limited" ? "error_limited" : "error_busy";
  return { key, args: { seconds: Math.ceil(problem.retry_after || 1) } };
}

/** a sentence's key and facts */
export interface RequestProblem {
  key: string;
  args?: Record<string, unknown>;
  offersSave?: boolean;
}
