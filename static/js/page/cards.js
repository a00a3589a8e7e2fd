/** The program as text or as cards: two buttons and a command; the cards' script comes when they are first chosen. */

import { readPreference, writePreference } from "../browser/preferences.js";

/** @typedef {import("../page_state/page_state.js").PageState} PageState */
/** @typedef {import("../builder/builder.js").Builder} Builder */
/** @typedef {import("../builder/builder.js").Command} Command */

const STORAGE_KEY = "gradbox-program-as";

/**
 * @param {{form: HTMLElement, buttons: HTMLElement, host: HTMLElement}} parts form: holds editor and cards; buttons: one for each
 *   way; host: where the cards go
 * @param {Omit<Parameters<typeof import("../builder/builder.js").createBuilder>[0], "host">} builderOptions the cards' own
 * @param {() => void} onLoadFailed called where the script can not be fetched
 */
export function createCards({ form, buttons, host }, builderOptions, onLoadFailed) {
  /** @type {Builder | null} */
  let builder = null;
  let cardsChosen = readPreference(STORAGE_KEY) === "cards";
  let isLoading = false;
  /** @type {import("../editor/message_box.js").Message[]} */
  let messages = [];
  const [textButton, cardsButton] = /** @type {HTMLButtonElement[]} */ ([
    ...buttons.querySelectorAll("button[data-as]"),
  ]);

  /** @param {boolean} takesFocus */
  async function load(takesFocus) {
    if (isLoading) return;
    isLoading = true;
    try {
      const { createBuilder } = await import("../builder/builder.js");
      builder = await createBuilder({ ...builderOptions, host });
    } catch {
      isLoading = false; // the next one who asks tries again
      cardsChosen = false;
      onLoadFailed();
    }
    show();
    if (takesFocus && cardsChosen) builder?.focus();
  }

  /** @param {boolean} [takesFocus] */
  function show(takesFocus = false) {
    const isShown = cardsChosen && builder !== null;
    form.classList.toggle("as-cards", isShown);
    host.hidden = !isShown;
    textButton.setAttribute("aria-pressed", String(!isShown));
    cardsButton.setAttribute("aria-pressed", String(isShown));
    builder?.setMessages(messages);
    builder?.show(isShown);
    if (cardsChosen && !builder) void load(takesFocus);
  }

  /** @param {boolean} showCards */
  function choose(showCards) {
    const line = builder?.line() ?? 0;
    const wasShown = cardsChosen && builder !== null;
    cardsChosen = showCards;
    writePreference(STORAGE_KEY, showCards ? "cards" : null);
    show(true);
    if (showCards) builder?.focus();
    else if (wasShown) builderOptions.editor.openLine(line + 1);
  }

  textButton.addEventListener("click", () => choose(false));
  cardsButton.addEventListener("click", () => choose(true));
  show();
  return {
    /** @param {PageState} state @param {PageState | null} before */
    render: (state, before) => builder?.render(state, before),
    /** @param {import("../editor/message_box.js").Message[]} list */
    setMessages(list) {
      messages = list;
      builder?.setMessages(list);
    },
    areShown: () => cardsChosen && builder !== null,
    toggle: () => choose(!cardsChosen),
    /** Opens an operation's form at the card that the reader is at. @param {string} operation @returns {boolean} whether cards are shown */
    insert(operation) {
      if (!cardsChosen || !builder) return false;
      builder.insert(operation);
      return true;
    },
    /** What can be done with the card that the reader is at, for a list of commands; none while the text is shown. @returns {Command[]} */
    commands: () => (cardsChosen && builder ? builder.commands() : []),
  };
}
