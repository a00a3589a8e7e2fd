/** The palette at a place of the program, and the form of the operation that was chosen there: partials of the server's. */

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

/** @returns start: once the row is in the list */
export async function openOperationPalette({
  line,
  alive: aliveNames,
  label,
  preview,
  add,
  close,
  failed: onFailed,
}: OperationPaletteOptions): Promise<{ row: HTMLLIElement; start: (operation?: string) => Promise<void> }> {
  const { default: htmx } = await import("htmx.org");
  const row = element("li", "card-row card-palette") as HTMLLIElement;
  row.setAttribute("aria-label", label);
  const host = element("div", "palette-host");
  row.append(host);
  const queryValues = { alive: JSON.stringify(aliveNames), line: String(line), lang: document.documentElement.lang };
  let draft: StatementDraft | null = null;

  async function loadPartial(path: string, extraValues: Record<string, string> = {}) {
    const query = new URLSearchParams({ ...queryValues, ...extraValues });
    await htmx.ajax("get", `${ROOT}/builder/${path}?${query}`, { target: host, swap: "innerHTML" }).catch(onFailed);
  }

  /** @param from what has the statement */
  function showDraftOf(from: HTMLElement | null) {
    const { statement = "", imports = "" } = from?.dataset ?? {};
    draft = statement
      ? { statement, imports: imports ? imports.split(",").map((name) => `import ${name}`) : [] }
      : null;
    preview(draft);
  }

  const optionElements = () => [...row.querySelectorAll("[data-operation][role=option]")] as HTMLElement[];

  function select(option: HTMLElement | undefined) {
    for (const other of optionElements()) other.setAttribute("aria-selected", String(other === option));
    const field = row.querySelector("#palette-q");
    if (!option || !field) return showDraftOf(null);
    field.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
    showDraftOf(option);
  }

  function moveSelection(offset: number) {
    const allOptions = optionElements();
    const selectedIndex = allOptions.findIndex((option) => option.getAttribute("aria-selected") === "true");
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
  }

  function submit() {
    if (!draft) return;
    const refusal = add(draft);
    if (refusal === null) return;
    const problem = element("p", "form-problem", refusal);
    problem.setAttribute("role", "alert");
    row.querySelector(".form-buttons")?.before(problem);
  }

  row.addEventListener("htmx:afterSettle", () => {
    loadThumbnails(row);
    const form = row.querySelector(".card-form") as HTMLElement | null;
    row.scrollIntoView({ block: "nearest" });
    if (form) showDraftOf(form);
    else if (document.activeElement?.id === "palette-q") select(optionElements()[0]);
  });
  row.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
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
    const isSearch = event.target instanceof Element && event.target.id === "palette-q";
    if (event.key === "Escape") close();
    else if (isSearch && event.key === "ArrowDown") moveSelection(1);
    else if (isSearch && event.key === "ArrowUp") moveSelection(-1);
    else if (isSearch && event.key === "Enter")
      void openForm(
        optionElements().find((option) => option.getAttribute("aria-selected") === "true")?.dataset.operation,
      );
    else if (event.key === "Enter" && event.target instanceof HTMLInputElement) submit();
    else return;
    event.preventDefault();
  });
  return {
    row,
    /** @param operation whose form is opened at once */
    async start(operation?: string) {
      if (operation) return openForm(operation);
      await loadPartial("palette");
      const field = row.querySelector("#palette-q");
      if (field instanceof HTMLElement) field.focus();
      select(optionElements()[0]);
    },
  };
}
