/** Notes on an optimizer's `step()`: how many of its parameters it moved, and what it made for itself. */

import { findEntity } from "../trace/entities.ts";
import { optimizerParameters } from "../findings/optimizers.ts";
import { RunFacts } from "../findings/run_facts.ts";
import { cellsReadBy } from "./note_writes.ts";
import type { CaptionNote, NoteContext } from "./note.ts";

interface OptimizerNotes {
  notes: CaptionNote[];
  /** whose writes these notes tell */
  storages: Set<string>;
}

export function optimizerNotes(context: NoteContext): OptimizerNotes {
  const { opened, step, index, entities, fresh, pathOf } = context;
  const notes: CaptionNote[] = [];
  const storages = new Set<string>();
  for (const entry of step.log) {
    if (entry.kind !== "event" || entry.event !== "optimizer_stepped" || entry.unrecorded || !entry.optimizer) continue;
    const path = pathOf(entry.optimizer);
    const parameters = optimizerParameters(new RunFacts(opened), entry.optimizer, index);
    const moved = path ? parametersMoved(context, parameters) : null;
    if (!path || !moved || !parameters.length) continue;
    const own = [...fresh].filter(
      (uid) => findEntity(entities, uid, "tensor") && pathOf(uid)?.startsWith(`${path}.state[`),
    );
    const args = { call: { name: `${path}.step()` }, n: moved.length, of: parameters.length, own: own.length };
    const how = !moved.length ? "none" : moved.length === parameters.length ? "all" : "some";
    notes.push({ key: own.length && moved.length ? `stepped_${how}_own` : `stepped_${how}`, args });
    for (const uid of parameters) addStorage(uid);
    // what it keeps for itself is told as a number, or is its own business
    for (const event of step.log)
      if (event.kind === "event" && event.event === "written" && pathOf(event.by)?.startsWith(`${path}.state[`))
        storages.add(event.storage);
  }
  return { notes, storages };

  function addStorage(uid: string) {
    const storage = findEntity(entities, uid, "tensor")?.storage;
    if (storage) storages.add(storage);
  }
}

/** Parameters of which the step changed a number; null where the trace doesn't know it of each. */
function parametersMoved(context: NoteContext, parameters: string[]): string[] | null {
  const { step, entities, written } = context;
  const storageOf = (uid: string) => findEntity(entities, uid, "tensor")?.storage;
  const events = step.log.flatMap((entry) => (entry.kind === "event" && entry.event === "written" ? [entry] : []));
  if (events.some(({ changed, storage }) => changed === null && parameters.some((uid) => storageOf(uid) === storage)))
    return null;
  return parameters.filter((uid) => {
    const storage = storageOf(uid);
    if (!events.some((event) => event.storage === storage && event.changed)) return false;
    const isAlone = parameters.filter((other) => storageOf(other) === storage).length === 1;
    return isAlone || cellsReadBy(context, uid, written.get(storage ?? "") ?? new Set()).length > 0;
  });
}
