/** What the server makes of a trace that it keeps: pictures, the card that a link is shown by, the offline file. */

import { cardOf, loomOf, pictureOf } from "./picture.js";
import { standalone } from "./standalone.js";
import { telling } from "./telling.js";

/**
 * @typedef {{kind: "stage" | "loom" | "card" | "file", step: number | null, title: string, theme: "light" | "dark", language: string,
 *   tallest: number, body: string, style: string, script: string, nonce: string}} Asked
 *   step: null is the one that a reader would be shown first; body, style, script, nonce: the offline file's
 */

/** @param {string} text the trace @param {Asked} asked @returns {{made: string} | {steps: number}} steps: how many there are, where the one asked for is not among them */
export function make(text, asked) {
  const trace = JSON.parse(text);
  const { kind, step, title } = asked;
  if (step !== null && step >= trace.steps.length) return { steps: trace.steps.length };
  if (kind === "stage") return { made: pictureOf(trace, step, asked) };
  if (kind === "loom") return { made: loomOf(trace, step, asked) };
  if (kind === "card") return { made: cardOf(trace, step, title, asked) };
  return {
    made: standalone({ ...asked, theme: null, data: { trace, step: step ?? Math.max(0, telling(trace)), title } }),
  };
}
