/** Where the server's addresses begin: "" or a proxy's prefix, as the page says. */

export const ROOT = globalThis.document?.documentElement.dataset.root ?? "";
