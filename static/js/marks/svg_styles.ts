/** The stage's stylesheet for a file: colours resolved for light or dark, and only the rules that its marks need. */

const PAGE_ONLY_PROPERTIES = /^(animation|transition|pointer-events|cursor|outline|overflow)/;

/**
 * `tokens` are custom properties, with `light-dark()` where the themes differ; `classNames` are those in the picture.
 */
export function pictureStylesheet(
  css: string,
  tokens: string,
  theme: "light" | "dark",
  classNames: Set<string>,
): string {
  const values = resolveTokens(tokens, theme);
  const cssWithoutAtRules = css
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/@[^{};]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "");
  const rules: string[] = [];
  for (const [, selectorList, body] of cssWithoutAtRules.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
    const selectors = selectorList
      .split(/,(?![^(]*\))/)
      .flatMap((part) => alternativesOf(part.trim()))
      .filter((selector) => mayMatchInPicture(selector, classNames));
    const lines = body
      .split(";")
      .map((part) => part.trim())
      .filter((line) => line && !PAGE_ONLY_PROPERTIES.test(line));
    if (selectors.length && lines.length)
      rules.push(
        `${selectors.join(",")}{${lines.join(";").replace(/var\(--([\w-]+)\)/g, (text, name) => values.get(name) ?? text)}}`,
      );
  }
  return rules.join("\n");
}

export function resolveTokens(tokens: string, theme: "light" | "dark"): Map<string, string> {
  const values = new Map<string, string>();
  for (const [, name, value] of tokens.matchAll(/--([\w-]+):\s*([^;]+);/g))
    values.set(name, value.replace(/light-dark\(([^,]+),\s*([^)]+)\)/, theme === "dark" ? "$2" : "$1"));
  return values;
}

/** `a:is(.b, .c)` as `a.b` and `a.c`, which all that draws SVG understands. */
function alternativesOf(selector: string): string[] {
  const [whole, list] = selector.match(/:is\(([^()]*)\)/) ?? [];
  if (!whole) return [selector];
  return list.split(",").flatMap((part) => alternativesOf(selector.replace(whole, part.trim())));
}

/** Whether something in the picture can match: pointing, focus and the page around it are not there. */
function mayMatchInPicture(selector: string, classNames: Set<string>) {
  return !/[:#[]/.test(selector) && [...selector.matchAll(/\.([\w-]+)/g)].every(([, name]) => classNames.has(name));
}
