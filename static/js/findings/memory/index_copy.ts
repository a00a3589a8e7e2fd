/**
 * A write into the copy that an advanced index made, or into what an attribute computes anew each time, which is lost;
 * and elements that one write means several times.
 */

import { codeFact, diagnosis, gradNameOf, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, EventOccurrence, RunFacts } from "../diagnosis.ts";
import {
  attributeRead,
  calleeName,
  callsIn,
  isTorchMember,
  pathText,
  positionalArguments,
  receiver,
} from "../../syntax/expressions.ts";
import { assignments, bareExpression, isInPlaceName } from "../../syntax/statements.ts";
import { childOf, type SyntaxNode } from "../../syntax/tree.ts";
import { groupBy } from "../../trace/multimap.ts";
import { referencedUid } from "../../trace/names.ts";
import { stepBeforeStatement } from "../../trace/steps/backward_statement.ts";

const KIND = { kind: "index_copy", severity: "warning", lookedFor: "sharing" } as const;

/** what torch asks of both tensors before `a.data = b` */
const COMPARES_TYPES = "aten::_has_compatible_shallow_copy_type";

/** operations with which `tolist` and `numpy` begin */
const HANDS_OUT_NUMBERS = /^aten::resolve_(?:conj|neg)/;

export const FINDINGS = [
  diagnosis({ ...KIND, of: (facts) => facts.eventsOfKind("index_copy_written"), say: lostWrite }),
  diagnosis({
    ...KIND,
    of: (facts) => groupBy(facts.eventsOfKind("indices_repeated"), ({ step }) => facts.lineOf(step)),
    say: (facts, [event]) => repeatedIndex(facts, event),
  }),
  diagnosis({
    ...KIND,
    of: (facts) => facts.findInStatements((tree) => [attributeWrittenInPlace(tree) ?? []].flat()),
    once: ({ stmt }) => stmt,
    say: (facts, { step, found }) => diagnosisOfWriteIntoComputed(facts, step, found),
  }),
];

function lostWrite(facts: RunFacts, event: EventOccurrence<"index_copy_written">): Diagnosis {
  const { step, copy } = event;
  const tensor = facts.namedViewSource(event.tensor, step);
  const x = facts.nameFact(tensor, step);
  const place = facts.place(step);
  const op = operationName(facts.producingOperation(copy)?.name ?? "");
  return {
    variant: op === "index" ? "lost" : "lost_op",
    cause: place,
    chain: [
      [facts.birthStep(tensor), "made", [tensor]],
      [place, "written", [copy], { code: facts.statementFact(step) }],
    ],
    facts: { x, name: nameTextOfFact(x), op, code: facts.statementFact(step) },
    fixes: [["assign_through_index"]],
  };
}

/** The attribute whose value a statement writes in place and keeps nowhere: `m.weight` of `m.weight.data.normal_()`. */
function attributeWrittenInPlace(tree: SyntaxNode): SyntaxNode | null {
  const call = bareExpression(tree);
  let node: SyntaxNode | null = null;
  if (call?.kind === "Call" && isInPlaceName(calleeName(call)))
    node = isTorchMember(childOf(call, "func")) ? (positionalArguments(call)[0] ?? null) : receiver(call);
  else if (!call) {
    const [{ target = null, value = null } = {}, ...others] = assignments(tree);
    const isWrite = target?.kind === "Subscript" || (target && attributeRead(target)?.attribute === "data");
    if (isWrite && !others.length && !callsIn(value).length) node = target;
  }
  for (let inner = node; inner; node = inner) {
    const read = attributeRead(inner);
    if (read && read.attribute !== "data") return pathText(inner) ? inner : null;
    const isDetached = inner.kind === "Call" && calleeName(inner) === "detach";
    inner = read?.object ?? (isDetached ? receiver(inner) : inner.kind === "Subscript" ? inner.children[0] : null);
  }
  return null;
}

/** A write into a tensor that reading an attribute computed, and that is freed with the statement, unread. */
function diagnosisOfWriteIntoComputed(facts: RunFacts, step: number, attribute: SyntaxNode): Diagnosis | null {
  const storageOf = (uid: string | null) => facts.scan.initialFields(uid ?? "")?.storage;
  const ops = facts.opsAt(step);
  const result = referencedUid(facts.steps[step].value);
  const isCall = facts.syntax(step)?.kind === "Expr";
  const write = ops.find(
    ({ name, inputs: [into], outputs, direct }) =>
      /_(?:\.|$)/.test(name) &&
      outputs[0] === into &&
      !facts.index.isAlive(storageOf(into) ?? into, step) &&
      (isCall ? storageOf(result) === storageOf(into) : direct),
  );
  const storage = storageOf(write?.inputs[0] ?? null);
  if (!write || !storage || facts.birthStep(storage) <= stepBeforeStatement(facts.steps, step)) return null;
  const isOn = (uid: string) => storageOf(uid) === storage;
  const made = facts.opsAt(facts.birthStep(storage)).find(({ outputs }) => outputs.some(isOn));
  /** whether its memory is that of something else, as of an array, or an array may have its memory */
  const isShared = !made?.inputs.length || made.inputs.some(isOn);
  const isHandedOut = [...(made ? facts.opsAt(made.step) : []), ...ops].some(
    ({ name, inputs }) => HANDS_OUT_NUMBERS.test(name) && inputs.some(isOn),
  );
  const isRead = ops.some(
    ({ at, name, inputs, outputs }) =>
      at > write.at &&
      inputs.slice(outputs.length && outputs.every(isOn) ? 1 : 0).some(isOn) &&
      name !== COMPARES_TYPES,
  );
  const isOfIndex = facts.eventsOfKind("index_copy_written").some((event) => event.step === step);
  if (!made || isShared || isHandedOut || isRead || isOfIndex || (made.step === step && made.at >= write.at))
    return null;
  const name = pathText(attribute) ?? "";
  const x = codeFact(name);
  return {
    variant: "lost_read",
    cause: step,
    chain: [[step, "written", [write.inputs[0]], { x, code: facts.statementFact(step) }]],
    names: [x],
    facts: { x, name, op: operationName(made.name), code: facts.statementFact(step) },
  };
}

/** Null where the write says the same of an element each time. */
function repeatedIndex(facts: RunFacts, event: EventOccurrence<"indices_repeated">): Diagnosis | null {
  const { step, tensor, count, distinct } = event;
  const op = facts.operationOfEvent(event);
  const value = op?.inputs.at(-1);
  const isRead = facts
    .opsAt(step)
    .some((other) => other.at < event.at && /^aten::index(\.|$)/.test(other.name) && other.inputs[0] === tensor);
  const hasGradient = facts.tensor(value, step)?.requires_grad ?? false;
  const isScalar = value ? (facts.handle(value, step)?.shape ?? []).length === 0 : true;
  if (!isRead && isScalar) return null;
  const written = op && /^aten::scatter\./.test(op.name) ? op.outputs[0] : tensor;
  const x = facts.nameFact(written, step);
  const y = facts.nameFact(value, step);
  const place = facts.place(step);
  return {
    variant: isRead ? "repeated" : hasGradient ? "gradient" : "overwritten",
    severity: isRead || hasGradient ? "warning" : "note",
    cause: place,
    chain: [
      [facts.birthStep(tensor), "made", [tensor]],
      [place, "written", [tensor], { code: facts.statementFact(step) }],
    ],
    names: [x, ...(hasGradient ? [y] : [])],
    facts: { x, y, grad: gradNameOf(y), count, distinct, code: facts.statementFact(step) },
    fixes: [["accumulate"]],
  };
}
