/** Hatches the parts of a drawn step that are older than the text, with a mask of stripes. */

import { markTargetsWithin, type Target } from "../browser/targets.ts";

/** entities, and names as `frame/name` */
export interface OutdatedParts {
  uids: Set<string>;
  names: Set<string>;
}

const MASKED_CLASS = "older-masked";

/** Pictures in which something is marked, or was when it left. */
const markedRoots = new WeakSet<Element>();

/** Null: nothing is older. */
export function markOutdated(root: Element, older: OutdatedParts | null) {
  if (!older && !markedRoots.has(root)) return;
  // a step that is drawn over a marked one writes classes anew, and leaves the masks
  for (const element of root.querySelectorAll(`.${MASKED_CLASS}, [mask^="url(#older-"]`)) {
    element.classList.remove(MASKED_CLASS);
    element.removeAttribute("mask");
  }
  if (!older) return;
  markedRoots.add(root);
  for (const { element, target } of markTargetsWithin(root)) {
    if (!isOlder(target, older) || element.parentElement?.closest(`.${MASKED_CLASS}`)) continue;
    element.classList.add(MASKED_CLASS);
    element.setAttribute("mask", `url(#older-${element.closest(".graph-pane") ? "graph" : "memory"})`);
  }
}

function isOlder(target: Target, { uids, names }: OutdatedParts) {
  switch (target.kind) {
    case "handle":
    case "node":
    case "counter":
    case "object":
      return uids.has(target.uid);
    case "cell":
    case "strip":
      return uids.has(target.storage);
    case "wire":
    case "bead":
      return uids.has(target.handle);
    case "pin":
    case "slot":
      return uids.has(target.node);
    case "name":
      return names.has(`${target.frame}/${target.name}`);
    case "path":
      return uids.has(target.ref);
    default:
      return false;
  }
}
