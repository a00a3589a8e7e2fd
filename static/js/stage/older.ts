/** Hatches what of a drawn step is older than the text: a mask of stripes, over what stands for each of its entities. */

/** entities, and names as `frame/name` */
export interface Older {
  uids: Set<string>;
  names: Set<string>;
}

const MASKED_CLASS = "older-masked";
/** The attributes by which what stands for an entity is found, each with its uid at the beginning. */
const ENTITY_ATTRIBUTES = [
  "handle",
  "node",
  "cell",
  "storage-strip",
  "counter-badge",
  "wire",
  "bead",
  "object",
  "grad-ref",
  "pin",
  "slot",
];
const MARKABLE_SELECTOR = [...ENTITY_ATTRIBUTES, "name", "path"].map((name) => `[data-${name}]`).join(",");

/** Pictures in which something is marked, or was when it left. */
const markedRoots = new WeakSet<Element>();

/** @param older null: nothing is */
export function markOlder(root: Element, older: Older | null) {
  if (!older && !markedRoots.has(root)) return;
  // a step that is drawn over a marked one writes classes anew, and leaves the masks
  for (const element of root.querySelectorAll(`.${MASKED_CLASS}, [mask^="url(#older-"]`)) {
    element.classList.remove(MASKED_CLASS);
    element.removeAttribute("mask");
  }
  if (!older) return;
  markedRoots.add(root);
  for (const element of root.querySelectorAll(MARKABLE_SELECTOR)) {
    if (!isOlder(element, older) || element.parentElement?.closest(`.${MASKED_CLASS}`)) continue;
    element.classList.add(MASKED_CLASS);
    element.setAttribute("mask", `url(#older-${element.closest(".graph-pane") ? "graph" : "memory"})`);
  }
}

function isOlder(element: Element, { uids, names }: Older) {
  const attribute = (name: string) => element.getAttribute(`data-${name}`);
  const uid = ENTITY_ATTRIBUTES.map(attribute).find((value) => value !== null);
  if (uid) return uids.has(uid.split(":")[0]);
  const name = attribute("name");
  if (name !== null) return names.has(`${attribute("frame")}/${name}`);
  return uids.has(attribute("ref") ?? "");
}
