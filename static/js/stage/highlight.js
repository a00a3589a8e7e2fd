/** Highlighting: what is pointed at, or else what was selected, together with everything that it belongs to. */

import { addToList } from "../trace/multimap.js";
import { KEY_ATTRIBUTES, keysOf } from "./relatives.js";

/** What can be pointed at. */
export const HIGHLIGHTABLE_SELECTOR =
  "[data-cell],[data-bead],[data-handle],[data-name],[data-path],[data-slot],[data-pin],[data-node],[data-edge],[data-counter-badge],[data-item],[data-object],[data-block],[data-fold]";

/** What may belong to it. */
const KEYED_SELECTOR = KEY_ATTRIBUTES.map((name) => `[data-${name}]`).join(",");

/** Cells after this one are highlighted without a delay of their own. */
const MAX_DELAYED_CELLS = 40;

/** What of a drawn element can be selected, by the first that it has. */
const SELECTABLE_ATTRIBUTES = [
  "handle",
  "name",
  "path",
  "slot",
  "pin",
  "node",
  "edge",
  "counter-badge",
  "item",
  "object",
  "bead",
  "block",
];

/**
 * A selection is called after what it is of, like `handle:t3`, and holds at every step where that is drawn.
 * @param {Element} root
 * @param {(attribute: import("./relatives.js").Attributes) => string[]} relatives the keys of everything that a drawn
 *   element belongs to, at the step that is drawn
 * @param {(key: string | null) => void} [onChoose] called with what the reader chooses; without it that is selected
 */
export function createHighlight(root, relatives, onChoose) {
  /** @type {Element | null} what is pointed at */
  let pointedElement = null;
  /** @type {string | null} */
  let selection = null;
  /** @type {Map<string, Element[]> | null} what is drawn, by its keys; null until somebody asks */
  let drawnByKey = null;
  /** @type {Element[]} what is highlighted, and the pictures around it */
  let litElements = [];

  /** @param {string[]} keys @returns {Element[]} what is drawn of them */
  function elementsOf(keys) {
    const byKey = (drawnByKey ??= elementsByKey(root));
    return keys.flatMap((key) => byKey.get(key) ?? []);
  }

  /** @param {Element} target */
  function highlight(target) {
    clear();
    const elements = new Set([target, ...elementsOf(relatives(attributesOf(target)))]);
    if (elements.size < 2) return;
    lightElements(elements);
    target.classList.add("origin");
  }

  /** @param {Iterable<Element>} elements */
  function lightElements(elements) {
    const pictures = root.querySelectorAll("svg");
    for (const svg of pictures) svg.classList.add("lighting");
    litElements = [...elements, ...pictures];
    let k = 0;
    for (const element of elements) {
      element.classList.add("lit");
      if (element instanceof SVGElement) element.style.setProperty("--k", String(Math.min(k, MAX_DELAYED_CELLS)));
      if (element.hasAttribute("data-cell")) k += 1;
    }
  }

  function clear() {
    for (const element of litElements) element.classList.remove("lighting", "lit", "origin");
    litElements = [];
  }

  /** Nothing is pointed at any more: only the selection is highlighted. */
  function redraw() {
    pointedElement = null;
    const selected = selection === null ? null : selectedElement(root, selection);
    if (selected) highlight(selected);
    else clear();
  }

  /** @param {string | null} key */
  function select(key) {
    if (key === selection) return;
    selection = key;
    redraw();
  }

  return {
    redraw,
    select,
    /** Highlight what is drawn of these keys, until something is pointed at. @param {string[]} keys */
    light(keys) {
      redraw();
      const elements = new Set(elementsOf(keys));
      if (elements.size) lightElements(elements);
    },
    /** The picture was drawn again. */
    drawn() {
      drawnByKey = null;
      redraw();
    },
    /** @param {Event} event */
    point(event) {
      const target = targetOf(event);
      if (target === pointedElement) return;
      if (!target) return redraw();
      highlight(target);
      pointedElement = target;
    },
    /** Select what was chosen; once more, or the ground, and nothing is. @param {Event} event */
    choose(event) {
      const target = targetOf(event);
      const key = target && selectionKey(target);
      (onChoose ?? select)(key === selection ? null : key);
    },
    deselect: () => (onChoose ?? select)(null),
  };
}

/** @param {Event} event */
function targetOf(event) {
  return event.target instanceof Element ? event.target.closest(HIGHLIGHTABLE_SELECTOR) : null;
}

/** @param {Element} element @returns {import("./relatives.js").Attributes} */
function attributesOf(element) {
  return (name) => element.getAttribute(`data-${name}`);
}

/** The drawn elements by each of their keys. @param {Element} root */
function elementsByKey(root) {
  /** @type {Map<string, Element[]>} */
  const byKey = new Map();
  for (const element of root.querySelectorAll(KEYED_SELECTOR))
    for (const key of keysOf(attributesOf(element))) addToList(byKey, key, element);
  return byKey;
}

/** The key of an element that can be selected, the same at every step. @param {Element} target */
function selectionKey(target) {
  const kind = SELECTABLE_ATTRIBUTES.find((name) => target.hasAttribute(`data-${name}`));
  return kind ? `${kind}:${target.getAttribute(`data-${kind}`)}` : null;
}

/** The element of a selection, where it is drawn now. @param {Element} root @param {string} key */
function selectedElement(root, key) {
  const [, kind, value] = /^([a-z-]+):(.*)$/s.exec(key) ?? [];
  return SELECTABLE_ATTRIBUTES.includes(kind)
    ? ([...root.querySelectorAll(`[data-${kind}]`)].find((el) => el.getAttribute(`data-${kind}`) === value) ?? null)
    : null;
}
