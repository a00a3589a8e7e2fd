/** What folds are called: after a module, or after the operations that they hold. */

import { truncate } from "./metrics.js";

/** @typedef {import("./fold.js").Fold} Fold */

/** What a fold is called. @param {Fold} fold */
export function foldTitle(fold) {
  return fold.count > 1 ? `${fold.label} × ${fold.count}` : fold.label;
}

/** @param {string} name as torch calls a node */
export function opName(name) {
  return name.slice(name.lastIndexOf(":") + 1).replace(/Backward\d*$/, "");
}

/** A fold among others. @param {Fold} fold */
export function shortTitle(fold) {
  return fold.label.includes(" ") ? fold.label.split(" ")[0] : foldTitle(fold);
}

/** Names one after the other, the first few of them; leaves go without saying. @param {string[]} names */
export function namesLabel(names) {
  const shown = names.filter((name) => name !== "AccumulateGrad");
  const some = (shown.length ? shown : names).filter((name, i, all) => name !== all[i - 1]);
  const [first, second] = some.map((name) => truncate(name, 14));
  return some.length > 2
    ? `${first} … ${truncate(some[some.length - 1], 10)}`
    : [first, second].filter(Boolean).join(" · ");
}
