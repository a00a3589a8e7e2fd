/** Follows a run that goes on after its request was answered: its position in the queue, that it runs, that it ended. */

import { ROOT } from "./root.js";

/** Milliseconds after which a request to stop that did not get through is sent once more. */
const STOP_RETRY_MS = 400;

/** @typedef {{ queued: (ahead: number) => void, running: () => void, done: () => void, lost: () => void }} RunHandlers
 *   ahead: how many runs wait before this one; lost: the connection to the server is gone */

/**
 * @param {string} id the run's
 * @param {RunHandlers} handlers
 * @returns {{ stop: () => void, abandon: () => void }} stop: ends the run, and `done` follows with the trace as far as it
 *   got; abandon: ends the run and calls no handler any more
 */
export function followRun(id, handlers) {
  const address = `${ROOT}/api/runs/${encodeURIComponent(id)}`;
  const source = new EventSource(`${address}/events`);
  const readData = (/** @type {Event} */ event) => JSON.parse(/** @type {MessageEvent} */ (event).data);
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
      requestStop().catch(() => setTimeout(() => requestStop().catch(reportLost), STOP_RETRY_MS));
    },
    abandon() {
      source.close();
      requestStop().catch(() => {}); // the server ends by itself what nobody waits for
    },
  };
}
