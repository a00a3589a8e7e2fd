/** The in-place operation that torch refused where the program raised: through which handle, and how that is a view. */

import type { Link, Operation, RunFacts } from "../diagnosis.ts";
import type { Tensor } from "../../trace/wire.ts";

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
export function namedWriteTargetUid(facts: RunFacts, { uid, views, base, step }: RefusedWrite): string {
  const handles = [...views.map((view) => view.uid), base];
  return handles.find((handleUid) => facts.nameText(handleUid, step)) ?? uid;
}

const MULTI_VIEW_OPERATION =
  /^aten::(?:unbind|split|split_with_sizes|chunk|tensor_split|unsafe_split|unsafe_chunk|hsplit|vsplit|dsplit)(?:\.|$)/;

/** The view of several that one operation made at once. */
export function multiOutputView({ views }: RefusedWrite) {
  return views.find(({ op }) => MULTI_VIEW_OPERATION.test(op.name));
}

/** The view that was made while nothing was recorded, of a tensor that requires grad. */
export function viewMadeUnderNoGrad(facts: RunFacts, { op: write, views }: RefusedWrite) {
  if (!write.grad_mode) return undefined;
  return views.find(({ op }) => !op.grad_mode && facts.tensor(op.inputs[0], op.step)?.requires_grad);
}

/** The chain from where a view was made to where torch refused the write into it. */
export function linksFromViewToRefusal({ step }: RefusedWrite, { op, uid }: ViewStep): Link[] {
  return [
    [op.step, "shares", [uid, op.inputs[0]]],
    [step, "checked", [uid]],
  ];
}

/** Whether several elements of a tensor are one cell in memory. */
export function hasRepeatedCells({ shape, stride }: Tensor) {
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
export function hasOtherReason(facts: RunFacts, write: RefusedWrite) {
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
