/**
 * Follows a run that goes on after its request was answered: its position in the queue, that it runs, its steps as they
 * arrive, that it ended.
 */

import { SERVER_ROOT } from "./root.ts";
import { loadTraceSoFar } from "./trace_source.ts";
import type { Trace } from "../trace/wire.ts";

/** Milliseconds after which a request to stop that did not get through is sent once more. */
const RETRY_STOP_AFTER_MS = 400;
/** Milliseconds between two looks at the steps of a run. */
const STEPS_AFTER_MS = 1500;

/** ahead: how many runs wait before this one */
interface RunHandlers {
  queued: (ahead: number) => void;
  running: () => void;
  /** more steps have arrived: the trace so far */
  grown: (trace: Trace) => void;
  done: () => void;
  /** the connection to the server is gone */
  lost: () => void;
}

/**
 * `stop` ends the run, and `done` follows with the trace as far as it got; `abandon` ends the run and calls no handler
 * any more.
 */
export function followRun(id: string, handlers: RunHandlers): { stop: () => void; abandon: () => void } {
  const address = `${SERVER_ROOT}/api/runs/${encodeURIComponent(id)}`;
  const source = new EventSource(`${address}/events`);
  const readData = (event: Event) => JSON.parse((event as MessageEvent).data);
  source.addEventListener("queued", (event) => handlers.queued(readData(event).ahead ?? 0));
  const growth = followSteps(`${address}/steps`, handlers.grown);
  source.addEventListener("running", () => {
    handlers.running();
    growth.start();
  });
  source.addEventListener("done", () => {
    growth.end();
    source.close();
    handlers.done();
  });
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED) return; // it connects again by itself
    growth.end();
    handlers.lost();
  });
  const requestStop = () => fetch(address, { method: "DELETE", keepalive: true });
  return {
    stop() {
      const reportLost = () => {
        if (source.readyState === EventSource.CLOSED) return; // it is over already
        source.close();
        handlers.lost();
      };
      requestStop().catch(() => setTimeout(() => requestStop().catch(reportLost), RETRY_STOP_AFTER_MS));
    },
    abandon() {
      growth.end();
      source.close();
      requestStop().catch(() => {}); // the server ends by itself what nobody waits for
    },
  };
}

/** Asks for the steps of a run again and again, until it is told that the run has ended. */
function followSteps(url: string, onGrown: (trace: Trace) => void) {
  let ended: AbortController | null = null;
  async function follow(signal: AbortSignal) {
    for (let known = 0; !signal.aborted; ) {
      const trace = await loadTraceSoFar(url, signal).catch(() => null); // the run's end comes by its events
      if (signal.aborted) return;
      if (trace && trace.steps.length > known) {
        known = trace.steps.length;
        onGrown(trace);
      }
      await new Promise((resolve) => setTimeout(resolve, STEPS_AFTER_MS));
    }
  }
  return {
    start() {
      if (ended) return;
      ended = new AbortController();
      void follow(ended.signal);
    },
    end: () => ended?.abort(),
  };
}
