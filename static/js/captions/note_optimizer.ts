/** Notes on an optimizer's `step()`: how many of its parameters it moved, and what it made for itself. */

import { findEntity } from "../trace/entities.ts";
import { optimizerParameters } from "../findings/facts/optimizers.ts";
import { RunFacts } from "../findings/facts/run_facts.ts";
import { objectNamesAt } from "../trace/object_names.ts";
import { stepBeforeStatement } from "../trace/steps/backward_statement.ts";
import { valueText } from "./note_arguments.ts";
import { elementsReadingCells } from "./note_writes.ts";
import type { CaptionNote, CaptionContext } from "./note.ts";

/** So many parameters at most are called by their names. */
const MAX_NAMED = 3;

interface OptimizerNotes {
  notes: CaptionNote[];
  /** whose writes these notes tell */
  storages: Set<string>;
}

export function optimizerNotes(context: CaptionContext): OptimizerNotes {
  const { opened, step, index, entities, fresh, pathOf } = context;
  const notes: CaptionNote[] = [];
  const storages = new Set<string>();
  for (const entry of step.log) {
    if (entry.kind !== "event" || entry.event !== "optimizer_stepped" || entry.unrecorded || !entry.optimizer) continue;
    const path = pathOf(entry.optimizer);
    const parameters = optimizerParameters(new RunFacts(opened), entry.optimizer, index);
    const moved = path ? parametersMoved(context, parameters) : null;
    if (!path || !moved || !parameters.length) continue;
    const names = objectNamesAt(opened, index);
    const statePaths = names.namesOf(entry.optimizer).map(({ text }) => `${text}.state[`);
    const isOfItsState = (uid: string | null | undefined) =>
      names.namesOf(uid).some(({ text }) => statePaths.some((path) => text.startsWith(path)));
    const own = [...fresh].filter((uid) => findEntity(entities, uid, "tensor") && isOfItsState(uid));
    const named = moved.length === parameters.length ? movedByName(context, parameters) : null;
    const how = named?.how ?? (!moved.length ? "none" : moved.length === parameters.length ? "all" : "some");
    const counts = { n: moved.length, of: parameters.length, own: own.length };
    const args = { call: { name: `${path}.step()` }, ...counts, ...named?.args };
    notes.push({ key: own.length && moved.length ? `stepped_${how}_own` : `stepped_${how}`, args });
    for (const uid of parameters) addStorage(uid);
    // what it keeps for itself is told as a number, or is its own business
    for (const event of step.log)
      if (event.kind === "event" && event.event === "written" && isOfItsState(event.by)) storages.add(event.storage);
  }
  return { notes, storages };

  function addStorage(uid: string) {
    const storage = findEntity(entities, uid, "tensor")?.storage;
    if (storage) storages.add(storage);
  }
}

/** Few parameters by name, a small one with its numbers; null where there are more of them, or one has no name. */
function movedByName(
  { opened, index, entities, pathOf }: CaptionContext,
  parameters: string[],
): { how: string; args: CaptionNote["args"] } | null {
  const names = parameters.flatMap((uid) => {
    const name = pathOf(uid);
    return name ? [{ name, of: uid }] : [];
  });
  if (parameters.length > MAX_NAMED || names.length < parameters.length) return null;
  const [uid] = parameters;
  const begins = stepBeforeStatement(opened.trace.steps, index);
  const before = parameters.length === 1 ? valueText(opened.state(begins), uid) : null;
  const value = parameters.length === 1 ? valueText(entities, uid) : null;
  if (before === null || value === null || before === value) return { how: "few", args: { names } };
  return { how: "one", args: { name: names[0], before, value } };
}

/** Parameters of which the step changed a number; null where the trace doesn't know it of each. */
function parametersMoved(context: CaptionContext, parameters: string[]): string[] | null {
  const { opened, index, entities, written } = context;
  const storageOf = (uid: string) => findEntity(entities, uid, "tensor")?.storage;
  const { steps } = opened.trace;
  const begins = stepBeforeStatement(steps, index);
  const log = steps.slice(begins + 1, index + 1).flatMap((step) => step.log);
  const events = log.flatMap((entry) => (entry.kind === "event" && entry.event === "written" ? [entry] : []));
  if (events.some(({ changed, storage }) => changed === null && parameters.some((uid) => storageOf(uid) === storage)))
    return null;
  // `p.data = …` writes nothing: the parameter reads other memory
  const facts = new RunFacts(opened);
  const storageBefore = (uid: string) => findEntity(opened.state(begins), uid, "tensor")?.storage;
  const numbers = new Map(
    parameters
      .filter((uid) => storageBefore(uid) && storageBefore(uid) !== storageOf(uid))
      .map((uid) => [uid, [begins, index].map((at) => facts.numbersOf(uid, at))] as const),
  );
  if ([...numbers.values()].some((pair) => pair.some((each) => !each))) return null;
  return parameters.filter((uid) => {
    const [old, now] = numbers.get(uid) ?? [];
    if (old && now) return old.some((element, k) => !Object.is(element, now[k]));
    const storage = storageOf(uid);
    if (!events.some((event) => event.storage === storage && event.changed)) return false;
    const isAlone = parameters.filter((other) => storageOf(other) === storage).length === 1;
    return isAlone || elementsReadingCells(context, uid, written.get(storage ?? "") ?? new Set()).length > 0;
  });
}
