/** Running a program: the form, the wait, the Stop button, and what the server answers. */

import htmx from "htmx.org";
import { followRun } from "./run_events.js";
import { ROOT } from "./root.js";

/** The trace of a program, where the server has it from before; null where it would have to be run.
 * @param {object} wanted @returns {Promise<any>} */
export async function known(wanted) {
  try {
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${ROOT}/api/runs?kept=1`, { method: "POST", headers, body: JSON.stringify(wanted) });
    return answer.status === 200 ? await answer.json() : null;
  } catch {
    return null;
  }
}

/**
 * @param {{form: HTMLElement, result: HTMLElement, word: HTMLElement, stop: HTMLElement}} parts
 * @param {{say: import("./locale.js").Locale["say"], request: () => object, began: () => void, arrived: (trace: any) => void,
 *   failed: (text: string) => void}} how
 *   request: what is asked for, read when it is sent; failed: with a sentence about the server
 * @returns {{run: () => void, leave: () => void}} run: runs what `request` says; leave: nobody waits any more for what goes on
 */
export function createRunning({ form, result, word, stop }, { say, request, began, arrived, failed }) {
  /** @type {ReturnType<typeof followRun> | null} the run that goes on without the request that began it */
  let hearing = null;

  htmx.defineExtension("json-body", {
    /** @param {string} name @param {any} event */
    onEvent(name, event) {
      if (name === "htmx:configRequest") event.detail.headers["Content-Type"] = "application/json";
      return true;
    },
    /** @param {XMLHttpRequest} xhr */
    encodeParameters(xhr) {
      xhr.overrideMimeType("text/html");
      return JSON.stringify(request());
    },
  });
  htmx.process(form);

  /** What the run is waiting for, or that there is none. @param {string | null} text */
  function busy(text) {
    document.body.classList.toggle("busy", text !== null);
    word.textContent = text ?? say("run");
    stop.hidden = text === null;
  }

  /** @param {string} text */
  function over(text) {
    busy(null);
    failed(text);
  }

  form.addEventListener("htmx:beforeRequest", () => {
    hearing?.leave();
    hearing = null;
    began();
    busy(say("running"));
  });
  form.addEventListener("htmx:abort", () => busy(null));
  form.addEventListener("htmx:sendError", () => over(say("error_network")));
  form.addEventListener("htmx:responseError", (event) => {
    const { xhr } = /** @type {CustomEvent} */ (event).detail;
    let told = { code: "", message: `${xhr.status}`, retry_after: 0 };
    try {
      told = JSON.parse(xhr.responseText).error;
    } catch {
      // a proxy's page: the status has to do
    }
    if (xhr.status === 429)
      over(
        say(told.code === "limited" ? "error_limited" : "error_busy", { seconds: Math.ceil(told.retry_after || 1) }),
      );
    else over(xhr.status === 401 ? say("error_signed_out") : say("error_server", { message: told.message }));
  });
  result.addEventListener("htmx:afterSwap", () => {
    const goes = /** @type {HTMLElement | null} */ (result.querySelector("[data-run]"));
    if (goes) return follow(goes.dataset.run ?? "");
    busy(null);
    const island = result.querySelector("script");
    if (island) arrived(JSON.parse(island.textContent ?? "null"));
  });

  /** Wait for a run that takes longer. @param {string} id */
  function follow(id) {
    const lost = () => {
      hearing = null;
      over(say("error_network"));
    };
    hearing = followRun(id, {
      queued: (ahead) => busy(say(ahead ? "queued" : "queued_next", { ahead })),
      running: () => busy(say("running")),
      done: () => {
        hearing = null;
        htmx
          .ajax("get", `${ROOT}/runs/${encodeURIComponent(id)}`, { target: `#${result.id}`, source: `#${form.id}` })
          .catch(lost);
      },
      lost,
    });
  }

  stop.addEventListener("click", () => {
    if (hearing) return hearing.stop();
    htmx.trigger(form, "htmx:abort", {}); // nothing of it has come yet
    busy(null);
  });
  window.addEventListener("pagehide", () => hearing?.leave());

  function leave() {
    hearing?.leave();
    hearing = null;
    htmx.trigger(form, "htmx:abort", {});
    busy(null);
  }

  return { run: () => htmx.trigger(form, "run", {}), leave };
}
