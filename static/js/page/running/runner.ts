/** Asks the server for traces: sends a request, follows a run that takes longer, and dispatches what comes of it. */

import { followRun } from "../../requests/run_events.ts";
import { SERVER_ROOT } from "../../requests/root.ts";
import {
  loadTrace,
  problemOfResponse,
  startRun,
  TraceRequestError,
  type RequestProblem,
} from "../../requests/trace_source.ts";
import type { Action } from "../../page_state/actions.ts";
import type { Trace } from "../../trace/wire.ts";
import { doesRequestRunProgram } from "../../page_state/selectors.ts";
import type { PageState, TraceRequest } from "../../page_state/state.ts";

/** What the server is sent. */
const requestBody = ({ source, settings, focus }: TraceRequest) => ({ source, ...settings, ...(focus && { focus }) });

/** The trace that the server has from before; null where it would have to be run. */
async function cachedTrace(request: TraceRequest): Promise<Trace | null> {
  try {
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify(requestBody(request));
    const response = await fetch(`${SERVER_ROOT}/api/runs?kept=1`, { method: "POST", headers, body });
    return response.status === 200 ? await response.json() : null;
  } catch {
    return null;
  }
}

/** One request at a time: the next one replaces it. `pageTraceUrl` is that of the trace of the page's own program. */
export function createRunner(pageTraceUrl: string | null, dispatch: (action: Action) => void) {
  let activeRequest: TraceRequest | null = null;
  /** The run that goes on after its request was answered. */
  let followedRun: ReturnType<typeof followRun> | null = null;
  let fetching = new AbortController();

  function reportTrace(requestId: number, trace: Trace) {
    activeRequest = null;
    dispatch({ type: "traceArrived", id: requestId, trace });
  }

  function reportFailure(requestId: number, problem: RequestProblem) {
    if (requestId === activeRequest?.id) activeRequest = followedRun = null;
    dispatch({ type: "runFailed", id: requestId, problem });
  }

  /** Fetch something for a request; what comes of it is dropped if the request was replaced meanwhile. */
  async function fetchFor<T>(
    requestId: number,
    fetched: (signal: AbortSignal) => Promise<T>,
    onAnswer: (answer: T) => void,
  ) {
    fetching = new AbortController();
    const { signal } = fetching;
    try {
      const answer = await fetched(signal);
      if (!signal.aborted) onAnswer(answer);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TraceRequestError)) throw error;
      reportFailure(requestId, problemOfResponse(error.status, error.problem));
    }
  }

  /** Fetch the trace of a run that is over, or the page's own. */
  const fetchTrace = (requestId: number, url: string) =>
    fetchFor(
      requestId,
      (signal) => loadTrace(url, signal),
      (trace) => reportTrace(requestId, trace),
    );

  /** Wait for a run that takes longer. */
  function awaitRun(requestId: number, runId: string) {
    followedRun = followRun(runId, {
      queued: (ahead) => dispatch({ type: "runQueued", id: requestId, ahead }),
      running: () => dispatch({ type: "runStarted", id: requestId }),
      grown: (trace) => dispatch({ type: "stepsArrived", id: requestId, trace }),
      done: () => {
        followedRun = null;
        void fetchTrace(requestId, `${SERVER_ROOT}/api/runs/${encodeURIComponent(runId)}`);
      },
      lost: () => reportFailure(requestId, { key: "error_network" }),
    });
  }

  const sendRequest = (request: TraceRequest) =>
    fetchFor(
      request.id,
      (signal) => startRun(requestBody(request), signal),
      (answer) => ("runId" in answer ? awaitRun(request.id, answer.runId) : reportTrace(request.id, answer.trace)),
    );

  async function lookUpTrace(request: TraceRequest) {
    const { id } = request;
    const trace = await cachedTrace(request);
    if (id === activeRequest?.id) activeRequest = null;
    dispatch(trace ? { type: "traceArrived", id, trace } : { type: "traceMissing", id });
  }

  /** Nobody waits for it any more. */
  function cancel() {
    followedRun?.abandon();
    followedRun = null;
    fetching.abort();
    activeRequest = null;
  }

  function start(request: TraceRequest) {
    cancel();
    activeRequest = request;
    if (request.reason === "lookup") void lookUpTrace(request);
    else if (request.reason === "page") void fetchTrace(request.id, pageTraceUrl ?? "");
    else void sendRequest(request);
  }

  window.addEventListener("pagehide", () => followedRun?.abandon());
  return {
    /** Asks for what is pending; calls `beforeRun` before a program runs. */
    render({ pending }: PageState, before: PageState | null, beforeRun: () => void) {
      if (pending?.id === before?.pending?.id) return;
      if (!pending) return cancel();
      if (doesRequestRunProgram(pending)) beforeRun();
      start(pending);
    },
    /** Ends the run: its trace comes as far as it got. */
    stop() {
      if (followedRun) return followedRun.stop();
      const id = activeRequest?.id;
      cancel(); // no answer has come yet
      if (id !== undefined) dispatch({ type: "runCancelled", id });
    },
  };
}
