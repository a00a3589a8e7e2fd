/** The tabs of a narrow stage, which shows one pane at a time, with a line of the other's news. */

import { paneNews } from "./pane_news.ts";
import type { PaneSide } from "../layout/stage_plan.ts";
import type { StageLabels } from "../marks/labels.ts";
import type { StepFacts } from "../marks/step_facts.ts";

export function createTabs(document: Document, labels: StageLabels, onChosen: (side: PaneSide) => void) {
  const element = document.createElement("div");
  element.className = "stage-tabs";
  element.hidden = true;
  const buttons = (["memory", "graph"] as PaneSide[]).map((side) => {
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
  newsButton.addEventListener("click", () => onChosen(newsButton.dataset.side as PaneSide));
  element.append(...buttons, newsButton);

  return {
    element,
    /** Their height in pixels. */
    height() {
      element.hidden = false;
      return element.offsetHeight;
    },
    /** @param side the one that is shown */
    show(narrow: boolean, side: PaneSide, stepFacts: StepFacts) {
      element.hidden = !narrow;
      if (!narrow) return;
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.side === side));
      const other = side === "memory" ? "graph" : "memory";
      newsButton.dataset.side = other;
      newsButton.textContent = paneNews(other, stepFacts, labels);
    },
  };
}
