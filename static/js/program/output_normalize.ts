/** When two printed texts say the same: blanks at ends of lines, addresses and the layout of tensors do not count. */

const ERROR_LINE = /^(?:\w+\.)*([A-Za-z_]\w*(?:Error|Exception|Interrupt|Iteration|Exit))(?::[ \t]*(.*))?$/;
const TRACEBACK = /^(?:Traceback \(most recent call last\):|-{20,})/;
const OUT_PROMPT = /^[ \t]*Out ?\[[\d* ]*\]:[ \t]*\n?/gm;
const WARNING_LINES = /^(?:.*:\d+: )?\w*Warning: .*(?:\n[ \t]+\S.*)?(?:\n|$)/gm;
const TENSOR_OPENING = /\b(?:tensor|array)\(/g;
const FLOAT = /(?<![\w.])(-?)((?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[-+]?\d+)?)(?!\w)/gi;

/** Without blanks at the ends of lines and empty lines around. */
export function trimBlank(text: string) {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\S\n]+$/gm, "")
    .replace(/^\n+|\s+$/g, "");
}

export function collapseBlanks(text: string) {
  return text.replace(/\s+/g, " ").trim();
}

export function isNumber(text: string) {
  return /^-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text.trim());
}

/** What was printed and, at its end, the error that was raised. Warnings go elsewhere and are left out. */
export function splitError(expected: string): {
  whole: string;
  text: string;
  error: { type: string; message: string } | null;
} {
  const whole = trimBlank(expected.replace(OUT_PROMPT, "").replace(WARNING_LINES, ""));
  const lines = whole.split("\n");
  const tracebackLine = lines.findIndex((line) => TRACEBACK.test(line));
  const errorLine =
    tracebackLine < 0
      ? lines.findIndex((line) => ERROR_LINE.test(line))
      : lines.findLastIndex((line) => ERROR_LINE.test(line));
  const match = errorLine > tracebackLine || tracebackLine < 0 ? ERROR_LINE.exec(lines[errorLine] ?? "") : null;
  if (!match) return { whole, text: whole, error: null };
  const message = [match[2] ?? "", ...lines.slice(errorLine + 1)].join("\n");
  return {
    whole,
    text: trimBlank(lines.slice(0, tracebackLine < 0 ? errorLine : tracebackLine).join("\n")),
    error: { type: match[1], message },
  };
}

/**
 * A text in which only what counts is left.
 * @param ignoreBlanks no blank counts outside of quotes: somebody typed it by hand
 * @param ignoreAddresses the statement shows where things lie: long numbers are other ones in each run
 */
export function normalizeOutput(text: string, ignoreBlanks: boolean, ignoreAddresses: boolean) {
  let out = trimBlank(text)
    .replace(/<([\w.]+) object at 0x[\da-f]+>/gi, "<$1>")
    .replace(/0x[\da-f]{4,}/gi, "0x")
    .replace(/Parameter containing:\s+/g, "Parameter containing:");
  if (ignoreAddresses) out = out.replace(/\b\d{9,}\b/g, "0x");
  return ignoreBlanks ? removeBlanks(normalizeTensors(out)) : normalizeTensors(out);
}

/** With every `tensor(…)` and `array(…)` in one spelling: no blanks, numbers by their value. */
function normalizeTensors(text: string) {
  let out = "";
  let doneTo = 0;
  for (const { index } of text.matchAll(TENSOR_OPENING)) {
    if (index < doneTo) continue;
    const end = closingBracket(text, text.indexOf("(", index));
    out +=
      text.slice(doneTo, index) +
      removeBlanks(text.slice(index, end)).replace(FLOAT, (_, sign, digits) => `${sign}${Number(digits)}.`);
    doneTo = end;
  }
  return out + text.slice(doneTo);
}

/** Without blanks, but for those in quotes. */
function removeBlanks(text: string) {
  return text.replace(/('[^'\n]*'|"[^"\n]*")|\s+/g, (_, quoted) => quoted ?? "");
}

/** Behind the bracket that closes the one at `openIndex`. */
function closingBracket(text: string, openIndex: number) {
  let depth = 0;
  for (let k = openIndex; k < text.length; k++) {
    if ("([{".includes(text[k])) depth++;
    else if (")]}".includes(text[k]) && !--depth) return k + 1;
  }
  return text.length;
}
