/** A write into the copy that an advanced index made, which is lost; and elements that one write means several times. */

import { fix, link, namesOf } from "./finding.js";
import { plainName } from "./gradient_name.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function indexCopy(facts) {
  return [
    ...oncePerLine(facts, facts.events("index_copy_written")).map((event) => lostWriteDiagnosis(facts, event)),
    ...oncePerLine(facts, facts.events("indices_repeated")).flatMap(
      (event) => repeatedIndexDiagnosis(facts, event) ?? [],
    ),
  ];
}

/** @template {{step: number}} E @param {RunFacts} facts @param {E[]} events @returns {E[]} */
function oncePerLine(facts, events) {
  return [...new Map(events.toReversed().map((event) => [facts.steps[event.step].line, event])).values()].reverse();
}

/** @param {RunFacts} facts @param {import("./scan.js").Occurrence<"index_copy_written">} event @returns {Diagnosis} */
function lostWriteDiagnosis(facts, event) {
  const { step, tensor, copy } = event;
  const x = facts.nameFact(tensor, step);
  const place = facts.place(step);
  return {
    variant: "lost",
    cause: place,
    chain: [
      link(facts.place(facts.birth(tensor)), "made", { x }, [tensor]),
      link(place, "written", { x, code: facts.codeFact(step) }, [copy]),
    ],
    names: namesOf(x),
    facts: { x, name: plainName(x), code: facts.codeFact(step) },
    fixes: [fix("assign_by_index", place)],
  };
}

/** @param {RunFacts} facts @param {import("./scan.js").Occurrence<"indices_repeated">} event @returns {Diagnosis | null} null where
 * the write says the same of an element each time */
function repeatedIndexDiagnosis(facts, event) {
  const { step, tensor, count, distinct } = event;
  const op = facts.operationOfEvent(event);
  const value = op?.inputs.at(-1);
  const isRead = facts
    .opsAt(step)
    .some((other) => other.at < event.at && /^aten::index(\.|$)/.test(other.name) && other.inputs[0] === tensor);
  const isScalar = value ? (facts.handle(value, step)?.shape ?? []).length === 0 : true;
  if (!isRead && isScalar) return null;
  const x = facts.nameFact(tensor, step);
  const place = facts.place(step);
  return {
    variant: isRead ? "repeated" : "overwritten",
    severity: isRead ? "warning" : "note",
    cause: place,
    chain: [
      link(facts.place(facts.birth(tensor)), "made", { x }, [tensor]),
      link(place, "written", { x, code: facts.codeFact(step) }, [tensor]),
    ],
    names: namesOf(x),
    facts: { x, count, distinct, code: facts.codeFact(step) },
    fixes: [fix("accumulate", place)],
  };
}
