/**
 * The loom's column of storages without a name: how many storages that never had a name there are after each row, and
 * their bytes.
 */

import { UNNAMED_COLUMN_WIDTH } from "./loom_sizes.ts";
import type { LoomRows, StorageLifetime } from "./run_row.ts";

export interface UnnamedColumn {
  x: number;
  w: number;
  /** counts, bytes: by row */
  counts: number[];
  bytes: number[];
  /** the most bytes of any row */
  most: number;
}

/** `lives` are those without a name. Null where there are none. */
export function unnamedStoragesColumn(runRows: LoomRows, lives: StorageLifetime[]): UnnamedColumn | null {
  if (!lives.length) return null;
  const counts = runRows.rows.map(() => 0);
  const bytes = runRows.rows.map(() => 0);
  for (const { birth, death, freed, nbytes } of lives) {
    const end = freed ? death : counts.length;
    counts[birth] += 1;
    bytes[birth] += nbytes;
    if (end >= counts.length) continue;
    counts[end] -= 1;
    bytes[end] -= nbytes;
  }
  let mostBytes = 0;
  for (let r = 1; r < counts.length; r++) {
    counts[r] += counts[r - 1];
    bytes[r] += bytes[r - 1];
  }
  for (const sum of bytes) mostBytes = Math.max(mostBytes, sum);
  return { x: 0, w: UNNAMED_COLUMN_WIDTH, counts, bytes, most: mostBytes };
}
