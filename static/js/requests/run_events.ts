/**
 * Follows a run that goes on after its request was answered: its position in the queue, that it runs, that it ended.
 */

import { SERVER_ROOT } from "./root.ts";

/** Milliseconds after which a request to stop that did not get through is sent once more. */
const RETRY_STOP_AFTER_MS = 400;

/** ahead: how many runs wait before this one */
interface RunHandlers {
  queued: (ahead: number) => void;
  running: () => void;
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
  source.addEventListener("running", () => handlers.running());
  source.addEventListener("done", () => {
    source.close();
    handlers.done();
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) handlers.lost(); // else it connects again by itself
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
      source.close();
      requestStop().catch(() => {}); // the server ends by itself what nobody waits for
    },
  };
}
