/** The switch of Live, which is remembered, and its script, fetched when a reader has come. */

import { loadLiveLocale } from "../words/page_locale.ts";
import { readPreference, writePreference } from "../browser/preferences.ts";
import { onFirstInteraction } from "../browser/first_interaction.ts";
import { hasChangedField } from "../browser/store.ts";
import type * as liveModule from "../live/live.ts";
import type { Action } from "../page_state/actions.ts";
import type { Locale } from "../words/sentences.ts";
import type { PageState } from "../page_state/state.ts";

const LIVE_KEY = "gradbox-live";

/** Whether programs run while they are edited. `mode` is the host's: on, offered or off. */
export function readLivePreference(mode: string) {
  if (mode === "off") return false;
  const chosen = readPreference(LIVE_KEY);
  return chosen === null ? mode === "on" : chosen === "on";
}

interface LiveStore {
  state: () => PageState;
  dispatch: (action: Action) => void;
  subscribe: (listener: (state: PageState, before: PageState) => void) => void;
}

/** `toggle` is null where the host has no live runs. */
export function startLiveSwitch(
  { toggle, foot }: { toggle: HTMLInputElement | null; foot: HTMLElement },
  store: LiveStore,
  say: Locale["say"],
  picture: Parameters<typeof liveModule.createLiveRunner>[3],
) {
  if (!toggle) return;
  toggle.checked = store.state().isLive;
  toggle.addEventListener("change", () => {
    writePreference(LIVE_KEY, toggle.checked ? "on" : "off");
    store.dispatch({ type: "liveSwitched", on: toggle.checked });
    void load();
  });
  store.subscribe((state, before) => {
    if (hasChangedField(state, before, "isLive")) toggle.checked = state.isLive;
  });
  let isLoaded = false;

  async function load() {
    if (isLoaded) return;
    isLoaded = true;
    try {
      const [{ createLiveRunner }, liveLocale] = await Promise.all([
        import("../live/live.ts"),
        loadLiveLocale(document.documentElement.lang),
      ]);
      createLiveRunner(
        foot,
        store,
        (key, args) => (key.startsWith("live_") ? liveLocale.say : say)(key, args),
        picture,
      );
    } catch {
      isLoaded = false; // the next one who asks tries again
      toggle?.addEventListener("click", load, { once: true });
    }
  }

  onFirstInteraction(load);
}
