/**
 * The tooltip of the stage: one element for all marks, which takes no click and is described to readers of the focus.
 */

import { closestMarkTarget, MARK_KINDS } from "../browser/targets.ts";
import { markSentence, type MarkSentence } from "./mark_sentence.ts";
import { createLocale } from "../words/sentences.ts";
import en from "../../locales/tips.en.json" with { type: "json" };
import zh from "../../locales/tips.zh.json" with { type: "json" };
import type { OpenTrace } from "../trace/state.ts";

const TOOLTIP_ID = "mark-tooltip";
const WIDTH = 236;
const GAP = 8;
const TITLED = "svg [data-title]";

const locale = createLocale({ en, zh });

export function createTooltip(document: Document) {
  const { say } = locale(document.documentElement.lang);
  const element = document.createElement("div");
  element.id = TOOLTIP_ID;
  element.className = "mark-tooltip";
  element.setAttribute("role", "tooltip");
  element.hidden = true;
  (document.querySelector("main") ?? document.body).append(element);
  let described: Element | null = null;

  function hide() {
    element.hidden = true;
    described?.removeAttribute("aria-describedby");
    described = null;
  }

  /** Under the mark, or over it where there is no room. */
  function place({ left, top, bottom, width }: DOMRect) {
    const { innerWidth, innerHeight } = window;
    element.style.left = `${Math.max(GAP, Math.min(innerWidth - WIDTH - GAP, left + width / 2 - WIDTH / 2))}px`;
    const { offsetHeight: height } = element;
    const below = bottom + GAP;
    element.style.top = `${below + height <= innerHeight ? below : Math.max(GAP, top - GAP - height)}px`;
  }

  return {
    hide,
    isShown: () => !element.hidden,
    isOf: (mark: Element) => described !== null && described === explainedMark(mark)?.element,
    show(mark: Element, opened: OpenTrace, step: number) {
      hide();
      const explained = explainedMark(mark);
      if (!explained) return;
      const title = explained.element.closest(TITLED)?.getAttribute("data-title") ?? "";
      const sentence = explained.target ? markSentence(opened, step, explained.target, say) : null;
      element.replaceChildren(...sentenceNodes(document, sentence ?? { name: "", text: title.split("\n")[0] }));
      if (!element.textContent) return;
      element.hidden = false;
      described = explained.element;
      described.setAttribute("aria-describedby", TOOLTIP_ID);
      place(described.getBoundingClientRect());
    },
  };
}

/** The element that is explained: what stands for something, or else what has a title. */
function explainedMark(mark: Element) {
  const found = closestMarkTarget(mark, MARK_KINDS);
  const titled = mark.closest(TITLED);
  if (found) return found;
  return titled && { element: titled, target: null };
}

function sentenceNodes(document: Document, { name, text }: MarkSentence): Node[] {
  const bold = document.createElement("b");
  bold.textContent = name;
  return [...(name ? [bold, document.createTextNode(text ? ": " : "")] : []), document.createTextNode(text)];
}
