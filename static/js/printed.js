/** The pane of printed output: all up to a step, the step's own marked, of very long output its last part. */

/** @typedef {{step: number, text: string, stream: string}} Piece */

/** Characters that are shown unless the reader asks for all. */
const SHOWN_CHARACTERS = 20_000;

/** The last pieces, the first of them cut where need be, and how many characters stand before them.
 * @param {Piece[]} pieces @param {number} [most] @returns {{before: number, pieces: Piece[]}} */
export function tail(pieces, most = SHOWN_CHARACTERS) {
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
  let printed = [];
  /** all that was printed is shown, however long */
  let complete = false;
  let shownKey = "";

  /** @param {number} i */
  function show(i) {
    const all = printed.filter((piece) => piece.step <= i);
    const now = all.filter((piece) => piece.step === i).length;
    const key = `${all.length} ${now} ${complete}`;
    if (shownKey === key) return;
    shownKey = key;
    const { before, pieces } = tail(all, complete ? Infinity : undefined);
    const nodes = pieces.map(({ text, step, stream }) => {
      const span = document.createElement("span");
      span.className = `${stream}${step === i ? " now" : ""}`;
      span.textContent = text;
      return span;
    });
    text.replaceChildren(...(before ? [showAllButton(before, i)] : []), ...nodes);
    pane.classList.toggle("none", !all.length);
    text.scrollTop = text.scrollHeight;
  }

  /** A button that shows the text that is left out. @param {number} n its characters @param {number} i */
  function showAllButton(n, i) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = `${say("printed_before", { n })}\n`;
    button.addEventListener("click", () => {
      complete = true;
      show(i);
    });
    return button;
  }

  return {
    show,
    /** The output of another run, none of it shown yet. @param {import("./trace.js").Step[]} steps */
    open(steps) {
      printed = steps.flatMap(({ log }, step) =>
        log.flatMap((entry) =>
          entry.kind === "out" ? [{ step, text: entry.text, stream: entry.stream ?? "stdout" }] : [],
        ),
      );
      complete = false;
      shownKey = "";
      text.replaceChildren();
      pane.classList.add("none");
    },
  };
}
