/** Where the server's addresses begin: "" or a proxy's prefix, as the page says. */

export const ROOT = globalThis.document?.documentElement.dataset.root ?? "";

/** The address of the documentation; null where this server has none, and in files and frames. */
export const DOCUMENTATION = globalThis.document?.documentElement.dataset.docs === undefined ? null : `${ROOT}/docs`;
