/**
 * Whether a run is drawn by its modules: where it calls some, and has more storages than there is room for beside each
 * other.
 */

import { callsModules } from "../trace/net_runs.ts";
import { hasRoomForStorages } from "../layout/loom/loom.ts";
import type { OpenTrace } from "../trace/state.ts";

const known = new WeakMap<OpenTrace, boolean>();

export function isRunByModule(opened: OpenTrace): boolean {
  let is = known.get(opened);
  if (is === undefined) {
    is = callsModules(opened) && !hasRoomForStorages(opened);
    known.set(opened, is);
  }
  return is;
}
