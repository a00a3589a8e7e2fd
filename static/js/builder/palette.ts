/**
 * The palette at a place of the program, and the form of the operation that was chosen there: partials of the server's.
 */

import { ROOT } from "../requests/root.ts";
import { element } from "../browser/elements.ts";
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

/** An event of an element, the next one of its kind. */
function eventOnce(target: HTMLElement, type: string) {
  return new Promise<Event>((resolve) => target.addEventListener(type, resolve, { once: true }));
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
  const row = element("li", "card-row card-palette") as HTMLLIElement;
  row.setAttribute("aria-label", label);
  row.tabIndex = -1;
  const host = element("div", "palette-host");
  row.append(host);
  const queryValues = { alive: JSON.stringify(aliveNames), line: String(line), lang: document.documentElement.lang };
  let draft: StatementDraft | null = null;
  /** what the fields held when the server was asked; null where no answer is on its way */
  let askedWith: string | null = null;
  /** what the fields held in the question that is answered by what is shown */
  let answeredWith: string | null = null;
  /** the answer is there, and nothing of it is selected yet */
  let isSettling = false;
  /** how often Enter was pressed before the answer to what the fields hold was there */
  let entersWaiting = 0;
  /** what was typed while there was no field yet */
  let typedEarly = "";

  /**
   * Fetches a part of the palette; meanwhile the keyboard is the row's, which keeps what is typed for the field to
   * come.
   */
  async function loadPartial(path: string) {
    typedEarly = "";
    row.focus({ preventScroll: true });
    const query = new URLSearchParams(queryValues);
    const swapped = eventOnce(host, "htmx:afterSwap");
    const settled = eventOnce(host, "htmx:afterSettle"); // the fields listen from then on
    try {
      const { default: htmx } = await import("htmx.org");
      await htmx.ajax("get", `${ROOT}/builder/${path}?${query}`, { target: host, swap: "innerHTML" });
    } catch {
      // as if the server had answered with an error
    }
    if (!(await Promise.race([swapped, Promise.resolve(null)]))) return onFailed();
    await settled;
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
    !isSettling && (searchField() !== null || cardForm() !== null) && fieldTexts() === answeredWith;

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
    await loadPartial(`form/${encodeURIComponent(operation)}`);
    const firstField =
      row.querySelector("input:checked") ??
      row.querySelector(".card-form input:not([type=hidden])") ??
      row.querySelector("[type=submit]");
    if (firstField instanceof HTMLElement) firstField.focus();
    typedEarly = "";
  }

  /** What Enter does: now, or once the server has answered what the fields hold. */
  function enter() {
    entersWaiting++;
    if (isAnswered()) doWhatWaits();
    else if (!isSettling && fieldTexts() !== askedWith)
      cardForm()?.dispatchEvent(new Event("change", { bubbles: true })); // asks at once
  }

  function doWhatWaits() {
    if (!entersWaiting || !isAnswered()) return;
    entersWaiting--;
    if (cardForm()) submit();
    else void openForm(selectedOption()?.dataset.operation);
  }

  function submit() {
    if (!draft) return;
    const refusal = add(draft);
    if (refusal === null) return;
    const problem = element("p", "form-problem", refusal);
    problem.setAttribute("role", "alert");
    row.querySelector(".form-buttons")?.before(problem);
  }

  row.addEventListener("htmx:beforeRequest", () => {
    askedWith = fieldTexts();
  });
  row.addEventListener("htmx:beforeSwap", (event) => {
    if (event.target === host) return;
    // What the fields no longer hold needs no answer: it would take away what was typed since. Nor does a button go
    // away between press and click, for the click would be lost: it asks again.
    const isPressed = row.querySelector("[type=submit]:active") !== null;
    if (fieldTexts() === askedWith && !isPressed) return;
    (event as CustomEvent).detail.shouldSwap = false;
    askedWith = null;
  });
  for (const type of ["htmx:responseError", "htmx:sendError"])
    row.addEventListener(type, () => {
      entersWaiting = 0;
      askedWith = null;
      onFailed();
    });
  row.addEventListener("htmx:afterSwap", () => {
    askedWith = null;
    answeredWith = fieldTexts();
    isSettling = true;
  });
  row.addEventListener("htmx:afterSettle", () => {
    isSettling = false;
    loadThumbnails(row);
    const form = cardForm();
    row.scrollIntoView({ block: "nearest" });
    if (form) showDraftOf(form);
    else if (document.activeElement === searchField()) select(optionElements()[0]);
    if (!typedEarly) doWhatWaits();
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
      await loadPartial("palette");
      const field = searchField();
      field?.focus();
      if (field && typedEarly) {
        field.value = typedEarly;
        typedEarly = "";
        field.dispatchEvent(new Event("input", { bubbles: true }));
      } else select(optionElements()[0]);
      doWhatWaits();
    },
  };
}
