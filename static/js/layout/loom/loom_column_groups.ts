/**
 * Groups of the loom's columns: storages that have the same name one after the other share a place across, with their
 * `.grad` beside it.
 */

import { storageColumn, type StorageColumn, type RailMargins, type CellScale } from "./loom_columns.ts";
import type { StorageLifetime } from "./run_row.ts";

interface Track {
  until: number;
  w: number;
  /** one after the other; x from the track's left */
  columns: StorageColumn[];
}

export interface ColumnGroup {
  values: Track;
  grads: Track | null;
}

/** How many groups of a name are looked through for one that is free. */
const MAX_GROUPS_TRIED = 4;

/**
 * Groups in the order in which their first storage was made, each with the columns of all its storages. `lives` are by
 * birth, `names` by storage.
 */
export function groupColumns(
  lives: StorageLifetime[],
  names: Map<string, string>,
  margins: RailMargins,
  scale: CellScale,
): ColumnGroup[] {
  const groups: ColumnGroup[] = [];
  const groupsByName = new Map<string, ColumnGroup[]>();
  const groupOf = new Map<string, ColumnGroup>();
  for (const life of lives) {
    const column = storageColumn(life, margins, scale, 0);
    const owner = groupOf.get(life.owner ?? "");
    if (owner && (!owner.grads || owner.grads.until < life.birth)) {
      owner.grads = addColumnToTrack(owner.grads, column);
      groupOf.set(life.uid, owner);
      continue;
    }
    const name = names.get(life.uid) ?? life.uid;
    const list = groupsByName.get(name) ?? [];
    groupsByName.set(name, list);
    const freeGroup = list.slice(-MAX_GROUPS_TRIED).find(({ values }) => values.until < life.birth);
    const group = freeGroup ?? { values: addColumnToTrack(null, column), grads: null };
    if (freeGroup) addColumnToTrack(freeGroup.values, column);
    else {
      list.push(group);
      groups.push(group);
    }
    groupOf.set(life.uid, group);
  }
  return groups;
}

function addColumnToTrack(track: Track | null, column: StorageColumn): Track {
  const extended = track ?? { until: -1, w: 0, columns: [] };
  extended.columns.push(column);
  extended.until = column.to;
  extended.w = Math.max(extended.w, column.right);
  return extended;
}

/** How wide a group is, with the place of its gradients. */
export function groupWidth({ values, grads }: ColumnGroup) {
  return values.w + (grads?.w ?? 0);
}

/** The columns of a group that stands at x, cut to some shelves. `shelves` has the first of each row. */
export function columnsOfGroup(
  { values, grads }: ColumnGroup,
  x: number,
  from: number,
  to: number,
  shelves: number[],
): StorageColumn[] {
  const columns = [];
  for (const [track, trackX] of [
    [values, x],
    [grads, x + values.w],
  ] as [Track | null, number][])
    for (const column of track?.columns ?? []) {
      const first = Math.max(shelves[column.from], from);
      const last = Math.min(shelves[column.to + 1] - 1, to);
      if (first > last) continue;
      const rails = new Map([...column.rails].map(([counter, railX]) => [counter, railX + trackX]));
      columns.push({ ...column, x: trackX, rails, right: trackX + column.right, from: first, to: last });
    }
  return columns;
}
