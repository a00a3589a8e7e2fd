/** Axes that stand where others belong: classes that are no layer's, offsets of positions that differ by sample. */

import { axesOf, isKnown, isOfParameter, sizeOfAxis } from "../facts/axes.ts";
import { operationName } from "../facts/operation_name.ts";
import { chainLink, codeFact, namesInFacts, type Diagnosis } from "../finding.ts";
import { attentionsOf, isOfItself } from "./attentions.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { Operation } from "../facts/scan.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const FINDINGS: DiagnosisRow[] = [
  { kind: "axes_confused", severity: "warning", diagnose: diagnoseClasses },
  { kind: "axes_confused", severity: "warning", diagnose: diagnosePositions },
];

/** A class loss whose second axis is one of the data, though a layer's outputs of that size are another one. */
function diagnoseClasses(facts: RunFacts): Diagnosis[] {
  /** by line */
  const out = new Map<number, Diagnosis>();
  const axes = axesOf(facts);
  for (const { op, uid, axis, as } of axes.uses) {
    const { line } = facts.steps[op.step];
    if (as !== "classes" || out.has(line) || axes.displaced.has(axis)) continue;
    const of = axes.of(uid);
    if (axis.length !== 1 || axis[0].kind !== "data" || axis[0].part || of.length < 3) continue;
    const place = of.findIndex((each) => isOfParameter(each) && sizeOfAxis(each) === sizeOfAxis(axis));
    if (place < 0 || of.filter(isOfParameter).length !== 1) continue;
    const findingFacts = {
      x: facts.nameFact(uid, op.step),
      n: sizeOfAxis(axis),
      op: codeFact(operationName(op.name).replace(/_nd$/, "")),
      place,
      code: facts.statementFact(op.step),
    };
    out.set(line, {
      variant: "classes",
      cause: facts.place(op.step),
      chain: [chainLink(facts.place(op.step), "used", findingFacts, [uid])],
      names: namesInFacts(findingFacts.x),
      facts: findingFacts,
      fixes: [],
    });
  }
  return [...out.values()];
}

/** Offsets cut from a table of positions that are added along another axis than the one that is attended along. */
function diagnosePositions(facts: RunFacts): Diagnosis[] {
  /** by line */
  const out = new Map<number, Diagnosis>();
  const attentions = attentionsOf(facts).filter((each) => isOfItself(each) && each.keys.length === 1);
  const attended = new Set(attentions.map(({ keys }) => keys[0]));
  if (!attended.size) return [];
  for (const op of facts.scan.operationsNamed(/^add_?$/)) {
    const { line } = facts.steps[op.step];
    if (op.inputs.length !== 2 || out.has(line) || facts.isInsideBackward(op.step)) continue;
    for (const [x, table] of [op.inputs, [...op.inputs].reverse()]) {
      const met = positionsMet(facts, x, table);
      if (!met || attended.has(met.given) || !attended.has(met.attended)) continue;
      const attention = attentions.find(({ keys, op: { step } }) => keys[0] === met.attended && step >= op.step);
      if (attention) out.set(line, positionsDiagnosis(facts, op, x, table, met, attention.op));
    }
  }
  return [...out.values()];
}

/** The axis of a tensor along which a table of positions differs, and the one along which it is the same. */
function positionsMet(facts: RunFacts, x: string, table: string) {
  const [of, offsets] = [x, table].map((uid) => axesOf(facts).of(uid));
  if (of.length !== 3 || offsets.length < 2 || offsets.length > 3 || !of.every(isKnown)) return null;
  const [first, second] = [0, 1].map((d) => offsets[offsets.length - 3 + d] ?? []);
  const [own, same] = first.length ? [0, 1] : [1, 0];
  const [position] = own ? second : first;
  const [given, attended] = [of[own], of[same]].map((axis) => axis[0]);
  if (!position || (own ? first : second).length || !given || !attended || of[own].length > 1 || of[same].length > 1)
    return null;
  if (given.kind !== "data" || attended.kind !== "data" || !isTable(facts, position.uid, position.axis, position.size))
    return null;
  return { given, attended };
}

/** Whether an axis is a part of a longer one that the program made as a table, or counts from 0. */
function isTable(facts: RunFacts, uid: string, axis: number, size: number) {
  const shape = (facts.scan.initialFields(uid)?.shape ?? []) as number[];
  const maker = facts.producingOperation(uid);
  const name = operationName(maker?.name ?? "");
  if (name === "arange") return (facts.steps[maker?.step ?? 0].depth ?? 0) > 0;
  const isMade = facts.scan.initialFields(uid)?.type === "Parameter" || /^(?:zeros|empty|ones|full)$/.test(name);
  return isMade && shape.length > 1 && (shape[axis] ?? 0) > size;
}

function positionsDiagnosis(
  facts: RunFacts,
  op: Operation,
  x: string,
  table: string,
  { given, attended }: { given: { size: number }; attended: { size: number } },
  attention: Operation,
): Diagnosis {
  const findingFacts = {
    x: facts.nameFact(x, op.step),
    table: facts.nameFact(
      axesOf(facts)
        .ancestors(table)
        .find((uid) => facts.nameText(uid, op.step)) ?? table,
      op.step,
    ),
    n: given.size,
    times: attended.size,
    read: facts.place(attention.step).line,
    code: facts.statementFact(op.step),
  };
  return {
    variant: "positions",
    cause: facts.place(op.step),
    chain: [
      chainLink(facts.place(op.step), "used", findingFacts, [x, table]),
      chainLink(
        facts.place(attention.step),
        "read",
        { ...findingFacts, code: facts.statementFact(attention.step) },
        [],
      ),
    ],
    names: namesInFacts(findingFacts.x, findingFacts.table),
    facts: findingFacts,
    fixes: [],
  };
}
