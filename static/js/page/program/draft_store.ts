/** The programs that a reader was writing, one for each of his tabs, where a reload, a crash and the end of a tab leave
 * them. No tab writes over what another one wrote. */

interface KeyValueStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

interface KeptDraft {
  id: string;
  text: string;
  /** when it was written, in milliseconds */
  at: number;
  /** another one after each write */
  stamp: string;
}

const DRAFTS_KEY = "gradbox-drafts";
const TAB_KEY = "gradbox-draft-tab";
const MAX_DRAFTS = 6;
const MAX_CHARACTERS = 200_000;

function readAll(shared: KeyValueStore): KeptDraft[] {
  try {
    const kept = JSON.parse(shared.getItem(DRAFTS_KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter(({ id, text, at }) => id && typeof text === "string" && at > 0) : [];
  } catch {
    return [];
  }
}

/** `shared` is that of all tabs, `own` that of this tab; a tab that is duplicated begins with a copy of it. */
export function createDraftStore(shared: KeyValueStore, own: KeyValueStore, newId: () => string, now: () => number) {
  /** of this tab's draft, as this page read or wrote it last */
  let stamp: string | undefined;

  function tabId() {
    const known = own.getItem(TAB_KEY);
    if (known) return known;
    const id = newId();
    own.setItem(TAB_KEY, id);
    return id;
  }

  return {
    /** This tab's; else the newest of all, for a tab that was closed or has crashed; null where there is none. */
    read(): string | null {
      try {
        const all = readAll(shared);
        const mine = all.find(({ id }) => id === own.getItem(TAB_KEY));
        stamp = mine?.stamp;
        return (mine ?? all.sort((a, b) => b.at - a.at)[0])?.text ?? null;
      } catch {
        return null;
      }
    },
    write(text: string) {
      if (text.length > MAX_CHARACTERS) return;
      try {
        const all = readAll(shared);
        const mine = all.find(({ id }) => id === tabId());
        // another page wrote since under this name: this tab is a copy of that one, or the other way round
        if (mine && mine.stamp !== stamp) own.setItem(TAB_KEY, newId());
        const id = tabId();
        stamp = newId();
        const kept = [{ id, text, at: now(), stamp }, ...all.filter((draft) => draft.id !== id)]
          .sort((a, b) => b.at - a.at)
          .slice(0, MAX_DRAFTS);
        shared.setItem(DRAFTS_KEY, JSON.stringify(kept));
      } catch {
        // then it lasts as long as this page
      }
    },
  };
}
