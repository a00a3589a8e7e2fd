/** How the keys of a command are written. */

/** @type {Record<string, string>} */
const KEY_SIGNS = {
  Mod: "⌃",
  Shift: "⇧",
  ArrowRight: "→",
  ArrowLeft: "←",
  Enter: "⏎",
  " ": "Space",
  "-": "−",
};

/** @param {string | undefined} key like `Mod+Shift+z`, of a command's keys @returns {string} like `⌃⇧Z`; empty where there is none */
export function keyLabel(key) {
  if (!key) return "";
  const parts = key === "+" ? ["+"] : key.split("+");
  const isChord = parts.length > 1;
  return parts.map((part) => KEY_SIGNS[part] ?? (isChord ? part.toUpperCase() : part)).join("");
}
