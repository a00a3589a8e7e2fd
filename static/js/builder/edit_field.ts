/** A card's own text in a field, in its place. */

import { createElement } from "../browser/elements.ts";

interface EditFieldOptions {
  label: string;
  /** returns why the text can not stand there, or null where it stands there now */
  commit: (text: string) => string | null;
  /** the field is gone, and the text is what it was */
  close: () => void;
}

/** Opens the field on a card. */
export function openCardEditField(card: HTMLElement, text: string, { label, commit, close }: EditFieldOptions) {
  const form = createElement("div", "card-edit");
  const field = createElement("textarea", "") as HTMLTextAreaElement;
  field.value = text;
  field.rows = Math.max(1, text.split("\n").length);
  field.spellcheck = false;
  field.autocapitalize = "off";
  field.setAttribute("aria-label", label);
  const problem = createElement("p", "card-problem");
  problem.setAttribute("role", "alert");
  form.append(field, problem);
  const cards = card.closest(".program-cards");
  card.classList.add("editing");
  cards?.classList.add("has-field");
  card.prepend(form);
  let isOpen = true;

  function closeField() {
    isOpen = false;
    form.remove();
    card.classList.remove("editing");
    cards?.classList.toggle("has-field", cards.querySelector(".editing") !== null);
  }

  function submit() {
    if (!isOpen) return;
    if (field.value === text) return cancel();
    isOpen = false; // a field that is taken away loses the focus
    const refused = commit(field.value);
    if (refused === null) return closeField();
    isOpen = true;
    problem.textContent = refused;
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }

  function cancel() {
    closeField();
    close();
  }

  field.addEventListener("input", () => {
    field.rows = Math.max(1, field.value.split("\n").length);
    problem.textContent = "";
    field.removeAttribute("aria-invalid");
  });
  field.addEventListener("keydown", (event) => {
    if (!((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k")) event.stopPropagation();
    if (event.isComposing) return;
    if (event.key === "Escape") cancel();
    else if (event.key === "Enter" && !event.shiftKey) submit();
    else return;
    event.preventDefault();
  });
  field.addEventListener("blur", () => isOpen && submit());
  field.focus();
  field.setSelectionRange(text.length, text.length);
}
