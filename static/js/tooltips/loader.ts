/** The tooltips of the stage until their script has come: it is fetched when a mark is first pointed at. */

import type { OpenTrace } from "../trace/state.ts";
import type { createTooltip } from "./tooltip.ts";

/** Rest of the pointer, or of the focus, before a mark is explained; and how long a finger is held. */
const REST_MS = 300;
const HOLD_MS = 450;
const MAX_FINGER_MOVE = 10;

/**
 * `hosts` are those of the stage and other pictures. `shown` gives the run and the step that is drawn, null where there
 * is none. `hide` is called when the picture is another one.
 */
export function startTooltips(hosts: HTMLElement[], shown: () => { opened: OpenTrace; step: number } | null) {
  let tooltip: ReturnType<typeof createTooltip> | null = null;
  let timer = 0;
  let asked: Element | null = null;
  let finger: { x: number; y: number } | null = null;

  async function explain(mark: Element) {
    tooltip ??= (await import("./tooltip.ts").catch(() => null))?.createTooltip(document) ?? null;
    const now = shown();
    if (asked === mark && mark.isConnected && now) tooltip?.show(mark, now.opened, now.step);
  }

  function hide() {
    window.clearTimeout(timer);
    asked = null;
    tooltip?.hide();
  }

  function ask(target: EventTarget | null, delay: number) {
    const mark = target instanceof Element && target.closest("svg") ? target : null;
    if (!mark) return hide();
    if (tooltip?.isOf(mark)) return;
    hide();
    asked = mark;
    timer = window.setTimeout(() => void explain(mark), delay);
  }

  for (const host of hosts) {
    host.dataset.tips = "";
    host.addEventListener("pointerover", ({ target, pointerType }) => {
      if (pointerType !== "touch") ask(target, REST_MS);
    });
    host.addEventListener("pointerleave", hide);
    host.addEventListener("focusin", ({ target }) => {
      if (target instanceof Element && target.matches(":focus-visible")) ask(target, REST_MS);
    });
    host.addEventListener("focusout", hide);
    host.addEventListener("pointerdown", ({ target, pointerType, clientX: x, clientY: y }) => {
      if (pointerType !== "touch") return hide();
      finger = { x, y };
      ask(target, HOLD_MS);
    });
    host.addEventListener("pointermove", ({ pointerType, clientX, clientY }) => {
      if (pointerType === "touch" && finger && Math.hypot(clientX - finger.x, clientY - finger.y) > MAX_FINGER_MOVE)
        hide();
    });
    host.addEventListener("pointerup", ({ pointerType }) => {
      if (pointerType === "touch" && !tooltip?.isShown()) hide();
    });
    host.addEventListener("contextmenu", (event) => {
      if (finger && asked) event.preventDefault(); // the menu of a long press
    });
  }
  document.addEventListener("scroll", hide, { capture: true, passive: true });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
  return { hide };
}
