/** Predict mode's button, and what it takes out of the page; its script is fetched when somebody predicts. */

import { differs } from "../browser/store.js";
import { withoutPredict } from "../page_state/url.js";

/** @typedef {import("../page_state/page_state.js").PageState} PageState */
/** @typedef {import("../words/locale.js").Locale["say"]} Say */
/** @typedef {() => Promise<typeof import("../predict/predict.js") & {sentences: () => Promise<Say>}>} LoadPredict */

/** Fetches what the server left out of a page that was opened in predict mode: the texts of elements, and of its data.
 * @param {Element[]} emptied elements without their texts @param {(first: Record<string, any>) => void} onFetched called with the page's data */
async function fetchHiddenTexts(emptied, onFetched) {
  try {
    const text = await (await fetch(location.pathname + withoutPredict(location.search))).text();
    const page = new DOMParser().parseFromString(text, "text/html");
    const servedTexts = [...page.querySelectorAll("[data-answer]")].map(({ textContent }) => textContent);
    const pageElements = [...document.querySelectorAll("[data-answer]")];
    for (const element of emptied) {
      element.textContent = servedTexts[pageElements.indexOf(element)] ?? "";
      element.removeAttribute("data-later");
    }
    onFetched(JSON.parse(page.getElementById("first")?.textContent ?? "{}"));
  } catch {
    // offline: it is there when the page is opened again
  }
}

/** The link to the program after this one, where it is one of several in an order. @returns {HTMLAnchorElement | null} */
const nextInOrder = () => document.querySelector(".order-strip a[rel=next]");

/** Files that say how the whole run ended. */
const WHOLE_RUN_FILES = "[data-take='run.html']";

/**
 * @param {<T extends HTMLElement>(id: string) => T} element an element of the page, by its id
 * @param {{state: () => PageState, dispatch: (action: import("../page_state/page_state.js").Action) => void,
 *   subscribe: (listener: (state: PageState, before: PageState) => void) => void}} store
 * @param {Say} say
 * @param {{load: LoadPredict, loadFindings: import("../explain/findings_card.js").LoadFindings, failed: () => void,
 *   fetched?: (first: Record<string, any>) => void}} how   fetched: called with the page's data where the server had left parts out
 */
export function startPredict(element, store, say, { load, loadFindings, failed: onFailed, fetched = () => {} }) {
  const button = element("predict-button");
  const host = document.createElement("section");
  host.id = "predict";
  host.className = "findings predict";
  host.setAttribute("aria-label", say("predict"));
  host.hidden = true;
  element("findings").before(host);
  const futureOverlay = document.createElement("span");
  futureOverlay.className = "future";
  const futureLabel = document.createElement("span");
  futureLabel.textContent = say("predict_future");
  futureOverlay.append(futureLabel);
  /** @type {{element: Element, place: Comment}[]} what stands in the page and tells the answers */
  let takenAnswers = [];
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
      onFailed();
    }
  }

  function takeAnswers() {
    document.getElementById("first")?.remove(); // the file's own trace, or what an author says of the run
    for (const answerElement of document.querySelectorAll("[data-answer]")) {
      const placeholder = document.createComment("");
      answerElement.replaceWith(placeholder);
      takenAnswers.push({ element: answerElement, place: placeholder });
    }
  }

  function putAnswersBack() {
    for (const { element: answerElement, place: placeholder } of takenAnswers) placeholder.replaceWith(answerElement);
    takenAnswers = [];
    const emptied = [...document.querySelectorAll("[data-later]")];
    if (emptied.length) void fetchHiddenTexts(emptied, fetched);
  }

  /** @param {PageState} state @param {PageState | null} before null: the first time */
  function render(state, before) {
    const isOn = state.predict !== null;
    if (!differs({ on: isOn }, before && { on: before.predict !== null }, "on")) return;
    button.setAttribute("aria-pressed", String(isOn));
    host.hidden = !isOn;
    document.body.classList.toggle("predicting", isOn);
    const wholeRunButtons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll(WHOLE_RUN_FILES));
    for (const file of wholeRunButtons) file.disabled = isOn;
    if (!isOn && !before) return; // it may be opened in predict mode yet: what was left out is not fetched before
    if (!isOn) return putAnswersBack();
    takeAnswers();
    void loadOnce();
  }

  button.addEventListener("click", () =>
    store.dispatch({ type: "predictSwitched", on: store.state().predict === null }),
  );
  document.querySelector("#timeline .track")?.append(futureOverlay);
  store.subscribe(render);
  render(store.state(), null);
}
