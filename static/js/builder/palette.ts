/**
 * The palette at a place of the program, and the form of the operation that was chosen there: partials of the server's.
 */

import { SERVER_ROOT } from "../requests/root.ts";
import { createElement } from "../browser/elements.ts";
import { loadThumbnails } from "../browser/thumbnails.ts";
import type { AliveName } from "./alive_names.ts";

/** what would be added */
export interface StatementDraft {
  statement: string;
  imports: string[];
}

interface OperationPaletteOptions {
  /** from 1, after which the card goes */
  line: number;
  alive: AliveName[];
  label: string;
  /** the draft that the reader is at */
  preview: (draft: StatementDraft | null) => void;
  /** puts it into the program, or says why it can not */
  add: (draft: StatementDraft) => string | null;
  /** nothing happened */
  close: () => void;
  failed: () => void;
}

const SEARCH_AFTER_MS = 90;
const FORM_AFTER_MS = 200;

/** Once no button is held down: a form that goes away in between takes the click along. */
function whenPointerReleased(row: HTMLElement): Promise<void> | null {
  if (!row.querySelector("[type=submit]:active")) return null;
  return new Promise((resolve) => addEventListener("pointerup", () => setTimeout(resolve), { once: true }));
}

/** Puts a part in the place of one, with the cursor where it was. */
function replacePart(part: Element | null, next: Element | null) {
  const { id, selectionStart: start, selectionEnd: end } = document.activeElement as HTMLInputElement;
  if (next) part?.replaceWith(next);
  const field = id ? next?.querySelector<HTMLInputElement>(`#${CSS.escape(id)}`) : null;
  field?.focus({ preventScroll: true });
  if (Number.isInteger(start)) field?.setSelectionRange(start, end);
}

/** `start` is called once the row is in the list. */
export function openOperationPalette({
  line,
  alive: aliveNames,
  label,
  preview,
  add,
  close,
  failed: onFailed,
}: OperationPaletteOptions): { row: HTMLLIElement; start: (operation?: string) => Promise<void> } {
  const row = createElement("li", "card-row card-palette") as HTMLLIElement;
  row.setAttribute("aria-label", label);
  row.tabIndex = -1;
  const host = createElement("div", "palette-host");
  row.append(host);
  const place = { alive: JSON.stringify(aliveNames), line: String(line), lang: document.documentElement.lang };
  let draft: StatementDraft | null = null;
  /** the question that has no answer yet */
  let question: AbortController | null = null;
  let timer = 0;
  /** what the fields held in the question that is answered by what is shown */
  let answeredWith: string | null = null;
  /** how often Enter was pressed before the answer to what the fields hold was there */
  let entersWaiting = 0;
  /** what was typed while there was no field yet */
  let typedEarly = "";

  /**
   * Asks the server for a part of the palette; of several questions only the last one is answered.
   * `show` puts it into the row. Returns whether it is there.
   */
  async function ask(path: string, fields: string[][], show: (part: DocumentFragment) => void): Promise<boolean> {
    forgetQuestion();
    const asked = new AbortController();
    question = asked;
    try {
      const query = new URLSearchParams([...Object.entries(place), ...fields]);
      const response = await fetch(`${SERVER_ROOT}/builder/${path}?${query}`, { signal: asked.signal });
      if (!response.ok) throw new Error(String(response.status));
      const part = document.createRange().createContextualFragment(await response.text());
      await whenPointerReleased(row);
      if (question !== asked) return false;
      question = null;
      show(part);
    } catch {
      if (question !== asked) return false;
      question = null;
      entersWaiting = 0;
      onFailed();
      return false;
    }
    answeredWith = fieldTexts();
    loadThumbnails(row);
    row.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** What the fields no longer hold needs no answer: it would take away what was typed since. */
  function forgetQuestion() {
    clearTimeout(timer);
    question?.abort();
    question = null;
  }

  /** Asks for what fits what the fields hold. */
  async function refreshFromFields() {
    const form = cardForm();
    const fields = form
      ? [...new FormData(form)].map((field) => field.map(String))
      : [["q", searchField()?.value ?? ""]];
    const replaced = form ? "form" : "#palette-list";
    const isThere = await ask(form ? `form/${form.dataset.operation}` : "palette", fields, (part) =>
      replacePart(row.querySelector(replaced), part.querySelector(replaced)),
    );
    if (!isThere) return;
    if (form) showDraftOf(cardForm());
    else select(optionElements()[0]);
    runPendingEnter();
  }

  /**
   * Puts another part in the place of all; meanwhile the keyboard is the row's, which keeps what is typed for the field
   * to come.
   */
  function open(path: string) {
    typedEarly = "";
    row.focus({ preventScroll: true });
    return ask(path, [], (part) => host.replaceChildren(part));
  }

  const searchField = () => row.querySelector<HTMLInputElement>("#palette-q");
  const cardForm = () => row.querySelector<HTMLFormElement>(".card-form");

  /** What the fields hold now. */
  function fieldTexts() {
    const form = cardForm();
    const texts = form ? [...new FormData(form)].map(([name, value]) => `${name}=${value}`) : [searchField()?.value];
    return texts.join("\n");
  }

  /** Whether what is shown answers what the fields hold. */
  const isAnswered = () =>
    question === null && (searchField() !== null || cardForm() !== null) && fieldTexts() === answeredWith;

  /** `from` is the element with the statement. */
  function showDraftOf(from: HTMLElement | null) {
    const { statement = "", imports = "" } = from?.dataset ?? {};
    const modules = [...(/\btorch\./.test(statement) ? ["torch"] : []), ...imports.split(",").filter(Boolean)];
    draft = statement ? { statement, imports: modules.map((name) => `import ${name}`) } : null;
    preview(draft);
  }

  const optionElements = () => [...row.querySelectorAll("[data-operation][role=option]")] as HTMLElement[];

  function select(option: HTMLElement | undefined) {
    for (const other of optionElements()) other.setAttribute("aria-selected", String(other === option));
    const field = searchField();
    if (!option || !field) return showDraftOf(null);
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
    showDraftOf(option);
  }

  const isSelected = (option: HTMLElement) => option.getAttribute("aria-selected") === "true";
  const selectedOption = () => optionElements().find(isSelected);

  function moveSelection(offset: number) {
    const allOptions = optionElements();
    const selectedIndex = allOptions.findIndex(isSelected);
    select(allOptions[Math.max(0, Math.min(allOptions.length - 1, selectedIndex + offset))]);
  }

  async function openForm(operation: string | undefined) {
    if (!operation) return;
    if (!(await open(`form/${encodeURIComponent(operation)}`))) return;
    const firstField =
      row.querySelector("input:checked") ??
      row.querySelector(".card-form input:not([type=hidden])") ??
      row.querySelector("[type=submit]");
    if (firstField instanceof HTMLElement) firstField.focus();
    typedEarly = "";
    showDraftOf(cardForm());
    runPendingEnter();
  }

  /** What Enter does: now, or once the server has answered what the fields hold. */
  function enter() {
    entersWaiting++;
    if (isAnswered()) runPendingEnter();
    else if (question === null) void refreshFromFields();
  }

  function runPendingEnter() {
    if (!entersWaiting || !isAnswered()) return;
    entersWaiting--;
    if (cardForm()) submit();
    else void openForm(selectedOption()?.dataset.operation);
  }

  function submit() {
    if (!draft) return;
    const refusal = add(draft);
    if (refusal === null) return;
    const problem = createElement("p", "form-problem", refusal);
    problem.setAttribute("role", "alert");
    row.querySelector(".form-buttons")?.before(problem);
  }

  row.addEventListener("input", () => {
    forgetQuestion();
    timer = window.setTimeout(refreshFromFields, cardForm() ? FORM_AFTER_MS : SEARCH_AFTER_MS);
  });
  row.addEventListener("change", () => {
    if (cardForm()) void refreshFromFields();
  });
  row.addEventListener("submit", (event) => {
    event.preventDefault();
    enter();
  });
  row.addEventListener("click", (event) => {
    event.stopPropagation();
    const pointed = event.target instanceof Element ? event.target : null;
    const option = pointed?.closest("[data-operation][role=option]") as HTMLElement | null;
    const alternative = pointed?.closest("[data-instead]") as HTMLElement | null;
    if (pointed?.closest("[data-cancel]")) close();
    else if (option) void openForm(option.dataset.operation);
    else if (alternative) void openForm(alternative.dataset.instead);
  });
  row.addEventListener("pointermove", (event) => {
    const option = event.target instanceof Element ? event.target.closest("[data-operation][role=option]") : null;
    if (
      option instanceof HTMLElement &&
      option.getAttribute("aria-selected") !== "true" &&
      event.pointerType === "mouse"
    )
      select(option);
  });
  row.addEventListener("keydown", (event) => {
    const isChord = event.ctrlKey || event.metaKey;
    if (!isChord || /^[zy]$/i.test(event.key)) event.stopPropagation(); // the page has commands for the others
    if (event.isComposing || isChord) return;
    const isSearch = event.target === searchField();
    if (event.key === "Escape") close();
    else if (event.target === row && typeEarly(event.key)) return event.preventDefault();
    else if (isSearch && event.key === "ArrowDown") moveSelection(1);
    else if (isSearch && event.key === "ArrowUp") moveSelection(-1);
    else if (event.key === "Enter" && event.target instanceof HTMLInputElement) enter();
    else return;
    event.preventDefault();
  });
  /** A key that is pressed before its field is there. Returns whether it is kept for the field. */
  function typeEarly(key: string): boolean {
    if (key === "Enter") entersWaiting++;
    else if (key === "Backspace") typedEarly = typedEarly.slice(0, -1);
    else if (key.length === 1)
      typedEarly += entersWaiting ? "" : key; // what follows Enter is for what comes then
    else return false;
    return true;
  }

  return {
    row,
    /** The form of `operation` is opened at once. */
    async start(operation?: string) {
      if (operation) return openForm(operation);
      if (!(await open("palette"))) return;
      const field = searchField();
      field?.focus();
      if (field && typedEarly) {
        field.value = typedEarly;
        typedEarly = "";
        field.dispatchEvent(new Event("input", { bubbles: true }));
      } else select(optionElements()[0]);
      runPendingEnter();
    },
  };
}
