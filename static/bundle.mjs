/** How a script is bundled: locales are data, a stylesheet that it imports is text. */

/** @type {import("esbuild").BuildOptions} */
export const SCRIPT = { loader: { ".json": "json", ".css": "text" } };
