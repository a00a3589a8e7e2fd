/** Predict mode's button, and what it takes out of the page; its script is fetched when somebody predicts. */

import { hasChangedField } from "../browser/store.ts";
import { queryWithoutPredict } from "../page_state/url.ts";
import type { LoadFindings } from "../explain/findings_card.ts";
import type { Action } from "../page_state/actions.ts";
import type { Translate } from "../words/sentences.ts";
import type * as predictModule from "../predict/predict.ts";
import type { PageState } from "../page_state/state.ts";

export type LoadPredict = () => Promise<typeof predictModule & { sentences: () => Promise<Translate> }>;

/**
 * Fetches what the server left out of a page that was opened in predict mode: the texts of the `emptied` elements, and
 * of the page's data, with which `onFetched` is called.
 */
async function fetchHiddenTexts(emptied: Element[], onFetched: (first: Record<string, unknown>) => void) {
  try {
    const text = await (await fetch(location.pathname + queryWithoutPredict(location.search))).text();
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

/** The link to the program after this one, where it is one of several in an order. */
const nextInOrder = (): HTMLAnchorElement | null => document.querySelector(".order-strip a[rel=next]");

/** Files that say how the whole run ended. */
const WHOLE_RUN_FILES = "[data-take='run.html']";

interface PredictStore {
  state: () => PageState;
  dispatch: (action: Action) => void;
  subscribe: (listener: (state: PageState, before: PageState) => void) => void;
}

interface PredictButtonOptions {
  load: LoadPredict;
  loadFindings: LoadFindings;
  failed: () => void;
  /** called with the page's data where the server had left parts out */
  fetched?: (first: Record<string, unknown>) => void;
}

/** `elementById` gives an element of the page, by its id. */
export function startPredictButton(
  elementById: <T extends HTMLElement>(id: string) => T,
  store: PredictStore,
  say: Translate,
  { load, loadFindings, failed: onFailed, fetched = () => {} }: PredictButtonOptions,
) {
  const button = elementById("predict-button");
  const host = document.createElement("section");
  host.id = "predict";
  host.className = "findings predict";
  host.setAttribute("aria-label", say("predict"));
  host.hidden = true;
  elementById("findings").before(host);
  const futureOverlay = document.createElement("span");
  futureOverlay.className = "future";
  const futureLabel = document.createElement("span");
  futureLabel.textContent = say("predict_future");
  futureOverlay.append(futureLabel);
  /** what stands in the page and tells the answers */
  let takenAnswers: { element: Element; place: Comment }[] = [];
  let isLoaded = false;

  async function loadOnce() {
    if (isLoaded) return;
    isLoaded = true;
    try {
      const [{ startPredictMode: startPredicting, sentences }] = [await load()];
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

  /** `before` is null the first time. */
  function render(state: PageState, before: PageState | null) {
    const isOn = state.predict !== null;
    if (!hasChangedField({ on: isOn }, before && { on: before.predict !== null }, "on")) return;
    button.setAttribute("aria-pressed", String(isOn));
    host.hidden = !isOn;
    document.body.classList.toggle("predicting", isOn);
    const wholeRunButtons = document.querySelectorAll(WHOLE_RUN_FILES) as NodeListOf<HTMLButtonElement>;
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
