/** When two printed texts say the same: blanks at ends of lines, addresses and the layout of tensors do not count. */

const ERROR_LINE_PATTERN = /^(?:\w+\.)*([A-Za-z_]\w*(?:Error|Exception|Interrupt|Iteration|Exit))(?::[ \t]*(.*))?$/;
const TRACEBACK_START_PATTERN = /^(?:Traceback \(most recent call last\):|-{20,})/;
const NOTEBOOK_OUT_PROMPT_PATTERN = /^[ \t]*Out ?\[[\d* ]*\]:[ \t]*\n?/gm;
const WARNING_LINES_PATTERN = /^(?:.*:\d+: )?\w*Warning: .*(?:\n[ \t]+\S.*)?(?:\n|$)/gm;
const TENSOR_OPENING_PATTERN = /\b(?:tensor|array)\(/g;
const FLOAT_PATTERN = /(?<![\w.])(-?)((?:\d+\.\d*|\.\d+|\d+(?=e))(?:e[-+]?\d+)?)(?!\w)/gi;

/** Without blanks at the ends of lines and empty lines around. */
export function trimBlankLinesAndEnds(text: string) {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\S\n]+$/gm, "")
    .replace(/^\n+|\s+$/g, "");
}

export function collapseWhitespace(text: string) {
  return text.replace(/\s+/g, " ").trim();
}

export function isNumberText(text: string) {
  return /^-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text.trim());
}

/** What was printed and, at its end, the error that was raised. Warnings go elsewhere and are left out. */
export function splitOutputAndError(expected: string): {
  whole: string;
  text: string;
  error: { type: string; message: string } | null;
} {
  const whole = trimBlankLinesAndEnds(
    expected.replace(NOTEBOOK_OUT_PROMPT_PATTERN, "").replace(WARNING_LINES_PATTERN, ""),
  );
  const lines = whole.split("\n");
  const tracebackLine = lines.findIndex((line) => TRACEBACK_START_PATTERN.test(line));
  const errorLine =
    tracebackLine < 0
      ? lines.findIndex((line) => ERROR_LINE_PATTERN.test(line))
      : lines.findLastIndex((line) => ERROR_LINE_PATTERN.test(line));
  const match = errorLine > tracebackLine || tracebackLine < 0 ? ERROR_LINE_PATTERN.exec(lines[errorLine] ?? "") : null;
  if (!match) return { whole, text: whole, error: null };
  const message = [match[2] ?? "", ...lines.slice(errorLine + 1)].join("\n");
  return {
    whole,
    text: trimBlankLinesAndEnds(lines.slice(0, tracebackLine < 0 ? errorLine : tracebackLine).join("\n")),
    error: { type: match[1], message },
  };
}

/**
 * A text in which only what counts is left. `ignoreBlanks`: no blank counts outside of quotes, as somebody typed it by
 * hand. `ignoreAddresses`: the statement shows where things lie, by long numbers that are other ones in each run.
 */
export function normalizeOutput(text: string, ignoreBlanks: boolean, ignoreAddresses: boolean) {
  let out = trimBlankLinesAndEnds(text)
    .replace(/<([\w.]+) object at 0x[\da-f]+>/gi, "<$1>")
    .replace(/0x[\da-f]{4,}/gi, "0x")
    .replace(/Parameter containing:\s+/g, "Parameter containing:");
  if (ignoreAddresses) out = out.replace(/\b\d{9,}\b/g, "0x");
  return ignoreBlanks ? removeBlanksOutsideQuotes(normalizeTensorTexts(out)) : normalizeTensorTexts(out);
}

/** With every `tensor(…)` and `array(…)` in one spelling: no blanks, numbers by their value. */
function normalizeTensorTexts(text: string) {
  let out = "";
  let doneTo = 0;
  for (const { index } of text.matchAll(TENSOR_OPENING_PATTERN)) {
    if (index < doneTo) continue;
    const end = indexAfterClosingBracket(text, text.indexOf("(", index));
    out +=
      text.slice(doneTo, index) +
      removeBlanksOutsideQuotes(text.slice(index, end)).replace(
        FLOAT_PATTERN,
        (_, sign, digits) => `${sign}${Number(digits)}.`,
      );
    doneTo = end;
  }
  return out + text.slice(doneTo);
}

/** Without blanks, but for those in quotes. */
function removeBlanksOutsideQuotes(text: string) {
  return text.replace(/('[^'\n]*'|"[^"\n]*")|\s+/g, (_, quoted) => quoted ?? "");
}

/** Behind the bracket that closes the one at `openIndex`. */
function indexAfterClosingBracket(text: string, openIndex: number) {
  let depth = 0;
  for (let k = openIndex; k < text.length; k++) {
    if ("([{".includes(text[k])) depth++;
    else if (")]}".includes(text[k]) && !--depth) return k + 1;
  }
  return text.length;
}
