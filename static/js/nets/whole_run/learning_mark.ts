/** Whether parameters learn, over the whole run, as a sign and in words. */

import { classNames, h, type VNode } from "../../browser/svg.ts";
import { titleMark } from "../../browser/shapes.ts";
import { textWidth } from "../../layout/text/metrics.ts";
import type { ParameterRunSummary } from "./parameters_of_run.ts";
import type { Translate } from "../../words/sentences.ts";

interface LearnsMarkOptions {
  x: number;
  y: number;
  /** without numbers and what the others are */
  isShort?: boolean;
  /** in pixels: without what the others are, where that does not fit */
  room?: number;
}

export function learningMark(
  parameters: ParameterRunSummary,
  { x, y, isShort = false, room = Number.POSITIVE_INFINITY }: LearnsMarkOptions,
  say: Translate,
): VNode {
  const whole = verdictText(parameters, isShort, say);
  const fits = textWidth(whole, 12) <= room - 14;
  return h("g", { class: classNames("whole-verdict", verdictOf(parameters)) }, [
    h("path", { d: signOf(parameters, x, y) }),
    h("text", { x: x + 14, y: y + 4 }, fits ? whole : verdictText(parameters, true, say), !fits && titleMark(whole)),
  ]);
}

function verdictOf({ learning, uids, worst, tone }: ParameterRunSummary) {
  if (tone) return tone;
  return learning === uids.length || worst === "updated" ? "learns" : "";
}

/** A disc where all learn, a cross where the verdict has something to say, a ring else. */
function signOf(parameters: ParameterRunSummary, x: number, y: number) {
  if (parameters.tone) return `M${x + 1} ${y - 3.5}l7 7m0 -7l-7 7`;
  return `M${x + 1} ${y}a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0`;
}

/** `4 of 4 learn`, `never learns`, `2 of 4 learn, 2 frozen`, `2 of 4 seen to learn`. */
function verdictText(
  { learning, uids, isWhole, worst, worstCount }: ParameterRunSummary,
  isShort: boolean,
  say: Translate,
): string {
  const n = uids.length;
  if (learning === n) return isShort || n === 1 ? say("whole_learns") : say("whole_learn", { k: n, n });
  const learn = say(isWhole ? "whole_learn" : "whole_learn_seen", { k: learning, n });
  if (learning && isShort) return learn;
  const word = say(`whole_is_${worst}`);
  if (worstCount === n) return word;
  const rest = say("whole_count", { n: worstCount, word });
  return learning ? say("whole_learn_but", { learn, rest }) : rest;
}
