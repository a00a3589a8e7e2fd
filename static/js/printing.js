/** The pane of what the program printed: up to a step, what that step printed standing out, very long output from its end. */

import { tail } from "./printed.js";

/** @typedef {import("./printed.js").Piece} Piece */

/**
 * @param {{pane: HTMLElement, text: HTMLElement}} parts pane: wears `none` while nothing is printed
 * @param {import("./locale.js").Locale["say"]} say
 */
export function createPrinted({ pane, text }, say) {
  /** @type {Piece[]} */
  let outs = [];
  /** all that was printed is shown, however much */
  let whole = false;
  let told = "";

  /** @param {number} i */
  function show(i) {
    const all = outs.filter((out) => out.step <= i);
    const now = all.filter((out) => out.step === i).length;
    const key = `${all.length} ${now} ${whole}`;
    if (told === key) return;
    told = key;
    const { before, pieces } = tail(all, whole ? Infinity : undefined);
    const nodes = pieces.map(({ text, step, stream }) => {
      const span = document.createElement("span");
      span.className = `${stream}${step === i ? " now" : ""}`;
      span.textContent = text;
      return span;
    });
    text.replaceChildren(...(before ? [earlier(before, i)] : []), ...nodes);
    pane.classList.toggle("none", !all.length);
    text.scrollTop = text.scrollHeight;
  }

  /** What brings back the text that is left out. @param {number} n its characters @param {number} i */
  function earlier(n, i) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = `${say("printed_before", { n })}\n`;
    button.addEventListener("click", () => {
      whole = true;
      show(i);
    });
    return button;
  }

  return {
    show,
    /** The output of another run, none of it shown yet. @param {any[]} steps */
    open(steps) {
      outs = steps.flatMap((s, k) =>
        s.log.flatMap((/** @type {any} */ e) => (e.kind === "out" ? [{ step: k, text: e.text, stream: e.stream ?? "stdout" }] : [])),
      );
      whole = false;
      told = "";
      text.replaceChildren();
      pane.classList.add("none");
    },
  };
}
