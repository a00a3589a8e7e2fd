/** Repairs as a trace offers them, made in the program and in the text that was pasted. */

/** @typedef {import("./trace.js").Repair} Repair */
/** @typedef {import("./trace.js").Edit} Edit */

/** Sizes with commas between: `4, 4`. @param {string} text */
export function isShape(text) {
  return /^\s*[1-9]\d{0,5}(\s*,\s*[1-9]\d{0,5}){0,5}\s*,?\s*$/.test(text);
}

/**
 * The text to run after a repair: the pasted one where it can be made there, for that holds the article's outputs.
 * @param {{source: string, pasted?: string | null}} program @param {Repair} repair @param {string | null} [shape]
 */
export function repaired({ source, pasted }, repair, shape = repair.shape ?? null) {
  if (!pasted || !repair.pasted) return edited(source, repair.edits ?? [], shape);
  return edited(pasted.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"), repair.pasted, shape);
}

/** @param {string} text @param {Edit[]} edits @param {string | null} shape @returns {string} */
function edited(text, edits, shape) {
  const lines = text.split("\n");
  const sizes = shape?.trim().replace(/\s*,$/, "");
  for (const edit of [...edits].sort((a, b) => b.line - a.line || b.col - a.col)) {
    const put = sizes
      ? edit.text.replaceAll("{shape}", sizes).replaceAll("{n}", sizes.split(",")[0].trim())
      : edit.text;
    const head = [...lines[edit.line - 1]].slice(0, edit.col).join("");
    const tail = [...lines[edit.end_line - 1]].slice(edit.end_col).join("");
    lines.splice(edit.line - 1, edit.end_line - edit.line + 1, ...(head + put + tail).split("\n"));
  }
  return lines.join("\n");
}
