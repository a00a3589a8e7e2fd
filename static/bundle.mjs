/** How a script is bundled: locales are data, a stylesheet that it imports is text. */

export const SCRIPT = {
  loader: { ".json": "json", ".css": "text" },
  // tsconfig.json is for tsc; the image is built without it
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
};
