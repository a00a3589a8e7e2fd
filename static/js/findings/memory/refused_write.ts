/**
 * An in-place operation that torch refused: a write into a leaf or a view of one, into one of several views, a view
 * made under `no_grad`, or a tensor of which several elements are one cell. `custom_function` has that of its outputs.
 */

import { declareErrorDiagnosis, nameTextOfFact, operationName } from "../diagnosis.ts";
import type { Diagnosis, Fact, Fix, Link, Operation, RunFacts } from "../diagnosis.ts";
import { callArgument, literalValue } from "../../syntax/expressions.ts";
import { loopHead } from "../../syntax/statements.ts";
import { nodesOfKind, statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import { numel } from "../../trace/reads.ts";
import type { Tensor } from "../../trace/wire.ts";
import { hasInPlaceSyntax } from "../facts/write_origins.ts";

/** The first that fits is told: what a leaf is refused for comes last. */
export const ERROR_FINDINGS = [
  refusal("multi_view_inplace", writeToOneOfSeveralViews),
  refusal("no_grad_view_inplace", writeToNoGradView),
  refusal("leaf_inplace", writeToLeaf),
  refusal("leaf_view_inplace", writeToViewOfLeaf),
  refusal("expanded_inplace", writeToExpanded),
];

function refusal(kind: string, say: (facts: RunFacts, write: RefusedWrite) => Diagnosis | null) {
  return declareErrorDiagnosis({
    kind,
    say: (facts) => {
      const write = findRefusedWrite(facts);
      return write && say(facts, write);
    },
  });
}

interface RefusedWrite {
  op: Operation;
  step: number;
  /** the handle that was to be written */
  uid: string;
  tensor: Tensor;
  views: ViewStep[];
  base: string;
}

const IN_PLACE_OPERATION = /^aten::(?:__i\w+__|\w*[a-z\d]_)(?:\.|$)/;
const OUT_OPERATION = /\.(?:\w*_)?out$/;

/** Whether an operation writes its first argument. */
export function isInPlaceOperation(name: string) {
  return IN_PLACE_OPERATION.test(name);
}

export function findRefusedWrite(facts: RunFacts): RefusedWrite | null {
  const op = facts.failedOperation;
  if (!op || (!isInPlaceOperation(op.name) && !OUT_OPERATION.test(op.name))) return null;
  const uid = OUT_OPERATION.test(op.name) ? op.inputs.at(-1) : op.inputs[0];
  const tensor = facts.tensor(uid, op.step);
  if (!uid || !tensor) return null;
  return { op, step: op.step, uid, tensor, ...viewsToBase(facts, uid, op.step) };
}

/** The uid of what is written, by a name: the handle's own, else that of the view it was made of. */
function namedWriteTargetUid(facts: RunFacts, { uid, views, base, step }: RefusedWrite): string {
  const handles = [...views.map((view) => view.uid), base];
  return handles.find((handleUid) => facts.nameText(handleUid, step)) ?? uid;
}

const MULTI_VIEW_OPERATION =
  /^aten::(?:unbind|split|split_with_sizes|chunk|tensor_split|unsafe_split|unsafe_chunk|hsplit|vsplit|dsplit)(?:\.|$)/;

/** The view of several that one operation made at once. */
function multiOutputView({ views }: RefusedWrite) {
  return views.find(({ op }) => MULTI_VIEW_OPERATION.test(op.name));
}

/** The view that was made while nothing was recorded, of a tensor that requires grad. */
function viewMadeUnderNoGrad(facts: RunFacts, { op: write, views }: RefusedWrite) {
  if (!write.grad_mode) return undefined;
  return views.find(({ op }) => !op.grad_mode && facts.tensor(op.inputs[0], op.step)?.requires_grad);
}

/** Whether several elements of a tensor are one cell in memory. */
function hasRepeatedCells({ shape, stride }: Tensor) {
  return (shape ?? []).some((size, k) => size > 1 && stride?.[k] === 0);
}

/** The node of a custom function whose output a write would change. */
export function customFunctionNodeOfTarget(facts: RunFacts, { uid, views, base, step }: RefusedWrite) {
  for (const handleUid of [uid, ...views.map((view) => view.op.inputs[0]), base]) {
    const nodeUid = facts.tensor(handleUid, step)?.grad_fn;
    if (
      nodeUid &&
      (facts.node(nodeUid, step)?.custom || /BackwardHookFunction/.test(facts.index.nodes.get(nodeUid)?.name ?? ""))
    )
      return { node: nodeUid, handle: handleUid };
  }
  return null;
}

/** Whether torch refused the write for a reason that is not that of its leaf. */
function hasOtherReason(facts: RunFacts, write: RefusedWrite) {
  return multiOutputView(write) ?? viewMadeUnderNoGrad(facts, write) ?? customFunctionNodeOfTarget(facts, write);
}

/** a view and the operation that made it of `op.inputs[0]` */
interface ViewStep {
  uid: string;
  op: Operation;
}

const MAX_VIEWS_FOLLOWED = 64;

/** The views from a handle back to the tensor that is none, the handle's own first, as they are at a step. */
function viewsToBase(facts: RunFacts, uid: string, step: number): { views: ViewStep[]; base: string } {
  const views: ViewStep[] = [];
  let base = uid;
  const storageUid = facts.handle(uid, step)?.storage;
  while (views.length < MAX_VIEWS_FOLLOWED) {
    const op = facts.producingOperation(base);
    const source = op?.inputs[0];
    if (!op || !source || op.step > step || !storageUid || facts.handle(source, op.step)?.storage !== storageUid) break;
    views.push({ uid: base, op });
    base = source;
  }
  return { views, base };
}

/** Through a view that was made at a step, and which says `y` is what it is of. */
function diagnosisOfView(facts: RunFacts, { step, op }: RefusedWrite, view: ViewStep) {
  const chain: Link[] = [
    [view.op.step, "shares", [view.uid, view.op.inputs[0]]],
    [step, "checked", [view.uid]],
  ];
  const x = facts.nameFact(view.uid, step);
  const y = facts.nameFact(view.op.inputs[0], view.op.step);
  return { chain, facts: { x, y, write: operationName(op.name), made_line: facts.lineOf(view.op.step) } };
}

/** Several views that one operation made at once: unbind, split, chunk, iterating over a tensor. */
function writeToOneOfSeveralViews(facts: RunFacts, write: RefusedWrite): Diagnosis | null {
  const view = multiOutputView(write);
  if (!write.op.grad_mode || !view || !write.tensor.requires_grad) return null;
  const made = view.op.step;
  const isLoop = facts.steps[made].kind === "head" && loopHead(facts.syntax(made)) !== null;
  const said = diagnosisOfView(facts, write, view);
  const name = nameTextOfFact(said.facts.x);
  return {
    variant: isLoop ? "loop" : undefined,
    cause: write.step,
    chain: said.chain,
    facts: { ...said.facts, by: operationName(view.op.name), n: view.op.outputs.length },
    fixes: [
      ["under_no_grad", { name }, isLoop ? made : write.step],
      ["out_of_place", { name }],
      ["clone_before", { name }],
    ],
  };
}

function writeToNoGradView(facts: RunFacts, write: RefusedWrite): Diagnosis | null {
  const view = viewMadeUnderNoGrad(facts, write);
  if (!view || multiOutputView(write)) return null;
  const said = diagnosisOfView(facts, write, view);
  return {
    cause: view.op.step,
    chain: said.chain,
    facts: { ...said.facts, write_line: facts.place(write.step).line },
    fixes: [["out_of_no_grad"], ["under_no_grad", {}, write.step], ["clone_result"]],
  };
}

function writeToLeaf(facts: RunFacts, write: RefusedWrite): Diagnosis | null {
  if (!write.op.grad_mode || !write.tensor.leaf || !write.tensor.requires_grad) return null;
  if (hasOtherReason(facts, write)) return null;
  const { uid, step, op } = write;
  const x = facts.nameFact(uid, step);
  const required = stepThatRequiredGrad(facts, uid, step);
  return {
    variant: isRequestedByInplaceFlag(facts, step) ? "flag" : undefined,
    cause: step,
    chain: [
      [required, "made", [uid]],
      [step, "checked", [uid]],
    ],
    facts: { x, write: operationName(op.name), made_line: facts.lineOf(required) },
    fixes: fixesOfLeafWrite(x),
  };
}

function writeToViewOfLeaf(facts: RunFacts, write: RefusedWrite): Diagnosis | null {
  const { base, step, views, op, tensor } = write;
  if (!op.grad_mode || !views.length || tensor.leaf) return null;
  const leaf = facts.tensor(base, step);
  if (!leaf?.leaf || !leaf.requires_grad || hasOtherReason(facts, write)) return null;
  const target = namedWriteTargetUid(facts, write);
  const [x, y] = [facts.nameFact(base, step), facts.nameFact(target, step)];
  const required = stepThatRequiredGrad(facts, base, step);
  const viewed = facts.birthStep(views[0].uid);
  return {
    variant: target === base ? undefined : "named",
    cause: step,
    chain: [
      [required, "made", [base]],
      viewed > required && viewed < step && [viewed, "shares", [target, base]],
      [step, "checked", [target]],
    ],
    facts: { x, y, write: operationName(op.name), view: operationName(views[0].op.name) },
    fixes: fixesOfLeafWrite(y),
  };
}

/** Several elements are one cell in memory. */
function writeToExpanded(facts: RunFacts, write: RefusedWrite): Diagnosis | null {
  const { step, op, views, tensor } = write;
  if (!hasRepeatedCells(tensor) || (op.grad_mode && tensor.leaf && tensor.requires_grad)) return null;
  const target = namedWriteTargetUid(facts, write);
  const isExpandedAt = (uid: string, at: number) => hasRepeatedCells(facts.tensor(uid, at) ?? tensor);
  const expand =
    views.findLast((view) => isExpandedAt(view.uid, view.op.step)) ?? views.find(({ uid }) => isExpandedAt(uid, step));
  const made = expand ? expand.op.step : facts.birthStep(target);
  const x = facts.nameFact(target, step);
  const { shape, stride } = facts.tensor(target, step) ?? tensor;
  const name = facts.nameText(target, step) ?? "";
  return {
    cause: step,
    chain: [
      [made, "shares", [target]],
      [step, "checked", [target]],
    ],
    names: [x],
    facts: {
      x,
      y: expand ? facts.nameFact(expand.op.inputs[0], made) : x,
      expand: expand ? operationName(expand.op.name) : "expand",
      write: operationName(op.name),
      elements: numel(shape ?? []),
      cells: numel((shape ?? []).filter((_, k) => stride?.[k] !== 0)),
      made_line: facts.lineOf(made),
    },
    fixes: [
      ["clone_result", { name }, facts.birthStep(target)],
      ["clone_before", { name }],
      ["out_of_place", { name }],
    ],
  };
}

/** Whether the write was asked for by `inplace=True`, here or where a module was made. */
function isRequestedByInplaceFlag(facts: RunFacts, step: number) {
  const tree = facts.syntax(step);
  return tree !== null && !hasInPlaceSyntax(tree) && inplaceFlags(facts).length > 0;
}

/** Where a program asks a function or a module to work in place. */
export function inplaceFlags(facts: RunFacts): SyntaxNode[] {
  return statementTrees(facts.trace.program)
    .flatMap((tree) => nodesOfKind(tree, "Call"))
    .flatMap((call) => callArgument(call, "inplace") ?? [])
    .filter((flag) => literalValue(flag) === true);
}

/** The step at which a tensor began to require grad. */
function stepThatRequiredGrad(facts: RunFacts, uid: string, step: number) {
  const birth = facts.birthStep(uid);
  for (let i = step; i >= birth && i >= 0; i--) if (facts.steps[i].set?.[uid]?.requires_grad) return i;
  return Math.max(birth, 0);
}

/** `x` is what is written. */
function fixesOfLeafWrite(x: Fact): Fix[] {
  return ["not_inplace", "out_of_place", "under_no_grad"].map((kind) => [kind, { name: nameTextOfFact(x) }]);
}
