/** How a script is bundled: locales are data, a stylesheet that it imports is text. */
import { findingWordsPlugin } from "./finding_words.mjs";

/**
 * As tsconfig.json has it, which the image is built without. Fields that a constructor sets are not declared in the
 * bundles.
 */
export const TYPESCRIPT = { compilerOptions: { verbatimModuleSyntax: true, useDefineForClassFields: false } };

export const SCRIPT = {
  loader: { ".json": "json", ".css": "text" },
  plugins: [findingWordsPlugin],
  tsconfigRaw: TYPESCRIPT,
};
