/** The picture of a step as an SVG file, from the trace alone: it runs where there is no document. */

import paperCss from "../css/paper.css";
import stageCss from "../css/stage.css";
import tokens from "../css/tokens.css";
import { locale } from "./locale.js";
import { paper, whole } from "./marks/paper.js";
import { openTrace } from "./state.js";
import { sentences, telling, where } from "./telling.js";

/** @typedef {{theme?: "light" | "dark", language?: string, stacked?: boolean}} Look   stacked: the graph below the memory */

/**
 * @param {any} trace @param {number | null} step null: the one to begin with
 * @param {Look} [look]
 * @returns {string}
 */
export function pictureOf(trace, step, { theme = "light", language = "en", stacked = false } = {}) {
  const opened = openTrace(trace);
  const i = Math.max(0, Math.min(step ?? telling(trace), opened.count - 1));
  const { say } = locale(language);
  const words = { names: say("stage_names"), handles: say("stage_handles"), storages: say("stage_storages"), graph: say("stage_graph") };
  const caption = { ...where(trace, i, say), sentences: sentences(opened, i, say) };
  return paper(whole(opened, i, words, stacked), caption, { css: stageCss + paperCss, tokens, theme, language });
}
