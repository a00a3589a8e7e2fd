/** Elements of the document made from texts. */

export function element(name: string, className: string, text = "") {
  const created = document.createElement(name);
  if (className) created.className = className;
  if (text) created.textContent = text;
  return created;
}

/** A sentence whose names stand in backticks, as nodes. */
export function nodesWithCode(text: string): (string | HTMLElement)[] {
  return text.split("`").map((part, i) => (i % 2 ? element("code", "", part) : part));
}

/** A paragraph whose names stand in backticks. */
export function paragraphWithCode(className: string, text: string) {
  const paragraph = element("p", className);
  paragraph.append(...nodesWithCode(text));
  return paragraph;
}

/**
 * @param onClick none where the list around it listens
 * @param more key: shown behind the text; label: what it is called where its text is a sign
 */
export function button(
  className: string,
  text: string,
  onClick?: () => void,
  { key = "", label = "" }: { key?: string; label?: string } = {},
): HTMLButtonElement {
  const created = element("button", className, text) as HTMLButtonElement;
  created.type = "button";
  if (key) created.append(" ", element("kbd", "", key));
  if (label) {
    created.title = label;
    created.setAttribute("aria-label", label);
  }
  if (onClick) created.addEventListener("click", onClick);
  return created;
}

/** Writes a text where another stands: the same one written again would be laid out again. */
export function setText(target: Element, text: string) {
  if (target.textContent !== text) target.textContent = text;
}
