/** The program as text or as cards: two buttons and a command; the cards' script comes when they are first chosen. */

import { readPreference, writePreference } from "../../browser/preferences.ts";
import type * as builderModule from "../../builder/builder.ts";
import type { Builder } from "../../builder/builder.ts";
import type { CardCommand } from "../../builder/card_keys.ts";
import type { PageState } from "../../page_state/state.ts";
import type { LineMessage } from "../../program/line_message.ts";

const STORAGE_KEY = "gradbox-program-as";

interface CardsParts {
  /** holds editor and cards */
  form: HTMLElement;
  /** one for each way */
  buttons: HTMLElement;
  /** where the cards go */
  host: HTMLElement;
}

/** `builderOptions` are the cards' own. `onLoadFailed` is called where the script can't be fetched. */
export function createCards(
  { form, buttons, host }: CardsParts,
  builderOptions: Omit<Parameters<typeof builderModule.createBuilder>[0], "host">,
  onLoadFailed: () => void,
) {
  let builder: Builder | null = null;
  let cardsChosen = readPreference(STORAGE_KEY) === "cards";
  let isLoading = false;
  let messages: LineMessage[] = [];
  const [textButton, cardsButton] = [...buttons.querySelectorAll("button[data-as]")] as HTMLButtonElement[];

  async function load(takesFocus: boolean) {
    if (isLoading) return;
    isLoading = true;
    try {
      const { createBuilder } = await import("../../builder/builder.ts");
      builder = await createBuilder({ ...builderOptions, host });
    } catch {
      isLoading = false; // the next one who asks tries again
      cardsChosen = false;
      onLoadFailed();
    }
    show();
    if (takesFocus && cardsChosen) builder?.focus();
  }

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

  function choose(showCards: boolean) {
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
    render: (state: PageState, before: PageState | null) => builder?.render(state, before),
    setMessages(list: LineMessage[]) {
      messages = list;
      builder?.setMessages(list);
    },
    areShown: () => cardsChosen && builder !== null,
    toggle: () => choose(!cardsChosen),
    /** Opens an operation's form at the card that the reader is at. Returns whether cards are shown. */
    insert(operation: string): boolean {
      if (!cardsChosen || !builder) return false;
      builder.insert(operation);
      return true;
    },
    /** What can be done with the card that the reader is at, for a list of commands; none while the text is shown. */
    commands: (): CardCommand[] => (cardsChosen && builder ? builder.commands() : []),
  };
}
