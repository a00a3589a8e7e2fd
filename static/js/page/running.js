/** Asks the server for traces: sends a request, follows a run that takes longer, and dispatches what comes of it. */

import { followRun } from "../requests/run_events.js";
import { ROOT } from "../requests/root.js";
import { loadTrace, problemOfResponse, serverProblem, TraceError } from "../requests/trace_source.js";

/** @typedef {import("../page_state/page_state.js").Request} Request */
/** @typedef {import("../page_state/page_state.js").Problem} Problem */
/** @typedef {typeof import("htmx.org").default} Htmx */

/** What the server is sent. @param {Request} request */
function requestBody({ source, settings, focus }) {
  return JSON.stringify({ source, ...settings, ...(focus && { focus }) });
}

/** The trace that the server has from before; null where it would have to be run. @param {Request} request @returns {Promise<import("../page_state/page_state.js").Trace | null>} */
async function cachedTrace(request) {
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`${ROOT}/api/runs?kept=1`, { method: "POST", headers, body: requestBody(request) });
    return response.status === 200 ? await response.json() : null;
  } catch {
    return null;
  }
}

/**
 * One request at a time: the next one replaces it.
 * @param {{form: HTMLElement, result: HTMLElement}} parts form: htmx sends it; result: where htmx puts the answer
 * @param {string | null} pageTraceUrl of the trace that belongs to the page's own program
 * @param {(action: import("../page_state/page_state.js").Action) => void} dispatch
 * @returns {{start: (request: Request) => void, stop: () => void, cancel: () => void}}
 *   stop: ends the run, and its trace comes as far as it got; cancel: nobody waits for it any more
 */
export function createRunner({ form, result }, pageTraceUrl, dispatch) {
  /** @type {Request | null} */
  let activeRequest = null;
  /** @type {ReturnType<typeof followRun> | null} the run that goes on after its request was answered */
  let followedRun = null;
  /** of the trace that is being fetched */
  let traceFetch = new AbortController();
  /** @type {WeakMap<XMLHttpRequest, number>} the request that each was sent for */
  const requestIds = new WeakMap();

  /** @type {Htmx | null} */
  let htmx = null;

  /** htmx comes with the first run: whoever looks at a page needs none. @returns {Promise<Htmx>} */
  async function loadHtmx() {
    if (htmx) return htmx;
    if (document.readyState !== "complete") await new Promise((done) => addEventListener("load", done, { once: true }));
    const { default: loadedHtmx } = await import("htmx.org"); // it starts with the page, or at once where that is complete
    if (htmx) return htmx;
    loadedHtmx.defineExtension("json-body", jsonBody);
    loadedHtmx.process(form);
    htmx = loadedHtmx;
    return htmx;
  }

  const jsonBody = {
    /** @param {string} name @param {CustomEvent} event */
    onEvent(name, event) {
      if (name === "htmx:configRequest") event.detail.headers["Content-Type"] = "application/json";
      return true;
    },
    /** @param {XMLHttpRequest} xhr */
    encodeParameters(xhr) {
      xhr.overrideMimeType("text/html");
      return activeRequest && requestBody(activeRequest);
    },
  };

  /** What an event of htmx is about. @param {Event} event */
  function requestOf(event) {
    const xhr = /** @type {XMLHttpRequest} */ (/** @type {CustomEvent} */ (event).detail.xhr);
    return { xhr, id: requestIds.get(xhr) ?? 0 };
  }

  /** @param {number} id @param {Problem} problem */
  function reportFailure(id, problem) {
    if (id === activeRequest?.id) activeRequest = followedRun = null;
    dispatch({ type: "runFailed", id, problem });
  }

  form.addEventListener("htmx:beforeRequest", (event) => requestIds.set(requestOf(event).xhr, activeRequest?.id ?? 0));
  form.addEventListener("htmx:sendError", (event) => reportFailure(requestOf(event).id, { key: "error_network" }));
  form.addEventListener("htmx:responseError", (event) => {
    const { xhr, id } = requestOf(event);
    reportFailure(id, problemOfResponse(xhr.status, serverProblem(xhr.status, xhr.responseText)));
  });
  result.addEventListener("htmx:afterSwap", (event) => {
    const { id } = requestOf(event);
    if (id !== activeRequest?.id) return;
    const { run, trace } = /** @type {HTMLElement | null} */ (result.querySelector("[data-run]"))?.dataset ?? {};
    if (trace) fetchTrace(id, trace);
    else if (run) awaitRun(id, run);
  });

  /** Fetch the trace of a run that is over, or the page's own. @param {number} id the request's @param {string} url */
  async function fetchTrace(id, url) {
    traceFetch = new AbortController();
    const { signal } = traceFetch;
    try {
      const trace = await loadTrace(url, signal);
      if (signal.aborted) return;
      activeRequest = null;
      dispatch({ type: "traceArrived", id, trace });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof TraceError)) throw error;
      reportFailure(id, problemOfResponse(error.status, error.problem));
    }
  }

  /** Wait for a run that takes longer. @param {number} id the request's @param {string} runName the run's */
  function awaitRun(id, runName) {
    const onLost = () => reportFailure(id, { key: "error_network" });
    followedRun = followRun(runName, {
      queued: (ahead) => dispatch({ type: "runQueued", id, ahead }),
      running: () => dispatch({ type: "runStarted", id }),
      done: () => {
        followedRun = null;
        const address = `${ROOT}/runs/${encodeURIComponent(runName)}`;
        htmx?.ajax("get", address, { target: `#${result.id}`, source: `#${form.id}` }).catch(onLost);
      },
      lost: onLost,
    });
  }

  /** @param {Request} request */
  async function sendRequest(request) {
    try {
      const loadedHtmx = await loadHtmx();
      if (request === activeRequest) loadedHtmx.trigger(form, "run", {});
    } catch {
      reportFailure(request.id, { key: "error_network" });
    }
  }

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
    traceFetch.abort();
    if (activeRequest) htmx?.trigger(form, "htmx:abort", {});
    activeRequest = null;
  }

  window.addEventListener("pagehide", () => followedRun?.abandon());
  return {
    start(request) {
      cancel();
      activeRequest = request;
      if (request.reason === "lookup") lookUpTrace(request);
      else if (request.reason === "page") fetchTrace(request.id, pageTraceUrl ?? "");
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
