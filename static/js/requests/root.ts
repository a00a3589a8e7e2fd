/** Where the server's addresses begin: "" or a proxy's prefix, as the page says. */

export const SERVER_ROOT = globalThis.document?.documentElement.dataset.root ?? "";

/** The address of the documentation; null where this server has none, and in files and frames. */
export const DOCUMENTATION_URL =
  globalThis.document?.documentElement.dataset.docs === undefined ? null : `${SERVER_ROOT}/docs`;
