/** Asks the server for traces: sends a request, follows a run that takes longer, and dispatches what comes of it. */

import { followRun } from "../requests/run_events.ts";
import { ROOT } from "../requests/root.ts";
import { loadTrace, problemOfResponse, serverProblem, TraceError, type Problem } from "../requests/trace_source.ts";
import type { Action } from "../page_state/actions.ts";
import type { Trace } from "../trace/wire.ts";
import type { default as htmx } from "htmx.org";
import type { Request } from "../page_state/state.ts";

type Htmx = typeof htmx;

/** What the server is sent. */
function requestBody({ source, settings, focus }: Request) {
  return JSON.stringify({ source, ...settings, ...(focus && { focus }) });
}

/** The trace that the server has from before; null where it would have to be run. */
async function cachedTrace(request: Request): Promise<Trace | null> {
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
 * @param parts form: htmx sends it; result: where htmx puts the answer
 * @param pageTraceUrl of the trace that belongs to the page's own program
 * @returns stop: ends the run, and its trace comes as far as it got; cancel: nobody waits for it any more
 */
export function createRunner(
  { form, result }: { form: HTMLElement; result: HTMLElement },
  pageTraceUrl: string | null,
  dispatch: (action: Action) => void,
): { start: (request: Request) => void; stop: () => void; cancel: () => void } {
  let activeRequest: Request | null = null;
  /** the run that goes on after its request was answered */
  let followedRun: ReturnType<typeof followRun> | null = null;
  /** of the trace that is being fetched */
  let traceFetch = new AbortController();
  /** the request that each was sent for */
  const requestIds = new WeakMap<XMLHttpRequest, number>();

  let htmx: Htmx | null = null;

  /** htmx comes with the first run: whoever looks at a page needs none */
  async function loadHtmx(): Promise<Htmx> {
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
    onEvent(name: string, event: CustomEvent) {
      if (name === "htmx:configRequest") event.detail.headers["Content-Type"] = "application/json";
      return true;
    },
    encodeParameters(xhr: XMLHttpRequest) {
      xhr.overrideMimeType("text/html");
      return activeRequest && requestBody(activeRequest);
    },
  };

  /** What an event of htmx is about. */
  function requestOf(event: Event) {
    const xhr = (event as CustomEvent).detail.xhr as XMLHttpRequest;
    return { xhr, id: requestIds.get(xhr) ?? 0 };
  }

  function reportFailure(id: number, problem: Problem) {
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
    const { run, trace } = (result.querySelector("[data-run]") as HTMLElement | null)?.dataset ?? {};
    if (trace) fetchTrace(id, trace);
    else if (run) awaitRun(id, run);
  });

  /** Fetch the trace of a run that is over, or the page's own. @param id the request's */
  async function fetchTrace(id: number, url: string) {
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

  /** Wait for a run that takes longer. @param id the request's @param runName the run's */
  function awaitRun(id: number, runName: string) {
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

  async function sendRequest(request: Request) {
    try {
      const loadedHtmx = await loadHtmx();
      if (request === activeRequest) loadedHtmx.trigger(form, "run", {});
    } catch {
      reportFailure(request.id, { key: "error_network" });
    }
  }

  async function lookUpTrace(request: Request) {
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
