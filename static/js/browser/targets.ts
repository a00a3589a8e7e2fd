/** What the marks of a picture stand for: known of each drawn element, so that nothing has to be read out of the
 * document. */

export type Target =
  | { kind: "cell"; storage: string; index: number; dtype: string }
  /** one element of a handle, and the cell that it reads */
  | { kind: "bead"; handle: string; index: number; storage: string; cell: number; dtype: string }
  | { kind: "handle"; uid: string }
  /** the line from a handle to what it reads */
  | { kind: "wire"; handle: string }
  /** a variable; ref: null where it is a plain value's */
  | { kind: "name"; frame: string | null; name: string; ref: string | null }
  | { kind: "path"; path: string; ref: string }
  /** a saved slot, at its node and as a pin; broken: its value was written over */
  | { kind: "slot" | "pin"; node: string; slot: string; broken: boolean }
  | { kind: "node"; uid: string; variable: string | null }
  /** a leaf's node, drawn once more */
  | { kind: "node again"; variable: string | null }
  | { kind: "edge"; key: string; from: string; to: string }
  | { kind: "counter"; uid: string }
  | { kind: "object"; uid: string }
  /** an item or attribute of an object; ref: null for a plain value */
  | { kind: "item"; object: string; item: string; ref: string | null }
  /** all cells of a storage in its row */
  | { kind: "strip"; storage: string }
  /** a storage among those of the allocator */
  | { kind: "block"; storage: string }
  /** what opens and closes; members: uids that it hides */
  | { kind: "fold"; key: string; members: string[] }
  /** a gradient that has a row of its own */
  | { kind: "gradient elsewhere"; ref: string }
  | { kind: "missing gradient"; of: string }
  /** what shows a big storage's cells from there on, or from somewhere within `span` of it */
  | { kind: "stretch"; storage: string; from: number; span: number; dtype: string }
  /** what scrolls a pane to a height */
  | { kind: "out of sight"; pane: "memory" | "graph"; y: number }
  /** a cell of the loom's head, and a handle's window on one */
  | { kind: "loom cell"; storage: string; index: number }
  | { kind: "step"; step: number }
  /** what opens and closes in the view of a net, or leads to its step */
  | { kind: "net row"; key: string };

type Kind = Target["kind"];

/** What a mark of the stage can stand for. */
export const MARK_KINDS = [
  "cell",
  "bead",
  "handle",
  "wire",
  "name",
  "path",
  "slot",
  "pin",
  "node",
  "node again",
  "edge",
  "counter",
  "object",
  "item",
  "strip",
  "block",
  "fold",
  "gradient elsewhere",
  "missing gradient",
  "stretch",
  "out of sight",
] as const satisfies readonly Kind[];

type TargetOf<K extends Kind> = Extract<Target, { kind: K }>;

const targets = new WeakMap<Element, Target>();

/** Null: the element stands for nothing any more. */
export function setTarget(element: Element, target: Target | null) {
  if (target) targets.set(element, target);
  else targets.delete(element);
}

/** What an element itself stands for. */
export function markTargetOf(element: Element): Target | null {
  return targets.get(element) ?? null;
}

/** The nearest element around where something happened that stands for one of these kinds. */
export function closestMarkTarget<K extends Kind>(
  start: EventTarget | null,
  kinds: readonly K[],
): { element: Element; target: TargetOf<K> } | null {
  for (let element = start instanceof Element ? start : null; element; element = element.parentElement) {
    const target = targets.get(element);
    if (target && (kinds as readonly Kind[]).includes(target.kind)) return { element, target: target as TargetOf<K> };
  }
  return null;
}

/** The drawn elements that stand for something, in the order of the document. */
export function markTargetsWithin(root: Element): { element: Element; target: Target }[] {
  return [...root.querySelectorAll("svg *")].flatMap((element) => {
    const target = targets.get(element);
    return target ? { element, target } : [];
  });
}
