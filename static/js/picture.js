/** The picture of a step as an SVG file, from the trace alone: it runs where there is no document. */

import paperCss from "../css/paper.css";
import stageCss from "../css/stage.css";
import tokens from "../css/tokens.css";
import { plan as makePlan } from "./layout/plan.js";
import { locale } from "./locale.js";
import { paper, whole } from "./marks/paper.js";
import { openTrace } from "./state.js";
import { sentences, stageWords, telling, where } from "./telling.js";

/** @typedef {{theme: "light" | "dark", language: string}} Look */

/** A graph that is wider is folded. */
const ROOM = 1900;

/**
 * @param {any} trace @param {number | null} step null: the one to begin with
 * @param {Partial<Look>} [look]
 * @returns {string}
 */
export function pictureOf(trace, step, { theme = "light", language = "en" } = {}) {
  const opened = openTrace(trace);
  const i = Math.max(0, Math.min(step ?? telling(trace), opened.count - 1));
  return pictureAs(makePlan(opened, { room: ROOM }), opened, i, { theme, language });
}

/** The same by a plan that is there already, with what of it is folded.
 * @param {import("./layout/plan.js").Plan} plan @param {import("./state.js").Opened} opened @param {number} i @param {Look} look */
export function pictureAs(plan, opened, i, { theme, language }) {
  const { say } = locale(language);
  const words = { names: say("stage_names"), handles: say("stage_handles"), storages: say("stage_storages"), graph: say("stage_graph"), nodes: say("stage_nodes") };
  const caption = { ...where(opened.trace, i, say), sentences: sentences(opened, i, say) };
  return paper(whole(plan, opened, i, stageWords(say)), caption, { css: stageCss + paperCss, tokens, theme, language });
}
