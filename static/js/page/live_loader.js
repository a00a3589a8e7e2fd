/** The switch of Live, which is remembered, and its script, fetched when a reader has come. */

import { loadLiveLocale } from "../words/page_locale.js";
import { readPreference, writePreference } from "../browser/preferences.js";
import { onFirstInteraction } from "../browser/first_interaction.js";
import { differs } from "../browser/store.js";

/** @typedef {import("../page_state/page_state.js").PageState} PageState */

const LIVE_KEY = "gradbox-live";

/** Whether programs run while they are edited. @param {string} mode the host's: on, offered or off */
export function readLivePreference(mode) {
  if (mode === "off") return false;
  const chosen = readPreference(LIVE_KEY);
  return chosen === null ? mode === "on" : chosen === "on";
}

/**
 * @param {{toggle: HTMLInputElement | null, foot: HTMLElement}} parts toggle: null where the host has no live runs
 * @param {{state: () => PageState, dispatch: (action: import("../page_state/page_state.js").Action) => void,
 *   subscribe: (listener: (state: PageState, before: PageState) => void) => void}} store
 * @param {import("../words/locale.js").Locale["say"]} say
 * @param {Parameters<typeof import("../live/live.js").createLive>[3]} picture
 */
export function startLive({ toggle, foot }, store, say, picture) {
  if (!toggle) return;
  toggle.checked = store.state().isLive;
  toggle.addEventListener("change", () => {
    writePreference(LIVE_KEY, toggle.checked ? "on" : "off");
    store.dispatch({ type: "liveSwitched", on: toggle.checked });
    void load();
  });
  store.subscribe((state, before) => {
    if (differs(state, before, "isLive")) toggle.checked = state.isLive;
  });
  let isLoaded = false;

  async function load() {
    if (isLoaded) return;
    isLoaded = true;
    try {
      const [{ createLive }, liveLocale] = await Promise.all([
        import("../live/live.js"),
        loadLiveLocale(document.documentElement.lang),
      ]);
      createLive(foot, store, (key, args) => (key.startsWith("live_") ? liveLocale.say : say)(key, args), picture);
    } catch {
      isLoaded = false; // the next one who asks tries again
      toggle?.addEventListener("click", load, { once: true });
    }
  }

  onFirstInteraction(load);
}
