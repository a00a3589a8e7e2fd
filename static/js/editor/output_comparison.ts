/** An article's outputs against torch's: a message under each line that has one, and a summary of how many agree. */

import type { OutputRow } from "../program/output_comparison.ts";
import type { Translate } from "../words/sentences.ts";
import type { LineMessage } from "../program/line_message.ts";

const CLASS_BY_OUTPUT_VERDICT: Record<OutputRow["verdict"], string> = {
  same: "same",
  different: "different",
  "not reached": "unreached",
};

/** What stands in the editor: a mark behind a comment that is right, else the texts under the line. */
export function outputComparisonMessages(rows: OutputRow[], say: Translate, go: (step: number) => void): LineMessage[] {
  return rows.map((row) => ({
    line: row.line,
    kind: "output" as const,
    text: JSON.stringify(row),
    inline: row.comment && row.verdict !== "different",
    render: () => outputComparisonElement(row, say, go),
  }));
}

function outputComparisonElement(row: OutputRow, say: Translate, go: (step: number) => void): HTMLElement {
  const { step, comment, verdict } = row;
  const inline = comment && verdict !== "different";
  const box = document.createElement(step !== null ? "button" : inline ? "span" : "div");
  box.className = `beside ${CLASS_BY_OUTPUT_VERDICT[verdict]}${inline ? " behind" : ""}`;
  if (box instanceof HTMLButtonElement && step !== null) {
    box.type = "button";
    box.title = say("beside_go");
    box.addEventListener("click", () => go(step));
  }
  const verdictText = say(row.partly ? "beside_partly" : `beside_${CLASS_BY_OUTPUT_VERDICT[verdict]}`);
  const verdictElement = spanElement("verdict", inline ? "" : verdictText);
  if (inline) {
    verdictElement.dataset.word = verdictText; // in the style sheet's hands: the line's text is the program's alone
    box.setAttribute("aria-label", verdictText);
    if (step === null) box.setAttribute("role", "note");
  }
  if (verdict === "different") {
    const from = say(comment ? "beside_comment" : "beside_article");
    box.append(spanElement("from", from), spanElement("text", row.expected), verdictElement);
    box.append(
      spanElement("from", "torch"),
      spanElement(row.got ? "text" : "text nothing", row.got || say("beside_nothing")),
    );
  } else if (inline) box.append(verdictElement);
  else box.append(spanElement("text", row.expected), verdictElement);
  return box;
}

function spanElement(name: string, text: string) {
  const element = document.createElement("span");
  element.className = name;
  element.textContent = text;
  return element;
}

/** How many are the same; each number leads from one of its steps to the next. */
export function showOutputSummary(
  host: HTMLElement,
  rows: OutputRow[],
  say: Translate,
  { current, go }: { current: () => number; go: (step: number) => void },
) {
  host.hidden = !rows.length;
  const countElements = (["different", "same", "not reached"] as OutputRow["verdict"][]).map((verdict) => {
    const matching = rows.filter((row) => row.verdict === verdict);
    const text = say(`outputs_${CLASS_BY_OUTPUT_VERDICT[verdict]}`, { n: matching.length });
    const steps = matching.flatMap(({ step }) => step ?? []);
    if (!matching.length) return "";
    if (!steps.length) return spanElement(CLASS_BY_OUTPUT_VERDICT[verdict], text);
    const button = document.createElement("button");
    button.type = "button";
    button.className = `link ${CLASS_BY_OUTPUT_VERDICT[verdict]}`;
    button.textContent = text;
    button.addEventListener("click", () => go(steps.find((step) => step > current()) ?? steps[0]));
    return button;
  });
  host.replaceChildren(say("outputs_title"), ...countElements.filter(Boolean).flatMap((group) => [" ", group]));
}
