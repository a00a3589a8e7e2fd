/** Asks the server for traces: sends a request, follows a run that takes longer, and dispatches what comes of it. */

import { followRun } from "./run_events.js";
import { ROOT } from "./root.js";
import { loadTrace, problemOfResponse, startRun, TraceError } from "./trace_source.js";

/** @typedef {import("./page_state.js").Request} Request */
/** @typedef {import("./page_state.js").Problem} Problem */
/** What the server is sent. @param {Request} request */
const requestBody = ({ source, settings, focus }) => ({ source, ...settings, ...(focus && { focus }) });

/** The trace that the server has from before; null where it would have to be run. @param {Request} request @returns {Promise<import("./page_state.js").Trace | null>} */
async function cachedTrace(request) {
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${ROOT}/api/runs?kept=1`, {
      method: "POST",
      headers,
      body: JSON.stringify(requestBody(request)),
    });
    return response.status === 200 ? await response.json() : null;
  } catch {
    return null;
  }
}

/**
 * One request at a time: the next one replaces it.
 * @param {string | null} pageTraceUrl of the trace that belongs to the page's own program
 * @param {(action: import("./page_state.js").Action) => void} dispatch
 * @returns {{start: (request: Request) => void, stop: () => void, cancel: () => void}}
 *   stop: ends the run, and its trace comes as far as it got; cancel: nobody waits for it any more
 */
export function createRunner(pageTraceUrl, dispatch) {
  /** @type {Request | null} */
  let activeRequest = null;
  /** @type {ReturnType<typeof followRun> | null} the run that goes on after its request was answered */
  let followedRun = null;
  let fetching = new AbortController();

  /** @param {number} id the request's @param {import("./page_state.js").Trace} trace */
  function reportTrace(id, trace) {
    activeRequest = null;
    dispatch({ type: "traceArrived", id, trace });
  }

  /** @param {number} id the request's @param {Problem} problem */
  function reportFailure(id, problem) {
    if (id === activeRequest?.id) activeRequest = followedRun = null;
    dispatch({ type: "runFailed", id, problem });
  }

  /**
   * Fetch something for a request; what comes of it is dropped if the request was replaced meanwhile.
   * @template T
   * @param {number} id the request's
   * @param {(signal: AbortSignal) => Promise<T>} fetched
   * @param {(answer: T) => void} onAnswer
   */
  async function fetchFor(id, fetched, onAnswer) {
    fetching = new AbortController();
    const { signal } = fetching;
    try {
      const answer = await fetched(signal);
      if (!signal.aborted) onAnswer(answer);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TraceError)) throw error;
      reportFailure(id, problemOfResponse(error.status, error.problem));
    }
  }

  /** Fetch the trace of a run that is over, or the page's own. @param {number} id the request's @param {string} url */
  const fetchTrace = (id, url) =>
    fetchFor(
      id,
      (signal) => loadTrace(url, signal),
      (trace) => reportTrace(id, trace),
    );

  /** Wait for a run that takes longer. @param {number} id the request's @param {string} runName the run's */
  function awaitRun(id, runName) {
    followedRun = followRun(runName, {
      queued: (ahead) => dispatch({ type: "runQueued", id, ahead }),
      running: () => dispatch({ type: "runStarted", id }),
      done: () => {
        followedRun = null;
        void fetchTrace(id, `${ROOT}/api/runs/${encodeURIComponent(runName)}`);
      },
      lost: () => reportFailure(id, { key: "error_network" }),
    });
  }

  /** @param {Request} request */
  const sendRequest = (request) =>
    fetchFor(
      request.id,
      (signal) => startRun(requestBody(request), signal),
      (answer) => ("runId" in answer ? awaitRun(request.id, answer.runId) : reportTrace(request.id, answer.trace)),
    );

  /** @param {Request} request */
  async function lookUpTrace(request) {
    const { id } = request;
    const trace = await cachedTrace(request);
    if (id === activeRequest?.id) activeRequest = null;
    dispatch(trace ? { type: "traceArrived", id, trace } : { type: "traceMissing", id });
  }

  function cancel() {
    followedRun?.abandon();
    followedRun = null;
    fetching.abort();
    activeRequest = null;
  }

  window.addEventListener("pagehide", () => followedRun?.abandon());
  return {
    start(request) {
      cancel();
      activeRequest = request;
      if (request.reason === "lookup") void lookUpTrace(request);
      else if (request.reason === "page") void fetchTrace(request.id, pageTraceUrl ?? "");
      else void sendRequest(request);
    },
    stop() {
      if (followedRun) return followedRun.stop();
      const id = activeRequest?.id;
      cancel(); // no answer has come yet
      if (id !== undefined) dispatch({ type: "runCancelled", id });
    },
    cancel,
  };
}
