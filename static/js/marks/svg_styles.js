/** The stage's stylesheet for a file: colours resolved for light or dark, and only the rules that its marks need. */

const NEEDLESS = /^(animation|transition|pointer-events|cursor|outline|overflow)/;

/**
 * @param {string} css @param {string} tokens custom properties, with `light-dark()` where the themes differ
 * @param {"light" | "dark"} theme @param {Set<string>} worn the class names in the picture
 * @returns {string}
 */
export function styled(css, tokens, theme, worn) {
  const values = resolved(tokens, theme);
  const plain = css.replace(/\/\*[\s\S]*?\*\//g, "").replace(/@[^{};]+\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "");
  /** @type {string[]} */
  const rules = [];
  for (const [, heads, body] of plain.matchAll(/([^{}]+)\{([^{}]*)\}/g)) {
    if (heads.includes("(")) continue; // of pointing at things
    const kept = heads
      .split(",")
      .map((one) => one.trim())
      .filter((one) => needed(one, worn));
    const lines = body
      .split(";")
      .map((one) => one.trim())
      .filter((one) => one && !NEEDLESS.test(one));
    if (kept.length && lines.length)
      rules.push(
        `${kept.join(",")}{${lines.join(";").replace(/var\(--([\w-]+)\)/g, (whole, name) => values.get(name) ?? whole)}}`,
      );
  }
  return rules.join("\n");
}

/** @param {string} tokens @param {"light" | "dark"} theme @returns {Map<string, string>} */
export function resolved(tokens, theme) {
  const found = /** @type {Map<string, string>} */ (new Map());
  for (const [, name, value] of tokens.matchAll(/--([\w-]+):\s*([^;]+);/g))
    found.set(name, value.replace(/light-dark\(([^,]+),\s*([^)]+)\)/, theme === "dark" ? "$2" : "$1"));
  return found;
}

/** Whether something in the picture can match: pointing, focus and the page around it are not there.
 * @param {string} selector @param {Set<string>} worn */
function needed(selector, worn) {
  return !/[:#[]/.test(selector) && [...selector.matchAll(/\.([\w-]+)/g)].every(([, name]) => worn.has(name));
}
