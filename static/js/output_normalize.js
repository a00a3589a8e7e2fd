/** When two printed texts say the same: blanks at ends of lines, addresses and the layout of tensors do not count. */

const ERROR = /^(?:\w+\.)*([A-Za-z_]\w*(?:Error|Exception|Interrupt|Iteration|Exit))(?::[ \t]*(.*))?$/;
const TRACEBACK = /^(?:Traceback \(most recent call last\):|-{20,})/;
const RESULT = /^[ \t]*Out ?\[[\d* ]*\]:[ \t]*\n?/gm;
const WARNING = /^(?:.*:\d+: )?\w*Warning: .*(?:\n[ \t]+\S.*)?(?:\n|$)/gm;
const OPENING = /\b(?:tensor|array)\(/g;
const FLOAT = /(?<![\w.])(-?)((?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[-+]?\d+)?)(?!\w)/gi;

/** Without blanks at the ends of lines and empty lines around. @param {string} text */
export function trimmed(text) {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\S\n]+$/gm, "")
    .replace(/^\n+|\s+$/g, "");
}

/** @param {string} text */
export function squeezed(text) {
  return text.replace(/\s+/g, " ").trim();
}

/** @param {string} text */
export function isNumber(text) {
  return /^-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text.trim());
}

/**
 * What was printed and, at its end, the error that was raised. Warnings go elsewhere and are left out.
 * @param {string} expected @returns {{whole: string, text: string, error: {type: string, message: string} | null}}
 */
export function parts(expected) {
  const whole = trimmed(expected.replace(RESULT, "").replace(WARNING, ""));
  const lines = whole.split("\n");
  const begin = lines.findIndex((line) => TRACEBACK.test(line));
  const at = begin < 0 ? lines.findIndex((line) => ERROR.test(line)) : lines.findLastIndex((line) => ERROR.test(line));
  const found = at > begin || begin < 0 ? ERROR.exec(lines[at] ?? "") : null;
  if (!found) return { whole, text: whole, error: null };
  const message = [found[2] ?? "", ...lines.slice(at + 1)].join("\n");
  return {
    whole,
    text: trimmed(lines.slice(0, begin < 0 ? at : begin).join("\n")),
    error: { type: found[1], message },
  };
}

/**
 * A text in which only what counts is left.
 * @param {string} text
 * @param {boolean} loose no blank counts outside of quotes: somebody typed it by hand
 * @param {boolean} addresses the statement shows where things lie: long numbers are other ones in each run
 */
export function spelled(text, loose, addresses) {
  let out = trimmed(text)
    .replace(/<([\w.]+) object at 0x[\da-f]+>/gi, "<$1>")
    .replace(/0x[\da-f]{4,}/gi, "0x")
    .replace(/Parameter containing:\s+/g, "Parameter containing:");
  if (addresses) out = out.replace(/\b\d{9,}\b/g, "0x");
  return loose ? bare(tensors(out)) : tensors(out);
}

/** With every `tensor(…)` and `array(…)` in one spelling: no blanks, numbers by their value. @param {string} text */
function tensors(text) {
  let out = "";
  let done = 0;
  for (const { index } of text.matchAll(OPENING)) {
    if (index < done) continue;
    const end = closing(text, text.indexOf("(", index));
    out +=
      text.slice(done, index) +
      bare(text.slice(index, end)).replace(FLOAT, (_, sign, digits) => `${sign}${Number(digits)}.`);
    done = end;
  }
  return out + text.slice(done);
}

/** Without blanks, but for those in quotes. @param {string} text */
function bare(text) {
  return text.replace(/('[^'\n]*'|"[^"\n]*")|\s+/g, (_, quoted) => quoted ?? "");
}

/** Behind the bracket that closes the one at `at`. @param {string} text @param {number} at */
function closing(text, at) {
  let depth = 0;
  for (let k = at; k < text.length; k++) {
    if ("([{".includes(text[k])) depth++;
    else if (")]}".includes(text[k]) && !--depth) return k + 1;
  }
  return text.length;
}
