/** Highlighting: what is pointed at, or else what was selected, together with everything that it belongs to. */

import { addToList } from "../trace/multimap.ts";
import { closestMarkTarget, markTargetOf, markTargetsWithin, type Target } from "../browser/targets.ts";
import { highlightKeysOfTarget } from "./relatives.ts";

/** What can be pointed at. */
export const HIGHLIGHTABLE = [
  "cell",
  "bead",
  "handle",
  "name",
  "path",
  "slot",
  "pin",
  "node",
  "edge",
  "counter",
  "item",
  "object",
  "block",
  "fold",
] as const;

/** Cells after this one are highlighted without a delay of their own. */
const MAX_DELAYED_CELLS = 40;

/**
 * A selection is called after what it is of, like `handle:t3`, and holds at every step where that is drawn. `relatives`
 * gives the keys of everything that a target belongs to, at the step that is drawn. `onChoose` is called with what the
 * reader chooses; without it that is selected.
 */
export function createHighlight(
  root: Element,
  relatives: (target: Target) => string[],
  onChoose?: (key: string | null) => void,
) {
  /** what is pointed at */
  let pointedElement: Element | null = null;
  let selection: string | null = null;
  /** what is drawn, by its keys; null until somebody asks */
  let drawnByKey: Map<string, Element[]> | null = null;
  /** what is highlighted, and the pictures around it */
  let litElements: Element[] = [];

  /** What is drawn of them. */
  function elementsOf(keys: string[]): Element[] {
    const byKey = (drawnByKey ??= elementsByKey(root));
    return keys.flatMap((key) => byKey.get(key) ?? []);
  }

  function highlight({ element, target }: { element: Element; target: Target }) {
    clear();
    const elements = new Set([element, ...elementsOf(relatives(target))]);
    if (elements.size < 2) return;
    lightElements(elements);
    element.classList.add("origin");
  }

  function lightElements(elements: Iterable<Element>) {
    const pictures = root.querySelectorAll("svg");
    for (const svg of pictures) svg.classList.add("lighting");
    litElements = [...elements, ...pictures];
    let k = 0;
    for (const element of elements) {
      element.classList.add("lit");
      if (element instanceof SVGElement) element.style.setProperty("--k", String(Math.min(k, MAX_DELAYED_CELLS)));
      if (markTargetOf(element)?.kind === "cell") k += 1;
    }
  }

  function clear() {
    for (const element of litElements) element.classList.remove("lighting", "lit", "origin");
    litElements = [];
  }

  /** Nothing is pointed at any more: only the selection is highlighted. */
  function highlightOnlySelection() {
    pointedElement = null;
    const selected = selection && markTargetsWithin(root).find(({ target }) => selectionKey(target) === selection);
    if (selected) highlight(selected);
    else clear();
  }

  function select(key: string | null) {
    if (key === selection) return;
    selection = key;
    highlightOnlySelection();
  }

  return {
    highlightOnlySelection,
    select,
    /** Highlight what is drawn of these keys, until something is pointed at. */
    light(keys: string[]) {
      highlightOnlySelection();
      const elements = new Set(elementsOf(keys));
      if (elements.size) lightElements(elements);
    },
    /** The picture was drawn again. */
    drawn() {
      drawnByKey = null;
      highlightOnlySelection();
    },
    point(event: Event) {
      const pointed = closestMarkTarget(event.target, HIGHLIGHTABLE);
      if (pointed?.element === (pointedElement ?? undefined)) return;
      if (!pointed) return highlightOnlySelection();
      highlight(pointed);
      pointedElement = pointed.element;
    },
    /** Select what was chosen; once more, or the ground, and nothing is. */
    choose(event: Event) {
      const chosen = closestMarkTarget(event.target, HIGHLIGHTABLE);
      const key = chosen && selectionKey(chosen.target);
      (onChoose ?? select)(key === selection ? null : key);
    },
    deselect: () => (onChoose ?? select)(null),
  };
}

/** The drawn elements by each of their keys. */
function elementsByKey(root: Element) {
  const byKey = new Map<string, Element[]>();
  for (const { element, target } of markTargetsWithin(root))
    for (const key of highlightKeysOfTarget(target)) addToList(byKey, key, element);
  return byKey;
}

/** What a selection of a target is called, the same at every step; null of what can not be selected. */
function selectionKey(target: Target) {
  switch (target.kind) {
    case "handle":
    case "node":
    case "object":
      return `${target.kind}:${target.uid}`;
    case "counter":
      return `counter-badge:${target.uid}`;
    case "name":
      return `name:${target.name}`;
    case "path":
      return `path:${target.path}`;
    case "slot":
    case "pin":
      return `${target.kind}:${target.node}:${target.slot}`;
    case "edge":
      return `edge:${target.key}`;
    case "item":
      return `item:${target.object}:${target.item}`;
    case "bead":
      return `bead:${target.handle}:${target.index}`;
    case "block":
      return `block:${target.storage}`;
    default:
      return null;
  }
}
