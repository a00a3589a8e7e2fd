/** The command palette: a dialog with a field to search in and the list of what is found, walked by keys. */

import { createElement } from "../browser/elements.ts";
import { loadThumbnails } from "../browser/thumbnails.ts";
import { searchPaletteEntries, type PaletteEntry, type PaletteEntryGroup } from "./match.ts";
import type { Locale } from "../words/sentences.ts";

function createPaletteElements(say: Locale["say"]) {
  const dialog = createElement("dialog", "command-palette") as HTMLDialogElement;
  dialog.setAttribute("aria-label", say("palette_title"));
  const field = createElement("input", "") as HTMLInputElement;
  const list = createElement("div", "command-list");
  const status = createElement("p", "command-told");
  const problem = createElement("p", "command-problem");
  const closeButton = createElement("button", "quiet", "✕") as HTMLButtonElement;
  list.id = "command-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", say("palette_title"));
  status.setAttribute("role", "status");
  problem.setAttribute("role", "alert");
  problem.hidden = true;
  closeButton.type = "button";
  closeButton.setAttribute("aria-label", say("palette_close"));
  for (const [name, value] of Object.entries({
    type: "text",
    role: "combobox",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-autocomplete": "list",
    "aria-expanded": "true",
    "aria-controls": list.id,
    "aria-label": say("palette_find"),
    placeholder: say("palette_find"),
  }))
    field.setAttribute(name, value);
  const findBar = createElement("div", "command-find");
  findBar.append(field, closeButton);
  const foot = createElement("p", "command-keys");
  foot.setAttribute("aria-hidden", "true");
  for (const [key, label] of Object.entries({ "↑ ↓": "walk", "⏎": "choose", Esc: "close" }))
    foot.append(createElement("kbd", "", key), ` ${say(`palette_key_${label}`)}  `);
  dialog.append(findBar, problem, list, status, foot);
  document.body.append(dialog);
  return { dialog, field, list, status, problem, closer: closeButton };
}

export function createCommandPalette(say: Locale["say"]) {
  const { dialog, field, list, status, problem, closer: closeButton } = createPaletteElements(say);
  let groups: PaletteEntryGroup[] = [];
  /** what is listed, in order */
  let listedOptions: { entry: PaletteEntry; option: HTMLElement }[] = [];
  let selectedIndex = 0;

  function select(i: number) {
    selectedIndex = Math.max(0, Math.min(i, listedOptions.length - 1));
    listedOptions.forEach(({ option }, k) => {
      option.setAttribute("aria-selected", String(k === selectedIndex));
    });
    const option = listedOptions[selectedIndex]?.option;
    if (!option) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", option.id);
    if (selectedIndex === 0) list.scrollTop = 0;
    else option.scrollIntoView({ block: "nearest" });
  }

  function showMatches() {
    listedOptions = [];
    list.replaceChildren(
      ...searchPaletteEntries(field.value, groups).map(({ name, entries }) => {
        const group = createElement("div", "command-group");
        group.setAttribute("role", "group");
        group.setAttribute("aria-label", say(`palette_${name}`));
        const heading = createElement("p", "", say(`palette_${name}`));
        heading.setAttribute("role", "presentation");
        const options = entries.map((entry) => ({ entry, option: entryOptionElement(entry, name) }));
        listedOptions.push(...options);
        group.append(heading, ...options.map(({ option }) => option));
        return group;
      }),
    );
    loadThumbnails(list);
    status.textContent = listedOptions.length ? say("palette_count", { n: listedOptions.length }) : say("palette_none");
    select(0);
  }

  /** The focus goes back to where it was; a browser leaves it in the field for a frame where it was nowhere. */
  function close() {
    dialog.close();
    field.blur();
  }

  function choose(entry: PaletteEntry | undefined) {
    if (!entry) return;
    close(); // before the command takes the focus
    entry.run();
  }

  field.addEventListener("input", () => {
    problem.hidden = true;
    showMatches();
  });
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.isComposing) return;
    const isPaletteKey = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    const nextIndex = {
      ArrowDown: selectedIndex + 1,
      ArrowUp: selectedIndex - 1,
      Home: 0,
      End: listedOptions.length - 1,
      PageDown: selectedIndex + 8,
      PageUp: selectedIndex - 8,
    }[event.key];
    if (isPaletteKey || event.key === "Escape") close();
    else if (event.target !== field) return;
    else if (nextIndex !== undefined && listedOptions.length) select(nextIndex);
    else if (event.key === "Enter") choose(listedOptions[selectedIndex]?.entry);
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const option = target?.closest("[role=option]");
    if (target === dialog || target === closeButton)
      close(); // the backdrop is the dialog's
    else if (option) choose(listedOptions.find((row) => row.option === option)?.entry);
  });
  list.addEventListener("pointermove", (event) => {
    const option = event.target instanceof Element ? event.target.closest("[role=option]") : null;
    const i = listedOptions.findIndex((row) => row.option === option);
    if (event.pointerType === "mouse" && i >= 0 && i !== selectedIndex) select(i);
  });

  return {
    open(newGroups: PaletteEntryGroup[]) {
      groups = newGroups;
      field.value = "";
      problem.hidden = true;
      if (!dialog.open) dialog.showModal();
      showMatches();
      field.focus();
    },
    /** Lists more, while the reader is at it. */
    extend(newGroups: PaletteEntryGroup[]) {
      groups = newGroups;
      if (!dialog.open) return;
      const { id } = listedOptions[selectedIndex]?.entry ?? {};
      showMatches();
      select(listedOptions.findIndex(({ entry }) => entry.id === id));
    },
    /** Says why nothing was done, with the search as it was. */
    showProblem(text: string) {
      if (!dialog.open) dialog.showModal();
      problem.textContent = text;
      problem.hidden = false;
      field.focus();
    },
  };
}

function thumbnailElement(address: string) {
  const image = createElement("img", "operation-thumbnail") as HTMLImageElement;
  Object.assign(image, { alt: "", width: 192, height: 40 });
  image.dataset.thumbnail = address;
  return image;
}

function entryOptionElement({ id, label, note, keys, thumbnail }: PaletteEntry, group: string) {
  const option = createElement("div", "command");
  option.id = id;
  option.setAttribute("role", "option");
  option.append(createElement(group === "operations" ? "code" : "span", "command-label", label));
  if (keys) option.append(createElement("kbd", "", keys));
  if (note) option.append(createElement("p", "", note));
  if (thumbnail) option.append(thumbnailElement(thumbnail));
  return option;
}
