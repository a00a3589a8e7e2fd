/** The reader's preferences in the browser's local storage, which another site's frame may not have. */

export function readPreference(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Null removes the preference. */
export function writePreference(key: string, value: string | null) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // then it lasts as long as this page
  }
}
