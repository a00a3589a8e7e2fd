/** The program as text or as cards: two buttons and a command; the cards' script comes when they are first chosen. */

import { readPreference, writePreference } from "./preferences.js";

/** @typedef {import("./page_state.js").PageState} PageState */
/** @typedef {import("./builder/builder.js").Builder} Builder */
/** @typedef {import("./builder/builder.js").Command} Command */

const STORAGE_KEY = "gradbox-program-as";

/**
 * @param {{form: HTMLElement, buttons: HTMLElement, host: HTMLElement}} parts form: holds editor and cards; buttons: one for each
 *   way; host: where the cards go
 * @param {Omit<Parameters<typeof import("./builder/builder.js").createBuilder>[0], "host">} how the cards' own
 * @param {() => void} failed called where the script can not be fetched
 */
export function createCards({ form, buttons, host }, how, failed) {
  /** @type {Builder | null} */
  let builder = null;
  let chosen = readPreference(STORAGE_KEY) === "cards";
  let isLoading = false;
  /** @type {import("./message_box.js").Message[]} */
  let messages = [];
  const [asText, asCards] = /** @type {HTMLButtonElement[]} */ ([...buttons.querySelectorAll("button[data-as]")]);

  /** @param {boolean} isAsked */
  async function load(isAsked) {
    if (isLoading) return;
    isLoading = true;
    try {
      const { createBuilder } = await import("./builder/builder.js");
      builder = await createBuilder({ ...how, host });
    } catch {
      isLoading = false; // the next one who asks tries again
      chosen = false;
      failed();
    }
    show();
    if (isAsked && chosen) builder?.focus();
  }

  /** @param {boolean} [isAsked] */
  function show(isAsked = false) {
    const shown = chosen && builder !== null;
    form.classList.toggle("as-cards", shown);
    host.hidden = !shown;
    asText.setAttribute("aria-pressed", String(!shown));
    asCards.setAttribute("aria-pressed", String(shown));
    builder?.setMessages(messages);
    builder?.show(shown);
    if (chosen && !builder) void load(isAsked);
  }

  /** @param {boolean} cards */
  function choose(cards) {
    const line = builder?.line() ?? 0;
    const wasShown = chosen && builder !== null;
    chosen = cards;
    writePreference(STORAGE_KEY, cards ? "cards" : null);
    show(true);
    if (cards) builder?.focus();
    else if (wasShown) how.editor.openLine(line + 1);
  }

  asText.addEventListener("click", () => choose(false));
  asCards.addEventListener("click", () => choose(true));
  show();
  return {
    /** @param {PageState} state @param {PageState | null} before */
    render: (state, before) => builder?.render(state, before),
    /** @param {import("./message_box.js").Message[]} list */
    setMessages(list) {
      messages = list;
      builder?.setMessages(list);
    },
    areShown: () => chosen && builder !== null,
    toggle: () => choose(!chosen),
    /** Opens an operation's form at the card that the reader is at. @param {string} operation @returns {boolean} whether cards are shown */
    insert(operation) {
      if (!chosen || !builder) return false;
      builder.insert(operation);
      return true;
    },
    /** What can be done with the card that the reader is at, for a list of commands; none while the text is shown. @returns {Command[]} */
    commands: () => (chosen && builder ? builder.commands() : []),
  };
}
