/** Predict mode's button, and what it takes out of the page; its script is fetched when somebody predicts. */

import { differs } from "./store.js";
import { withoutPredict } from "./url.js";

/** @typedef {import("./page_state.js").PageState} PageState */
/** @typedef {import("./locale.js").Locale["say"]} Say */
/** @typedef {() => Promise<typeof import("./predict/predict.js") & {sentences: () => Promise<Say>}>} LoadPredict */

/** Fetches what the server left out of a page that was opened in predict mode: the texts of elements, and of its data.
 * @param {Element[]} later elements without their texts @param {(first: Record<string, any>) => void} fetched called with the page's data */
async function fetchAnswers(later, fetched) {
  try {
    const text = await (await fetch(location.pathname + withoutPredict(location.search))).text();
    const page = new DOMParser().parseFromString(text, "text/html");
    const texts = [...page.querySelectorAll("[data-answer]")].map(({ textContent }) => textContent);
    const own = [...document.querySelectorAll("[data-answer]")];
    for (const told of later) {
      told.textContent = texts[own.indexOf(told)] ?? "";
      told.removeAttribute("data-later");
    }
    fetched(JSON.parse(page.getElementById("first")?.textContent ?? "{}"));
  } catch {
    // offline: it is there when the page is opened again
  }
}

/** The link to the program after this one, where it is one of several in an order. @returns {HTMLAnchorElement | null} */
const nextInOrder = () => document.querySelector(".order-strip a[rel=next]");

/** Files that say how the whole run ended. */
const WHOLE_RUN = "[data-take='run.html']";

/**
 * @param {<T extends HTMLElement>(id: string) => T} element an element of the page, by its id
 * @param {{state: () => PageState, dispatch: (action: import("./page_state.js").Action) => void,
 *   subscribe: (listener: (state: PageState, before: PageState) => void) => void}} store
 * @param {Say} say
 * @param {{load: LoadPredict, loadFindings: import("./findings_card.js").LoadFindings, failed: () => void,
 *   fetched?: (first: Record<string, any>) => void}} how   fetched: called with the page's data where the server had left parts out
 */
export function startPredict(element, store, say, { load, loadFindings, failed, fetched = () => {} }) {
  const button = element("predict-button");
  const host = document.createElement("section");
  host.id = "predict";
  host.className = "findings predict";
  host.setAttribute("aria-label", say("predict"));
  host.hidden = true;
  element("findings").before(host);
  const future = document.createElement("span");
  future.className = "future";
  const words = document.createElement("span");
  words.textContent = say("predict_future");
  future.append(words);
  /** @type {{element: Element, place: Comment}[]} what stands in the page and tells the answers */
  let taken = [];
  let isLoaded = false;

  async function loadOnce() {
    if (isLoaded) return;
    isLoaded = true;
    try {
      const [{ startPredicting, sentences }] = [await load()];
      startPredicting(host, store, { page: say, own: await sentences() }, loadFindings, nextInOrder);
    } catch {
      isLoaded = false; // the next one who asks tries again
      store.dispatch({ type: "predictSwitched", on: false });
      failed();
    }
  }

  function takeAnswers() {
    document.getElementById("first")?.remove(); // the file's own trace, or what an author says of the run
    for (const told of document.querySelectorAll("[data-answer]")) {
      const place = document.createComment("");
      told.replaceWith(place);
      taken.push({ element: told, place });
    }
  }

  function putBack() {
    for (const { element: told, place } of taken) place.replaceWith(told);
    taken = [];
    const later = [...document.querySelectorAll("[data-later]")];
    if (later.length) void fetchAnswers(later, fetched);
  }

  /** @param {PageState} state @param {PageState | null} before null: the first time */
  function render(state, before) {
    const on = state.predict !== null;
    if (!differs({ on }, before && { on: before.predict !== null }, "on")) return;
    button.setAttribute("aria-pressed", String(on));
    host.hidden = !on;
    document.body.classList.toggle("predicting", on);
    for (const file of document.querySelectorAll(WHOLE_RUN)) /** @type {HTMLButtonElement} */ (file).disabled = on;
    if (!on && !before) return; // it may be opened in predict mode yet: what was left out is not fetched before
    if (!on) return putBack();
    takeAnswers();
    void loadOnce();
  }

  button.addEventListener("click", () =>
    store.dispatch({ type: "predictSwitched", on: store.state().predict === null }),
  );
  document.querySelector("#timeline .track")?.append(future);
  store.subscribe(render);
  render(store.state(), null);
}
