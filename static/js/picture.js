/** A step's picture, or the whole run's, as an SVG file, from the trace alone: it runs where there is no document. */

import loomCss from "../css/loom.css";
import paperCss from "../css/paper.css";
import stageCss from "../css/stage.css";
import tokens from "../css/tokens.css";
import { plan as makePlan } from "./layout/plan.js";
import { locale } from "./locale.js";
import { LOOM, loomPicture } from "./marks/loom.js";
import { paper, whole } from "./marks/paper.js";
import { openTrace } from "./state.js";
import { sentences, stageWords, telling, where } from "./telling.js";

/** @typedef {{theme: "light" | "dark", language: string}} Look */
/** @typedef {import("./state.js").Opened} Opened */

/** A graph that is wider is folded. */
const ROOM = 1900;
const CSS = stageCss + loomCss + paperCss;

/**
 * @param {any} trace @param {number | null} step null: the one to begin with
 * @param {Partial<Look>} [look]
 * @returns {string}
 */
export function pictureOf(trace, step, look = {}) {
  const { opened, i } = at(trace, step);
  return pictureAs(null, opened, i, { theme: "light", language: "en", ...look });
}

/** The whole run as at a step. @param {any} trace @param {number | null} step @param {Partial<Look>} [look] @returns {string} */
export function loomOf(trace, step, look = {}) {
  const { opened, i } = at(trace, step);
  return loomAs(opened, i, { theme: "light", language: "en", ...look });
}

/** A step by the plan that is there already, if one is, with what of it is folded.
 * @param {import("./layout/plan.js").Plan | null} plan @param {Opened} opened @param {number} i @param {Look} look */
export function pictureAs(plan, opened, i, look) {
  const { say } = locale(look.language);
  return paper("stage", whole(plan ?? makePlan(opened, { room: ROOM }), opened, i, stageWords(say)), caption(opened, i, say), { css: CSS, tokens, ...look });
}

/** @param {Opened} opened @param {number} i @param {Look} look */
export function loomAs(opened, i, look) {
  const { say } = locale(look.language);
  const words = Object.fromEntries(Object.keys(LOOM).map((word) => [word, say(`loom_${word}`)]));
  return paper("loom", loomPicture(opened, i, words), caption(opened, i, say), { css: CSS, tokens, ...look });
}

/** @param {any} trace @param {number | null} step */
function at(trace, step) {
  const opened = openTrace(trace);
  return { opened, i: Math.max(0, Math.min(step ?? telling(trace), opened.count - 1)) };
}

/** @param {Opened} opened @param {number} i @param {import("./telling.js").Say} say */
function caption(opened, i, say) {
  return { ...where(opened.trace, i, say), sentences: sentences(opened, i, say) };
}
