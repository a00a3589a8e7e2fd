/** Highlighting: what is pointed at, or else what was selected, together with everything that it belongs to. */

import { addToList } from "../trace/multimap.ts";
import { KEY_ATTRIBUTES, keysOf, type Attributes } from "./relatives.ts";

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
 * @param relatives the keys of everything that a drawn element belongs to, at the step that is drawn
 * @param onChoose called with what the reader chooses; without it that is selected
 */
export function createHighlight(
  root: Element,
  relatives: (attribute: Attributes) => string[],
  onChoose?: (key: string | null) => void,
) {
  /** what is pointed at */
  let pointedElement: Element | null = null;
  let selection: string | null = null;
  /** what is drawn, by its keys; null until somebody asks */
  let drawnByKey: Map<string, Element[]> | null = null;
  /** what is highlighted, and the pictures around it */
  let litElements: Element[] = [];

  /** @returns what is drawn of them */
  function elementsOf(keys: string[]): Element[] {
    const byKey = (drawnByKey ??= elementsByKey(root));
    return keys.flatMap((key) => byKey.get(key) ?? []);
  }

  function highlight(target: Element) {
    clear();
    const elements = new Set([target, ...elementsOf(relatives(attributesOf(target)))]);
    if (elements.size < 2) return;
    lightElements(elements);
    target.classList.add("origin");
  }

  function lightElements(elements: Iterable<Element>) {
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

  function select(key: string | null) {
    if (key === selection) return;
    selection = key;
    redraw();
  }

  return {
    redraw,
    select,
    /** Highlight what is drawn of these keys, until something is pointed at. */
    light(keys: string[]) {
      redraw();
      const elements = new Set(elementsOf(keys));
      if (elements.size) lightElements(elements);
    },
    /** The picture was drawn again. */
    drawn() {
      drawnByKey = null;
      redraw();
    },
    point(event: Event) {
      const target = targetOf(event);
      if (target === pointedElement) return;
      if (!target) return redraw();
      highlight(target);
      pointedElement = target;
    },
    /** Select what was chosen; once more, or the ground, and nothing is. */
    choose(event: Event) {
      const target = targetOf(event);
      const key = target && selectionKey(target);
      (onChoose ?? select)(key === selection ? null : key);
    },
    deselect: () => (onChoose ?? select)(null),
  };
}

function targetOf(event: Event) {
  return event.target instanceof Element ? event.target.closest(HIGHLIGHTABLE_SELECTOR) : null;
}

function attributesOf(element: Element): Attributes {
  return (name) => element.getAttribute(`data-${name}`);
}

/** The drawn elements by each of their keys. */
function elementsByKey(root: Element) {
  const byKey = new Map<string, Element[]>();
  for (const element of root.querySelectorAll(KEYED_SELECTOR))
    for (const key of keysOf(attributesOf(element))) addToList(byKey, key, element);
  return byKey;
}

/** The key of an element that can be selected, the same at every step. */
function selectionKey(target: Element) {
  const kind = SELECTABLE_ATTRIBUTES.find((name) => target.hasAttribute(`data-${name}`));
  return kind ? `${kind}:${target.getAttribute(`data-${kind}`)}` : null;
}

/** The element of a selection, where it is drawn now. */
function selectedElement(root: Element, key: string) {
  const [, kind, value] = /^([a-z-]+):(.*)$/s.exec(key) ?? [];
  return SELECTABLE_ATTRIBUTES.includes(kind)
    ? ([...root.querySelectorAll(`[data-${kind}]`)].find((el) => el.getAttribute(`data-${kind}`) === value) ?? null)
    : null;
}
