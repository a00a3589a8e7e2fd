/** The reader's preferences in the browser's local storage, which another site's frame may not have. */

/** @param {string} key @returns {string | null} */
export function readPreference(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string | null} value null removes it */
export function writePreference(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // then it lasts as long as this page
  }
}
