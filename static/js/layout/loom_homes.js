/** The loom's homes: storages that have the same name one after the other share a place across, with their `.grad` beside it. */

import { columnOfLife } from "./loom_columns.js";

/** @typedef {import("./loom_columns.js").Column} Column */
/** @typedef {import("./loom_columns.js").Margins} Margins */
/** @typedef {import("./loom_columns.js").Scale} Scale */
/** @typedef {import("./run_rows.js").StorageLife} StorageLife */
/**
 * @typedef {{until: number, w: number, columns: Column[]}} Track   columns: one after the other; x from the track's left
 * @typedef {{values: Track, grads: Track | null, name: string}} Home
 */

/** How many homes of a name are looked through for one that is free. */
const MAX_HOMES_TRIED = 4;

/**
 * Homes in the order in which their first storage was made, each with the columns of all its storages.
 * @param {StorageLife[]} lives by birth @param {Map<string, string>} names by storage @param {Margins} margins @param {Scale} scale
 * @returns {Home[]}
 */
export function homesOf(lives, names, margins, scale) {
  /** @type {Home[]} */
  const homes = [];
  /** @type {Map<string, Home[]>} */
  const homesByName = new Map();
  /** @type {Map<string, Home>} */
  const homeOf = new Map();
  for (const life of lives) {
    const column = columnOfLife(life, margins, scale, 0);
    const owner = homeOf.get(life.owner ?? "");
    if (owner && (!owner.grads || owner.grads.until < life.birth)) {
      owner.grads = addToTrack(owner.grads, column);
      homeOf.set(life.uid, owner);
      continue;
    }
    const name = names.get(life.uid) ?? life.uid;
    const list = homesByName.get(name) ?? [];
    homesByName.set(name, list);
    const freeHome = list.slice(-MAX_HOMES_TRIED).find(({ values }) => values.until < life.birth);
    const home = freeHome ?? { values: addToTrack(null, column), grads: null, name };
    if (freeHome) addToTrack(freeHome.values, column);
    else {
      list.push(home);
      homes.push(home);
    }
    homeOf.set(life.uid, home);
  }
  return homes;
}

/** @param {Track | null} track @param {Column} column @returns {Track} */
function addToTrack(track, column) {
  const extended = track ?? { until: -1, w: 0, columns: [] };
  extended.columns.push(column);
  extended.until = column.to;
  extended.w = Math.max(extended.w, column.right);
  return extended;
}

/** How wide a home is, with the place of its gradients. @param {Home} home */
export function homeWidth({ values, grads }) {
  return values.w + (grads?.w ?? 0);
}

/** The columns of a home that stands at x, cut to some shelves. @param {Home} home @param {number} x @param {number} from
 * @param {number} to @param {number[]} shelves the first of each row @returns {Column[]} */
export function homeColumns({ values, grads }, x, from, to, shelves) {
  const columns = [];
  for (const [track, trackX] of /** @type {[Track | null, number][]} */ ([
    [values, x],
    [grads, x + values.w],
  ]))
    for (const column of track?.columns ?? []) {
      const first = Math.max(shelves[column.from], from);
      const last = Math.min(shelves[column.to + 1] - 1, to);
      if (first > last) continue;
      const rails = new Map([...column.rails].map(([counter, railX]) => [counter, railX + trackX]));
      columns.push({ ...column, x: trackX, rails, right: trackX + column.right, from: first, to: last });
    }
  return columns;
}
