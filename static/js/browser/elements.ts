/** Elements of the document made from texts. */

export function createElement(name: string, className: string, text = "") {
  const created = document.createElement(name);
  if (className) created.className = className;
  if (text) created.textContent = text;
  return created;
}

/** A sentence whose names stand in backticks, as nodes. */
export function nodesWithCode(text: string): (string | HTMLElement)[] {
  return text.split("`").map((part, i) => (i % 2 ? createElement("code", "", part) : part));
}

/** A paragraph whose names stand in backticks. */
export function paragraphWithCode(className: string, text: string) {
  const paragraph = createElement("p", className);
  paragraph.append(...nodesWithCode(text));
  return paragraph;
}

/**
 * Without `onClick` the list around the button listens. `key` is shown behind the text; `label` is the button's name
 * where its text is a sign.
 */
export function createButton(
  className: string,
  text: string,
  onClick?: () => void,
  { key = "", label = "" }: { key?: string; label?: string } = {},
): HTMLButtonElement {
  const created = createElement("button", className, text) as HTMLButtonElement;
  created.type = "button";
  if (key) created.append(" ", createElement("kbd", "", key));
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

/**
 * Calls back while an element is pointed at or has the focus. An element that comes under a resting pointer is not
 * pointed at: after a run that would be a card that nobody asked.
 */
export function onHoverOrFocus(target: HTMLElement, begin: () => void, end: () => void) {
  let isPointedAt = false;
  target.addEventListener("pointermove", ({ movementX, movementY }) => {
    if (isPointedAt || (!movementX && !movementY)) return;
    isPointedAt = true;
    begin();
  });
  target.addEventListener("pointerleave", () => {
    isPointedAt = false;
    end();
  });
  target.addEventListener("focus", begin);
  target.addEventListener("blur", end);
}
