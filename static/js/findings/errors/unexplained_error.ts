/** An error that no other diagnosis explains: the tensors of the call, and where each got what torch refused it for. */

import { codeFact, declareErrorDiagnosis, phrase } from "../diagnosis.ts";
import type { Diagnosis, Fact, Facts, Link, RunFacts } from "../diagnosis.ts";
import { tupleText } from "../../trace/format.ts";
import { failedCallOf, type FailedCall } from "./failed_call.ts";
import { tensorAskedForOneValue } from "./asked_for_one_value.ts";
import { findMentionedEntities } from "../statements/mentioned_entities.ts";
import { operandOf, type Operand } from "./operands.ts";
import { optimizerStateDifference } from "./optimizer_state.ts";
import { lastDimensionChange, propertyOrigin, type Property } from "./property_origin.ts";
import { callArgument, callsIn, literalValue } from "../../syntax/expressions.ts";

export const FINDINGS = [declareErrorDiagnosis({ kind: "unexplained_error", say: unexplainedError })];

type Subject = Property | "leaf" | "history" | "recorded" | "batched" | "any";

/** What the message is about, the most particular first. */
const SUBJECTS: [Subject, RegExp][] = [
  ["layout", /sparse|strided|layout|nested|'\w+' backend|contiguous/i],
  ["batched", /vmap|functorch|torch\.func|BatchedTensor|GradTrackingTensor|\btransform|batching rule|data-dependent/i],
  ["device", /\bdevices?\b|\bcuda\b.*\bcpu\b/i],
  ["leaf", /\bleaf\b/i],
  ["history", /requires? grad|requires_grad|require gradient|grad_fn|inference/i],
  [
    "dtype",
    /dtype|scalar type|data type|\b(?:Float|Double|Half|BFloat16|Long|Int|Bool|Char|Byte|Complex\w*)\b|complex|floating/,
  ],
  ["shape", /sizes?\b|shape|dimension|\bdim\b|\d-?[dD]\b|broadcast|elements?\b|batch|scalar|one value/i],
];

/** Errors with an answer of their own. */
const SPECIAL_ERRORS: [string, RegExp][] = [
  ["multi_target", /multi-target not supported/],
  ["empty", /Boolean value of Tensor with no values|a Tensor with 0 elements cannot be converted/],
  [
    "ambiguous",
    /Boolean value of Tensor with more than one value|only one element tensors can be converted|a Tensor with \d+ elements cannot be converted/,
  ],
  ["scores", /all elements of input should be between 0 and 1/],
  ["targets", /all elements of target should be between 0 and 1/],
  ["dim_range", /Dimension out of range|dimension specified as|invalid index of a 0-dim tensor/],
  ["not_positive", /positive-definite/],
  ["state_dict", /loading state_dict/],
  ["optimizer_state", /loaded state dict (?:contains a parameter group that|has a different number of parameter)/],
  ["scaler", /has already been called (?:on this optimizer )?since the last update\(\)/],
];

/** Exceptions by which a program ends itself. */
const ENDINGS = /^(SystemExit|KeyboardInterrupt|GeneratorExit)$/;
/** Errors of Python's that say nothing of a tensor, whichever the statement names. */
const ERRORS_WITHOUT_TENSORS =
  /^(KeyError|NameError|UnboundLocalError|ImportError|ModuleNotFoundError|FileNotFoundError|PermissionError|ZeroDivisionError|RecursionError)$/;
const MAX_MESSAGE_CHARACTERS = 200;
const MAX_VALUES = 3;

export function unexplainedError(facts: RunFacts): Diagnosis | null {
  const { error } = facts;
  // what a repair answers, such as a missing CUDA device, is no trouble with these tensors
  if (!error || ENDINGS.test(error.type) || error.hasRepairs) return null;
  const failedCall = failedCallOf(facts);
  const raisedAt = facts.steps[failedCall.step >= 0 ? failedCall.step : error.step];
  const isAssertion =
    error.type === "AssertionError" && facts.trace.program.statements?.[raisedAt?.stmt ?? -1]?.kind === "Assert";
  const special = isAssertion ? "assertion" : SPECIAL_ERRORS.find(([, pattern]) => pattern.test(error.message))?.[0];
  const place = facts.place(failedCall.step >= 0 ? failedCall.step : error.step);
  const isOneAsked = special === "empty" || special === "ambiguous";
  const [refused] = facts.failedOperation && failedCall.operands.length === 1 ? failedCall.operands : [];
  const asked = isOneAsked ? (refused ?? tensorAskedForOneValue(facts, place.step)) : null;
  const call = { ...failedCall };
  if (isAssertion || ERRORS_WITHOUT_TENSORS.test(error.type)) call.operands = [];
  else if (asked) call.operands = operandOf(facts, asked.uid, place.step, () => asked.name);
  else if (special === "scores" || special === "targets") call.operands = operandsOutsideOfUnit(facts, failedCall);
  else if (special === "dim_range") call.operands = operandsWithTooFewDimensions(failedCall, error.message);
  const message = firstSentenceOf(error.message);
  const subject = call.operands.length ? subjectOf(facts, call) : "any";
  const unknown = phrase("finding.unexplained_error.asked");
  const difference = special === "optimizer_state" ? optimizerStateDifference(facts, place.step) : null;
  const findingFacts: Facts = {
    ...difference?.facts,
    type: error.type,
    message,
    says: message ? phrase("finding.unexplained_error.says", { message }) : "",
    op: call.op,
    operands: call.operands.length ? call.operands.map(({ name }) => name) : unknown,
    n: Math.max(1, call.operands.length),
    asked: asked?.name ?? unknown,
    elsewhere: unsteppedLineFact(facts),
    unstepped_module: facts.error?.place?.module ?? "",
    unseen: skippedIterationFact(facts),
  };
  const links = call.operands.length
    ? call.operands.flatMap((operand) => linksOfOperand(facts, operand, subject, place.step))
    : (difference?.links ?? linksOfValues(facts, place.step));
  return {
    variant: special ?? (call.operands.length ? subject : isFromTorch(facts) ? "torch" : "python"),
    cause: place,
    chain: [
      ...links.sort(([a], [b]) => a - b),
      [Math.max(facts.errorStep, 0), "checked", call.operands.map(({ uid }) => uid)],
    ],
    names: [...call.operands.map(({ name }) => name)],
    facts: findingFacts,
  };
}

function operandsOutsideOfUnit(facts: RunFacts, { operands, step }: FailedCall): Operand[] {
  const isOutside = ({ uid }: Operand) => {
    const range = facts.rangeOf(uid, step);
    return range === null || range.min < 0 || range.max > 1;
  };
  return operands.filter(isOutside);
}

/** A message says from which to which number the dimensions of its tensor go; those of a scalar as of one dimension. */
function operandsWithTooFewDimensions({ operands }: FailedCall, message: string): Operand[] {
  const [, count] = /range of \[-(\d+), /.exec(message) ?? [];
  return count ? operands.filter(({ shape }) => Math.max(1, shape.length) === Number(count)) : operands;
}

function subjectOf(facts: RunFacts, { operands, step, op }: FailedCall): Subject {
  // what lies outside has no place for the batch
  if (op.endsWith("_") && operands.some(({ uid }) => facts.tensor(uid, step)?.wraps)) return "batched";
  const subject = SUBJECTS.find(([, pattern]) => pattern.test(facts.error?.message ?? ""))?.[0] ?? "any";
  const isRecorded = operands.every(({ uid }) => facts.tensor(uid, step)?.requires_grad);
  return subject === "history" && isRecorded ? "recorded" : subject;
}

/** The first line of a message; where that only announces the next ones, the next. */
function firstSentenceOf(message: string) {
  const [first = "", second = ""] = message.split("\n").map((line) => line.trim());
  const text = first.endsWith(":") && second ? second : first;
  return text.length > MAX_MESSAGE_CHARACTERS ? `${text.slice(0, MAX_MESSAGE_CHARACTERS - 1)}…` : text;
}

/** Whether torch raised it, as far as the trace shows. */
function isFromTorch(facts: RunFacts) {
  return Boolean(facts.failedOperation ?? facts.failedVisit) || facts.error?.type === "RuntimeError";
}

/** The line of a module without steps that raised it. */
function unsteppedLineFact(facts: RunFacts): Fact {
  const { place } = facts.error ?? {};
  if (!place) return "";
  const { file, line } = place;
  return phrase("finding.unexplained_error.elsewhere", {
    file,
    file_line: line,
    file_code: codeFact(place.code),
  });
}

/** The iteration that it was raised in, where that was not recorded. */
function skippedIterationFact(facts: RunFacts): Fact {
  const { skippedIteration } = facts.error ?? {};
  if (!skippedIteration) return "";
  const { iteration, loop } = skippedIteration;
  const line = facts.trace.program.statements?.[loop]?.line ?? 0;
  return phrase("finding.unexplained_error.unseen", { iteration, loop_line: line });
}

/** Where an operand got what it was refused for. */
function linksOfOperand(facts: RunFacts, operand: Operand, subject: Subject, step: number): Link<number>[] {
  if (subject === "leaf" || subject === "history" || subject === "recorded")
    return [linkOfHistory(facts, operand, subject, step)];
  if (subject === "batched") return [linkOfWrapper(facts, operand, step)];
  const property: Property = subject === "any" ? "shape" : subject;
  const links = [propertyLink(facts, operand, property, step)];
  const [[originStep]] = links;
  const change = property === "shape" ? lastDimensionChange(facts, operand.uid, step) : null;
  if (change?.before && change.step !== originStep) {
    const [before, after] = [change.before, facts.tensor(change.uid, step)].map((of) => tupleText(of?.shape ?? []));
    const has = phrase("finding.unexplained_error.dimensions", { op: change.op, before, after });
    links.push([change.step, "counted", [change.uid], { has }]);
  }
  const embedding = property === "layout" ? sparseEmbeddingLink(facts, operand, step) : null;
  return embedding ? [...links, embedding] : links;
}

function valueText(tensor: { shape?: number[]; dtype?: string; layout?: string; device?: string }, property: Property) {
  return property === "shape" ? tupleText(tensor.shape ?? []) : String(tensor[property] ?? "");
}

function propertyLink(facts: RunFacts, operand: Operand, property: Property, step: number): Link<number> {
  const { step: made, op, before } = propertyOrigin(facts, operand.uid, property, step);
  const tensor = facts.tensor(operand.uid, step);
  const has = phrase(`finding.unexplained_error.has_${property}`, { value: tensor ? valueText(tensor, property) : "" });
  const was = before && valueText(before, property);
  const by = op && was ? phrase("finding.unexplained_error.by", { op, before: was }) : "";
  return [made, "made", [operand.uid], { x: operand.name, has, by }];
}

/**
 * Whether an operand is a leaf, requires grad, and has a history; and whether torch itself had recording switched off.
 */
function linkOfHistory(facts: RunFacts, operand: Operand, subject: Subject, step: number): Link<number> {
  const tensor = facts.tensor(operand.uid, step);
  const op = facts.producingOperation(operand.uid);
  const made = op?.step ?? operand.made;
  const isOff =
    op && !op.grad_mode && !tensor?.requires_grad && op.inputs.some((uid) => facts.tensor(uid, op.step)?.requires_grad);
  const state = tensor?.bits?.includes("inference")
    ? "inference"
    : isOff
      ? "switched_off"
      : !tensor?.requires_grad
        ? "no_grad"
        : tensor.leaf
          ? "leaf"
          : "result";
  const operation = op ? facts.naming.operationText(op, operand.uid) : "";
  const has = phrase(`finding.unexplained_error.is_${state}`, { op: operation });
  return [made, "made", [operand.uid], { x: operand.name, has, by: "", subject }];
}

/** Whether an operand stands for one element of a batch, within a transform of `torch.func`. */
function linkOfWrapper(facts: RunFacts, { uid, name: x, shape }: Operand, step: number): Link<number> {
  const key = `finding.unexplained_error.is_${facts.tensor(uid, step)?.wraps ? "wrapped" : "not_wrapped"}`;
  const has = phrase(key, { shape: tupleText(shape) });
  return [Math.max(0, facts.birthStep(uid)), "made", [uid], { x, has, by: "" }];
}

/** The embedding that gives a parameter sparse gradients. */
function sparseEmbeddingLink(facts: RunFacts, operand: Operand, step: number): Link<number> | null {
  const [param] = facts.index.tensorsWithGrad(operand.uid, step);
  if (!param) return null;
  const made = Math.max(0, facts.birthStep(param));
  const x = facts.nameFact(param, step);
  if (!callsIn(facts.syntax(made)).some((call) => literalValue(callArgument(call, "sparse")) === true)) return null;
  const has = phrase("finding.unexplained_error.sparse", { x, code: facts.statementFact(made) });
  return [made, "counted", [param], { has }];
}

/** What the names of the statement meant, where no tensor takes part. */
function linksOfValues(facts: RunFacts, step: number): Link<number>[] {
  const mentioned = new Map(findMentionedEntities(facts, step).map(({ text, uid }) => [uid, text]));
  return [...mentioned].slice(0, MAX_VALUES).flatMap(([uid, text]) => {
    const birthStep = facts.birthStep(uid);
    const object = facts.stateAt(step).get(uid);
    if (birthStep < 0 || birthStep >= step || object?.kind !== "object") return [];
    // where it is made, the name may mean another thing: the `self` of the method that makes this one
    const name = facts.naming.nameAt(uid, birthStep) ?? (facts.naming.isBound(text, birthStep) ? null : text);
    if (name === null) return [];
    const has = phrase("finding.unexplained_error.has_type", { type: object.type ?? "" });
    return [[birthStep, "made", [uid], { x: codeFact(name), has, by: "" }]];
  });
}
