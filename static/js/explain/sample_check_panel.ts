/**
 * The part of an answer that says whether the samples of the batch stay apart: a button with its cost, then a sentence.
 */

import { createElement, paragraphWithCode } from "../browser/elements.ts";
import type { CheckGradients, CheckReply, SampleMixingCheck } from "../requests/gradient_check.ts";
import type { Translate } from "../words/sentences.ts";

/** by the open trace and the call of backward */
const sampleRepliesByTrace = new WeakMap<object, Map<number | null, CheckReply>>();

export function sampleCheckPanel({
  opened,
  backward,
  say,
  check,
}: {
  opened: object;
  backward: number | null;
  say: Translate;
  check: CheckGradients;
}) {
  const replies = sampleRepliesByTrace.get(opened) ?? new Map();
  sampleRepliesByTrace.set(opened, replies);
  const box = createElement("section", "sample-check");
  box.setAttribute("aria-live", "polite");

  function offer(...before: HTMLElement[]) {
    const button = createElement("button", "check-samples", say("check.samples.button")) as HTMLButtonElement;
    button.type = "button";
    button.addEventListener("click", start);
    box.replaceChildren(...before, button, paragraphWithCode("check-status", say("check.samples.cost")));
  }

  async function start() {
    box.setAttribute("aria-busy", "true");
    box.replaceChildren(paragraphWithCode("check-status", say("check.samples.running")));
    try {
      const reply = await check(backward, { samples: true });
      replies.set(backward, reply);
      show(reply);
    } catch {
      offer(paragraphWithCode("check-status", say("check.failed")));
    }
    box.removeAttribute("aria-busy");
  }

  function show({ check: result, message }: CheckReply) {
    const text = result?.samples ? sampleSentence(result.samples, say) : say("check.stopped", { message });
    box.replaceChildren(paragraphWithCode("check-sentence", text));
  }

  const reply = replies.get(backward);
  if (reply) show(reply);
  else offer();
  return box;
}

function sampleSentence({ problem, line, axis, samples, mixing, runs }: SampleMixingCheck, say: Translate) {
  const facts = { n: samples, axis, line: line ?? "?", runs };
  if (problem) return say(`check.samples.problem.${problem}`, facts);
  if (!mixing) return say("check.samples.apart", facts);
  const key = mixing.changed === null ? "check.samples.mixed_uncounted" : "check.samples.mixed";
  return say(key, { ...facts, op: mixing.op, at: mixing.line ?? "?", changed: mixing.changed ?? 0 });
}
