/** A step's picture, or the whole run's, as an SVG file, from the trace alone: it runs where there is no document. */

import loomCss from "../css/loom.css";
import paperCss from "../css/paper.css";
import stageCss from "../css/stage.css";
import tokens from "../css/tokens.css";
import { plan as makePlan } from "./layout/plan.js";
import { locale } from "./locale.js";
import { preview } from "./marks/preview.js";
import { listing } from "./marks/listing.js";
import { LOOM, loomPicture } from "./marks/loom.js";
import { paper, whole, written } from "./marks/paper.js";
import { messages } from "./messages.js";
import { openTrace } from "./state.js";
import { ending, sentences, stageWords, telling, where } from "./telling.js";

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

/** The card that a link to the step is shown by. @param {any} trace @param {number | null} step @param {string} title
 * @param {Partial<Look>} [look] @returns {string} */
export function cardOf(trace, step, title, look = {}) {
  const { opened, i } = at(trace, step);
  const inked = ink({ theme: "light", language: "en", ...look });
  const { say } = locale(inked.language);
  const told = caption(opened, i, say);
  const drawn = preview(stagePicture(null, opened, i, say), "stage-svg", title, told);
  return written("card", drawn, title || told.line, told.sentences.map(({ text }) => text).join(" "), inked);
}

/** A step by the plan that is there already, if one is, with what of it is folded.
 * @param {import("./layout/plan.js").Plan | null} plan @param {Opened} opened @param {number} i @param {Look} look */
export function pictureAs(plan, opened, i, look) {
  const { say } = locale(look.language);
  return paper("stage", stagePicture(plan, opened, i, say), caption(opened, i, say), ink(look));
}

/** @param {Opened} opened @param {number} i @param {Look} look */
export function loomAs(opened, i, look) {
  const { say } = locale(look.language);
  if (!opened.count) return pictureAs(null, opened, i, look);
  const words = Object.fromEntries(Object.keys(LOOM).map((word) => [word, say(`loom_${word}`)]));
  return paper("loom", loomPicture(opened, i, words), caption(opened, i, say), ink(look));
}

/** The step, or the program's text where there is none. @param {import("./layout/plan.js").Plan | null} plan
 * @param {Opened} opened @param {number} i @param {import("./telling.js").Say} say */
function stagePicture(plan, opened, i, say) {
  if (opened.count) return whole(plan ?? makePlan(opened, { room: ROOM }), opened, i, stageWords(say));
  return listing(opened.trace.program.source, messages(opened.trace, say, () => {}).filter(({ kind }) => kind === "error"));
}

/** @param {Look} look */
function ink(look) {
  return { css: CSS, tokens, ...look };
}

/** @param {any} trace @param {number | null} step */
function at(trace, step) {
  const opened = openTrace(trace);
  return { opened, i: Math.max(0, Math.min(step ?? telling(trace), opened.count - 1)) };
}

/** @param {Opened} opened @param {number} i @param {import("./telling.js").Say} say */
function caption(opened, i, say) {
  if (!opened.count) return { at: say("no_steps"), line: "", sentences: [ending(opened.trace, say)] };
  return { ...where(opened.trace, i, say), sentences: sentences(opened, i, say) };
}
