/** How the keys of a command are written. */

const KEY_SIGNS: Record<string, string> = {
  Mod: "⌃",
  Shift: "⇧",
  ArrowRight: "→",
  ArrowLeft: "←",
  Enter: "⏎",
  " ": "Space",
  "-": "−",
};

/** @param key like `Mod+Shift+z`, of a command's keys @returns like `⌃⇧Z`; empty where there is none */
export function keyLabel(key: string | undefined): string {
  if (!key) return "";
  const parts = key === "+" ? ["+"] : key.split("+");
  const isChord = parts.length > 1;
  return parts.map((part) => KEY_SIGNS[part] ?? (isChord ? part.toUpperCase() : part)).join("");
}
