/** Is a new tensor a leaf, and does it share memory with the one that it comes from? */

import { findEntity, type Handle } from "../trace/entities.ts";
import { yesNoAnswer, type PredictQuestion } from "../page_state/predict_question.ts";
import { elementsOfHandle, memoryReadByHandle } from "./tensor_elements.ts";
import { callArgument, calleeName, callsIn, firstNameOf, literalValue, methodCalls } from "../syntax/expressions.ts";
import type { Entities } from "../trace/state.ts";
import type { AskableStatement } from "./askable_statements.ts";

type PartialQuestion = Partial<PredictQuestion>;

const SHARING_QUESTION_WEIGHT = 74;
/** A leaf that comes from a tensor with a gradient, or a tensor that was meant to be one. */
const SURPRISING_LEAF_QUESTION_WEIGHT = 64;
const PLAIN_LEAF_QUESTION_WEIGHT = 44;

/** What the statement bound to a plain name and made. */
function tensorsMadeByStatement({ opened, step, named, isBackward, raised }: AskableStatement) {
  const { fresh } = opened.at(step);
  return isBackward || raised ? [] : named.filter(({ name, uid }) => fresh.has(uid) && firstNameOf(name) === name);
}

/** Asked where the numbers alone do not tell. */
export function sharingQuestions(statement: AskableStatement): PartialQuestion[] {
  const { before, after, named, mentioned } = statement;
  return tensorsMadeByStatement(statement).flatMap((newTensor) =>
    named.flatMap((other) => {
      if (other.uid === newTensor.uid || !before.has(other.uid) || !mentioned.names.has(other.name)) return [];
      const shares = doHandlesShareCell(after, newTensor.handle, other.handle);
      if (shares === null) return [];
      return [
        {
          kind: "shares",
          what: newTensor.name,
          other: other.name,
          uid: newTensor.uid,
          weight: SHARING_QUESTION_WEIGHT,
          reason: null,
          ...yesNoAnswer(shares),
        },
      ];
    }),
  );
}

/** Whether two handles read a cell in common; null where their numbers tell that they have nothing to do with each
 * other, or the trace does not list them. */
function doHandlesShareCell(entities: Entities, first: Handle, second: Handle) {
  const [firstElements, secondElements] = [elementsOfHandle(entities, first), elementsOfHandle(entities, second)];
  if (!firstElements?.length || !secondElements?.length) return null;
  const secondValues = new Set(secondElements.map(({ value }) => JSON.stringify(value)));
  if (secondValues.size < 2 && secondElements.length > 1 && firstElements.length !== secondElements.length) return null;
  if (!firstElements.every(({ value }) => secondValues.has(JSON.stringify(value)))) return null;
  if (memoryReadByHandle(entities, first) !== memoryReadByHandle(entities, second)) return false;
  if (first.storage !== second.storage) return true; // an array and the tensor on it
  const cells = new Set(secondElements.map(({ cell }) => cell));
  return firstElements.some(({ cell }) => cells.has(cell)) ? true : null;
}

export function leafQuestions(statement: AskableStatement): PartialQuestion[] {
  const { before, tree, namedBefore, mentioned } = statement;
  const comesFromRequiringGrad = namedBefore.some(
    ({ name, uid }) => mentioned.names.has(firstNameOf(name)) && findEntity(before, uid, "tensor")?.requires_grad,
  );
  const requestsGrad = callsIn(tree).some(
    (call) =>
      ["requires_grad_", "Parameter"].includes(calleeName(call)) ||
      literalValue(callArgument(call, "requires_grad")) === true,
  );
  return tensorsMadeByStatement(statement).flatMap(({ name, uid, handle }) => {
    if (handle.kind !== "tensor" || typeof handle.leaf !== "boolean" || !(comesFromRequiringGrad || requestsGrad))
      return [];
    if (handle.leaf && !comesFromRequiringGrad) return []; // made as a leaf, and nothing else
    const isSurprising =
      handle.leaf || requestsGrad || methodCalls(tree, "to", "cuda", "cpu", "float", "double", "half").length > 0;
    const weight = isSurprising ? SURPRISING_LEAF_QUESTION_WEIGHT : PLAIN_LEAF_QUESTION_WEIGHT;
    const reason = handle.leaf ? "predict_why_leaf" : "predict_why_no_leaf";
    return [{ kind: "leaf", what: name, uid, weight, reason, ...yesNoAnswer(handle.leaf) }];
  });
}
