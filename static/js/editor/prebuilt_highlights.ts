/**
 * The colours of the program that opens the page: the build has found them, so that its first reader needs no grammar.
 */

/** of a text: from, to, and the class of its colour */
export type HighlightedRange = [number, number, string];

/** Null where the page came without the colours of this text. */
export function prebuiltHighlights(source: string): HighlightedRange[] | null {
  const painted = JSON.parse(document.getElementById("painted")?.textContent ?? "null");
  return painted?.source === source ? painted.parts : null;
}

/** The grammar, undoing and keys. */
export const loadEditorTools = () => import("./editor_tools.ts");
