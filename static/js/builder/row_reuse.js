/** Rows of the list that another text has as well stay what they are, and where they are: a long program has thousands. */

/** @typedef {import("./statements.js").Item} Item */
/** @typedef {import("./statements.js").Program} Program */

/** What a row looks like, but for its line's number. @param {Program} program @param {Item} item @param {import("./card_source.js").Part[]} source
 * @returns {string} */
export function rowSignature({ lines }, { kind, word, depth, broken, first, last }, source) {
  const painted = source.map((part) =>
    typeof part === "string" ? part : `${part.style}\u0001${part.name ?? ""}\u0001${part.text}`,
  );
  return [kind, word, depth, broken, ...lines.slice(first, last + 1), ...painted].join("\u0000");
}

/**
 * A row for each item: one of those before that looks like it, or a new one.
 * @template R
 * @param {Item[]} items @param {(item: Item) => string} signatureOf @param {Map<string, R[]>} before rows by their looks, in order; those that are kept are taken out
 * @param {(item: Item) => R} make @param {(row: R, item: Item) => void} update gives a row its new line
 * @returns {{rows: Map<Item, R>, byLooks: Map<string, R[]>}}
 */
export function reuseRows(items, signatureOf, before, make, update) {
  /** @type {Map<Item, R>} */
  const rows = new Map();
  /** @type {Map<string, R[]>} */
  const bySignature = new Map();
  for (const item of items) {
    const key = signatureOf(item);
    const reused = before.get(key)?.shift();
    if (reused) update(reused, item);
    const row = reused ?? make(item);
    rows.set(item, row);
    const like = bySignature.get(key);
    if (like) like.push(row);
    else bySignature.set(key, [row]);
  }
  return { rows, byLooks: bySignature };
}

/** Puts rows in the place of others, and leaves alone what both have at their beginnings and ends.
 * @param {HTMLElement} list @param {HTMLElement[]} before @param {HTMLElement[]} after */
export function placeRows(list, before, after) {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const next = tail ? before[before.length - tail] : null;
  for (const row of before.slice(head, before.length - tail)) row.remove();
  const made = after.slice(head, after.length - tail);
  if (next) next.before(...made);
  else list.append(...made);
}
