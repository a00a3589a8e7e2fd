/** The tabs of a narrow stage, which shows one pane at a time, with a line of the other's news. */

import { paneNews } from "./pane_news.js";

/** @typedef {import("../layout/stage_plan.js").Side} Side */

/** @param {Document} document @param {import("../marks/labels.js").Labels} labels @param {(side: Side) => void} onChosen */
export function createTabs(document, labels, onChosen) {
  const element = document.createElement("div");
  element.className = "stage-tabs";
  element.hidden = true;
  const buttons = /** @type {Side[]} */ (["memory", "graph"]).map((side) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = side === "memory" ? labels.memoryTab : labels.graph;
    button.dataset.side = side;
    button.addEventListener("click", () => onChosen(side));
    return button;
  });
  const newsButton = document.createElement("button");
  newsButton.type = "button";
  newsButton.className = "stage-news";
  newsButton.addEventListener("click", () => onChosen(/** @type {Side} */ (newsButton.dataset.side)));
  element.append(...buttons, newsButton);

  return {
    element,
    /** Their height in pixels. */
    height() {
      element.hidden = false;
      return element.offsetHeight;
    },
    /** @param {boolean} narrow @param {Side} side the one that is shown @param {import("../marks/step_facts.js").StepFacts} stepFacts */
    show(narrow, side, stepFacts) {
      element.hidden = !narrow;
      if (!narrow) return;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.side === side));
      const other = side === "memory" ? "graph" : "memory";
      newsButton.dataset.side = other;
      newsButton.textContent = paneNews(other, stepFacts, labels);
    },
  };
}
