/** The pane of pictures, on the page and in an offline file: stage or loom, timeline, sentences, printed output. */

import { printHead } from "./about.js";
import { captionItems } from "./caption_list.js";
import { loomLabels, sentences, stageLabels, stepHeading } from "./captions.js";
import { createCurves } from "./curves.js";
import { createLoom } from "./loom.js";
import { createPrinted } from "./printed.js";
import { createStage } from "./stage.js";
import { differs } from "./store.js";
import { createTimeline } from "./timeline.js";
import { createViews } from "./views.js";

const ZOOM = 1.25;

/** @typedef {import("./page_state.js").PageState} PageState */
/** @typedef {import("./page_state.js").Action} Action */

/**
 * @param {<T extends HTMLElement>(id: string) => T} element an element of the page, by its id
 * @param {{state: () => PageState, dispatch: (action: Action) => void}} store
 * @param {import("./locale.js").Locale["say"]} say
 * @param {{about: () => import("./about.js").About, stopsAt?: (i: number) => boolean, scaled?: (k: number, chosen: boolean) => void, canRun?: boolean}} options
 *   about: what a printed run is headed by; stopsAt: whether a step is at a breakpoint; scaled: called with the scale that is drawn; canRun: whether elements
 *   that the trace left out can be asked for
 */
export function createPicturePane(
  element,
  { state: current, dispatch },
  say,
  { about, stopsAt, scaled, canRun = false },
) {
  const go = (/** @type {number} */ step) => dispatch({ type: "stepChosen", step });
  const stage = createStage(element("stage"), document, {
    labels: stageLabels(say),
    cell: (storage, index, dtype) => dispatch({ type: "cellChosen", storage, index, dtype }),
    elements: canRun ? (storage, at) => dispatch({ type: "elementsRequested", storage, at }) : undefined,
    selected: (key) => dispatch({ type: "selectionChanged", key }),
    pin: (node, slot) => dispatch({ type: "pinChosen", node, slot }),
    scaled,
  });
  const loom = createLoom(element("loom"), document, { labels: loomLabels(say), go });
  const printed = createPrinted({ pane: element("printed-box"), text: element("printed") }, say, go);
  const curves = createCurves(element("curves"), say, go);
  const views = createViews(element("views"), (view) => dispatch({ type: "viewChosen", view }));
  const timeline = createTimeline(
    { root: element("timeline"), slider: element("slider"), marks: element("marks"), label: element("where") },
    {
      go,
      describe,
      stopsAt: stopsAt ?? (() => false),
      reducedMotion: matchMedia("(prefers-reduced-motion: reduce)").matches,
    },
  );
  addEventListener("beforeprint", () => {
    const { opened } = current();
    if (!opened?.count) return;
    loom.print(opened);
    element("loom").prepend(printHead(about()));
  });
  addEventListener("afterprint", () => {
    loom.clearPrint();
    element("loom").querySelector(".print-head")?.remove();
  });

  /** @param {number} i */
  function describe(i) {
    const { opened } = current();
    if (!opened?.count) return say("no_steps");
    const { at, line } = stepHeading(opened.trace, i, say);
    return `${at} · ${line}`;
  }

  /** @param {PageState} state @param {PageState | null} before null: the first time */
  function render(state, before) {
    const { opened, step, view } = state;
    if (differs(state, before, "view")) {
      views.show(view);
      element("stage").classList.toggle("aside", view !== "stage");
      element("loom").classList.toggle("aside", view !== "loom");
    }
    if (differs(state, before, "opened")) {
      const steps = opened?.trace.steps ?? [];
      printed.open(steps);
      curves.open(opened?.trace ?? null);
      timeline.open(steps);
      element("views").hidden = !opened?.count;
      if (opened) element("workbench").dataset.steps = String(opened.count);
      if (opened && !opened.count) timeline.show(0);
      if (!opened?.count) element("sentences").replaceChildren();
    }
    if (opened?.count && differs(state, before, "opened", "step", "view")) {
      if (view === "loom") loom.show(opened, step);
      else stage.show(opened, step);
    }
    if (opened?.count && differs(state, before, "opened", "step")) {
      timeline.show(step);
      element("sentences").replaceChildren(...captionItems(sentences(opened, step, say)));
      printed.show(step);
      curves.show(step);
      element("workbench").dataset.step = String(step);
    }
    if (differs(state, before, "selection")) stage.select(state.selection);
    if (state.revealed && differs(state, before, "revealed")) stage.peek(state.revealed.storage, state.revealed.at);
  }

  return {
    render,
    stage,
    timeline,
    zoom: {
      in: () => stage.zoom(ZOOM),
      out: () => stage.zoom(1 / ZOOM),
      fit: () => stage.toggleFit(),
    },
    /** @type {Record<string, () => void>} */
    shortcuts: {
      "+": () => stage.zoom(ZOOM),
      "=": () => stage.zoom(ZOOM),
      "-": () => stage.zoom(1 / ZOOM),
      0: () => stage.toggleFit(),
      l: () => current().opened?.count && views.toggle(),
    },
  };
}
