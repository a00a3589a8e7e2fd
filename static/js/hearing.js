/** Hears what becomes of a run that goes on without us: its place in the queue, that it runs, that it is over. */

import { ROOT } from "./root.js";

/** @typedef {{ queued: (ahead: number) => void, running: () => void, done: () => void, lost: () => void }} Heard */

/**
 * @param {string} id the run's
 * @param {Heard} told
 * @returns {{ stop: () => void, leave: () => void }} stop ends the run, its trace comes as far as it got; leave ends it unheard
 */
export function hear(id, told) {
  const place = `${ROOT}/api/runs/${encodeURIComponent(id)}`;
  const source = new EventSource(`${place}/events`);
  const read = (/** @type {Event} */ event) => JSON.parse(/** @type {MessageEvent} */ (event).data);
  source.addEventListener("queued", (event) => told.queued(read(event).ahead ?? 0));
  source.addEventListener("running", () => told.running());
  source.addEventListener("done", () => {
    source.close();
    told.done();
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) told.lost(); // else it connects anew by itself
  });
  const end = () => fetch(place, { method: "DELETE", keepalive: true }).catch(() => told.lost());
  return {
    stop: end,
    leave() {
      source.close();
      end();
    },
  };
}
