/** The command palette: a dialog with a field to search in and the list of what is found, walked by keys. */

import { element } from "../elements.js";
import { showThumbnails } from "../thumbnails.js";
import { search } from "./match.js";

/** @typedef {import("./match.js").Group} Group */
/** @typedef {import("./match.js").Entry} Entry */

/** @param {import("../sentences.js").Locale["say"]} say */
function createPaletteElements(say) {
  const dialog = /** @type {HTMLDialogElement} */ (element("dialog", "command-palette"));
  dialog.setAttribute("aria-label", say("palette_title"));
  const field = /** @type {HTMLInputElement} */ (element("input", ""));
  const list = element("div", "command-list");
  const status = element("p", "command-told");
  const problem = element("p", "command-problem");
  const closer = /** @type {HTMLButtonElement} */ (element("button", "quiet", "✕"));
  list.id = "command-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", say("palette_title"));
  status.setAttribute("role", "status");
  problem.setAttribute("role", "alert");
  problem.hidden = true;
  closer.type = "button";
  closer.setAttribute("aria-label", say("palette_close"));
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
  const find = element("div", "command-find");
  find.append(field, closer);
  const foot = element("p", "command-keys");
  foot.setAttribute("aria-hidden", "true");
  for (const [key, what] of Object.entries({ "↑ ↓": "walk", "⏎": "choose", Esc: "close" }))
    foot.append(element("kbd", "", key), ` ${say(`palette_key_${what}`)}  `);
  dialog.append(find, problem, list, status, foot);
  document.body.append(dialog);
  return { dialog, field, list, status, problem, closer };
}

/** @param {import("../sentences.js").Locale["say"]} say */
export function createPalette(say) {
  const { dialog, field, list, status, problem, closer } = createPaletteElements(say);
  /** @type {Group[]} */
  let groups = [];
  /** @type {{entry: Entry, option: HTMLElement}[]} what is listed, in order */
  let listed = [];
  let at = 0;

  /** @param {number} i */
  function select(i) {
    at = Math.max(0, Math.min(i, listed.length - 1));
    listed.forEach(({ option }, k) => {
      option.setAttribute("aria-selected", String(k === at));
    });
    const option = listed[at]?.option;
    if (!option) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", option.id);
    if (at === 0) list.scrollTop = 0;
    else option.scrollIntoView({ block: "nearest" });
  }

  function show() {
    listed = [];
    list.replaceChildren(
      ...search(field.value, groups).map(({ name, entries }) => {
        const group = element("div", "command-group");
        group.setAttribute("role", "group");
        group.setAttribute("aria-label", say(`palette_${name}`));
        const heading = element("p", "", say(`palette_${name}`));
        heading.setAttribute("role", "presentation");
        const options = entries.map((entry) => ({ entry, option: optionOf(entry, name) }));
        listed.push(...options);
        group.append(heading, ...options.map(({ option }) => option));
        return group;
      }),
    );
    showThumbnails(list);
    status.textContent = listed.length ? say("palette_count", { n: listed.length }) : say("palette_none");
    select(0);
  }

  /** The focus goes back to where it was; a browser leaves it in the field for a frame where it was nowhere. */
  function close() {
    dialog.close();
    field.blur();
  }

  /** @param {Entry | undefined} entry */
  function choose(entry) {
    if (!entry) return;
    close(); // before the command takes the focus
    entry.run();
  }

  field.addEventListener("input", () => {
    problem.hidden = true;
    show();
  });
  dialog.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.isComposing) return;
    const isAgain = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    const to = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: listed.length - 1,
      PageDown: at + 8,
      PageUp: at - 8,
    }[event.key];
    if (isAgain || event.key === "Escape") close();
    else if (event.target !== field) return;
    else if (to !== undefined && listed.length) select(to);
    else if (event.key === "Enter") choose(listed[at]?.entry);
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const option = target?.closest("[role=option]");
    if (target === dialog || target === closer)
      close(); // the backdrop is the dialog's
    else if (option) choose(listed.find((row) => row.option === option)?.entry);
  });
  list.addEventListener("pointermove", (event) => {
    const option = event.target instanceof Element ? event.target.closest("[role=option]") : null;
    const i = listed.findIndex((row) => row.option === option);
    if (event.pointerType === "mouse" && i >= 0 && i !== at) select(i);
  });

  return {
    /** @param {Group[]} offered */
    open(offered) {
      groups = offered;
      field.value = "";
      problem.hidden = true;
      if (!dialog.open) dialog.showModal();
      show();
      field.focus();
    },
    /** Lists more, while the reader is at it. @param {Group[]} offered */
    extend(offered) {
      groups = offered;
      if (!dialog.open) return;
      const { id } = listed[at]?.entry ?? {};
      show();
      select(listed.findIndex(({ entry }) => entry.id === id));
    },
    /** Says why nothing was done, with the search as it was. @param {string} text */
    showProblem(text) {
      if (!dialog.open) dialog.showModal();
      problem.textContent = text;
      problem.hidden = false;
      field.focus();
    },
  };
}

/** @param {string} address */
function thumbnailOf(address) {
  const image = /** @type {HTMLImageElement} */ (element("img", "operation-thumbnail"));
  Object.assign(image, { alt: "", width: 192, height: 40, loading: "lazy" });
  image.dataset.thumbnail = address;
  return image;
}

/** @param {Entry} entry @param {string} group */
function optionOf({ id, label, note, keys, thumbnail }, group) {
  const option = element("div", "command");
  option.id = id;
  option.setAttribute("role", "option");
  option.append(element(group === "operations" ? "code" : "span", "command-label", label));
  if (keys) option.append(element("kbd", "", keys));
  if (note) option.append(element("p", "", note));
  if (thumbnail) option.append(thumbnailOf(thumbnail));
  return option;
}
