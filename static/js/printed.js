/** What the program printed: up to a step, what that step printed standing out, very long output from its end. */

/** @typedef {{step: number, text: string, stream: string}} Piece */

/** Characters that are shown unless the reader asks for all. */
const SHOWN = 20_000;

/** The last pieces, the first of them cut where need be, and how many characters stand before them.
 * @param {Piece[]} pieces @param {number} [most] @returns {{before: number, pieces: Piece[]}} */
export function tail(pieces, most = SHOWN) {
  let room = most;
  let at = pieces.length;
  while (at > 0 && room > 0) room -= pieces[--at].text.length;
  const shown = pieces.slice(at);
  if (room < 0) shown[0] = { ...shown[0], text: shown[0].text.slice(-room) };
  const before = pieces.slice(0, at).reduce((sum, piece) => sum + piece.text.length, Math.max(0, -room));
  return { before, pieces: shown };
}

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
        s.log.flatMap((/** @type {any} */ e) =>
          e.kind === "out" ? [{ step: k, text: e.text, stream: e.stream ?? "stdout" }] : [],
        ),
      );
      whole = false;
      told = "";
      text.replaceChildren();
      pane.classList.add("none");
    },
  };
}
