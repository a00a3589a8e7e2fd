/**
 * The headline of the stage: the step's first sentence, the others under it, and what opens all of them over the
 * picture.
 */

import type { Translate } from "../../words/sentences.ts";

/** On a small screen the card of the finding has this sentence right above. */
const SAID_ELSEWHERE = "[data-sentence=explained]";

/**
 * Its room is fixed: what does not fit is behind a button. `headline` is around a list and a button; whoever writes
 * into the list need not know of it.
 */
export function startHeadline(headline: HTMLElement, say: Translate) {
  const list = headline.querySelector<HTMLElement>(":scope > ul");
  const button = headline.querySelector<HTMLButtonElement>(":scope > button");
  if (!list || !button) return;

  function setOpen(isOpen: boolean) {
    headline.classList.toggle("open", isOpen);
    button?.setAttribute("aria-expanded", String(isOpen));
  }

  function settle() {
    setOpen(false);
    if (!list || !button) return;
    fitHeadline(headline, list);
    const isHidden = (item: Element) => !item.getClientRects().length && !item.matches(SAID_ELSEWHERE);
    const hidden = [...list.children].filter(isHidden).length;
    const text = hidden > 0 ? say("more_sentences", { n: hidden }) : "…";
    button.textContent = text;
    // what is spoken has what is read in it: who speaks to the page presses by that
    button.setAttribute("aria-label", hidden > 0 ? `${text} · ${say("all_sentences")}` : say("all_sentences"));
    button.hidden = hidden <= 0 && !isClipped(list);
  }

  button.addEventListener("click", () => setOpen(!headline.classList.contains("open")));
  headline.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !headline.classList.contains("open")) return;
    event.stopPropagation();
    setOpen(false);
  });
  document.addEventListener("pointerdown", ({ target }) => {
    if (headline.classList.contains("open") && target instanceof Node && !headline.contains(target)) setOpen(false);
  });
  // once for all that a step writes, before it is painted
  let isAsked = false;
  const settleSoon = () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      settle();
    });
  };
  // where the card comes after the step is drawn, its sentence leaves the list and the next one has its room
  const byCard = new ResizeObserver(() => {
    if (!headline.classList.contains("open")) settleSoon();
  });
  new MutationObserver(() => {
    settleSoon();
    const item = list.querySelector(SAID_ELSEWHERE);
    if (item) byCard.observe(item);
  }).observe(list, { childList: true });
  new ResizeObserver(settleSoon).observe(headline);
}

/** A long first sentence has smaller letters, in more lines; another that has no room is left to the button, whole. */
function fitHeadline(headline: HTMLElement, list: HTMLElement) {
  const items = [...list.children];
  for (const item of items) item.classList.remove("without-room");
  const [first, ...others] = items.filter((item) => item.getClientRects().length);
  for (const length of ["", "long", "longer"]) {
    headline.dataset.length = length;
    if (!first || !overflows(first)) break;
  }
  const bottom = list.getBoundingClientRect().bottom + 1;
  for (const item of others) item.classList.toggle("without-room", item.getBoundingClientRect().bottom > bottom);
}

/** Whether a sentence is longer than its lines, or all of them than their room. */
function isClipped(list: HTMLElement) {
  return [list, ...list.children].some(overflows);
}

function overflows(item: Element) {
  return item.scrollHeight > item.clientHeight + 1 || item.scrollWidth > item.clientWidth + 1;
}
