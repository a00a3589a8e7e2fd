/** An article's outputs on the page: each under its line beside torch's, and how many are the same. */

/** @typedef {import("./outputs.js").Row} Row */
/** @typedef {import("./editor.js").Message} Message */
/** @typedef {import("./locale.js").Locale["say"]} Say */

/** @type {Record<Row["verdict"], string>} */
const CLASS = { same: "same", different: "different", "not reached": "unreached" };

/**
 * What stands in the editor: a mark behind a comment that is right, else the texts under the line.
 * @param {Row[]} rows @param {Say} say @param {(step: number) => void} go @returns {Message[]}
 */
export function beside(rows, say, go) {
  return rows.map((row) => ({
    line: row.line,
    kind: /** @type {const} */ ("output"),
    text: JSON.stringify(row),
    inline: row.comment && row.verdict !== "different",
    make: () => drawn(row, say, go),
  }));
}

/** @param {Row} row @param {Say} say @param {(step: number) => void} go @returns {HTMLElement} */
function drawn(row, say, go) {
  const { step, comment, verdict } = row;
  const behind = comment && verdict !== "different";
  const box = document.createElement(step !== null ? "button" : behind ? "span" : "div");
  box.className = `beside ${CLASS[verdict]}${behind ? " behind" : ""}`;
  if (box instanceof HTMLButtonElement && step !== null) {
    box.type = "button";
    box.title = say("beside_go");
    box.addEventListener("click", () => go(step));
  }
  const says = say(row.partly ? "beside_partly" : `beside_${CLASS[verdict]}`);
  const word = part("verdict", behind ? "" : says);
  if (behind) {
    word.dataset.word = says; // in the style sheet's hands: the line's text is the program's alone
    box.setAttribute("aria-label", says);
    if (step === null) box.setAttribute("role", "note");
  }
  if (verdict === "different") {
    const from = say(comment ? "beside_comment" : "beside_article");
    box.append(part("from", from), part("text", row.expected), word);
    box.append(part("from", "torch"), part(row.got ? "text" : "text nothing", row.got || say("beside_nothing")));
  } else if (behind) box.append(word);
  else box.append(part("text", row.expected), word);
  return box;
}

/** @param {string} name @param {string} text */
function part(name, text) {
  const span = document.createElement("span");
  span.className = name;
  span.textContent = text;
  return span;
}

/**
 * How many are the same; each number leads from one of its steps to the next.
 * @param {HTMLElement} host @param {Row[]} rows @param {Say} say
 * @param {{at: () => number, go: (step: number) => void}} steps
 */
export function summary(host, rows, say, { at, go }) {
  host.hidden = !rows.length;
  const groups = /** @type {Row["verdict"][]} */ (["different", "same", "not reached"]).map((verdict) => {
    const places = rows.filter((row) => row.verdict === verdict);
    const text = say(`outputs_${CLASS[verdict]}`, { n: places.length });
    const found = places.flatMap(({ step }) => step ?? []);
    if (!places.length) return "";
    if (!found.length) return part(CLASS[verdict], text);
    const button = document.createElement("button");
    button.type = "button";
    button.className = `link ${CLASS[verdict]}`;
    button.textContent = text;
    button.addEventListener("click", () => go(found.find((step) => step > at()) ?? found[0]));
    return button;
  });
  host.replaceChildren(say("outputs_title"), ...groups.filter(Boolean).flatMap((group) => [" ", group]));
}
