/**
 * Where each axis of a tensor came from: an axis of the program's data or of a parameter, followed through what views,
 * moves, joins and contracts it. An axis that can't be followed has an unknown origin, of which nothing is said.
 */

import { memoizePerRun } from "./memoize_per_run.ts";
import { operationName } from "./operation_name.ts";
import type { RunFacts } from "./run_facts.ts";
import type { Operation } from "./scan.ts";

/** of what an axis is: of data that the program made or loaded, of a parameter, of layers and directions that a
 * recurrent layer stacks, of numbers that `expand` repeats */
type OriginKind = "data" | "parameter" | "layers" | "repeated" | "unknown";

/** a run of indices that counts along one axis of origin, or along a part of one or of several */
interface Factor {
  size: number;
  kind: OriginKind;
  /** the tensor whose axis it is, and which */
  uid: string;
  axis: number;
  /** what a view cut it out of: a row-major whole, and all its parts */
  part?: { whole: Factor[]; parts: Factor[] };
}

/** the factors of one axis, the slowest first; none where its size is 1 */
export type Axis = Factor[];

/** how an operation takes an axis: what it weighs with a parameter, counts as classes or rows, runs along, or sums up
 * against another tensor's axis */
export interface AxisUse {
  op: Operation;
  uid: string;
  axis: Axis;
  as: "features" | "classes" | "rows" | "sequence" | "summed";
  /** the other tensor and its axis, of what is summed */
  other?: { uid: string; axis: Axis };
}

/** a view that gave an axis the size of another one, which went into others */
interface Displacement {
  op: Operation;
  /** the axis of that size before */
  meant: Axis;
}

const VIEW = /^(?:view|reshape|_unsafe_view|flatten|unflatten|squeeze|unsqueeze|ravel|view_as|reshape_as)$/;
const STRIDED =
  /^(?:transpose|permute|t|swapaxes|swapdims|movedim|moveaxis|numpy_t|matrix_h|m_t|mt|adjoint|expand|expand_as|broadcast_to|broadcast_tensors|as_strided)$/;
const CHOSEN = /^(?:select|slice|narrow|split\w*|chunk|tensor_split|unbind|unsafe_\w+)$/;
const RESIZED =
  /^(?:\w*pool\dd\w*|upsample\w*|_?pad\w*|constant_pad_nd|topk|sort|flip|roll|cumsum|cumprod|cumulative_trapezoid|gather|index_select|diff|glu)$/;
const REDUCED =
  /^(?:sum|mean|nansum|nanmean|amax|amin|max|min|prod|any|all|std|var|std_mean|var_mean|norm|linalg_vector_norm|logsumexp|argmax|argmin|median|count_nonzero)$/;
export const RECURRENT = /^(?:lstm|gru|rnn_tanh|rnn_relu)$/;
const CONVOLUTION = /^(?:conv\dd|convolution|conv_transpose\dd)$/;
const NORM = /^(?:layer_norm|rms_norm)$/;
const CLASS_LOSS = /^(?:nll_loss\w*|cross_entropy_loss)$/;
const MEAN_LOSS = /^(?:mse_loss|l1_loss|smooth_l1_loss|huber_loss|binary_cross_entropy\w*)$/;

const MAX_ANCESTORS = 40;
const STEPS_OF_OPTIMIZERS_FOLLOWED = 4;
const MAX_SHARERS = 8;

/** Operations that read an axis as something, or move one: without any of them no axis is followed. */
const READS_OR_MOVES_AXES =
  /^(?:_?(?:log_)?softmax|nll_loss\w*|cross_entropy_loss|lstm|gru|rnn_tanh|rnn_relu|repeat|scaled_dot_product_attention|einsum|bmm|conv\w*|(?:batch|instance)_norm|view|reshape|_unsafe_view|flatten|unflatten|permute|movedim)$/;

/** The axes of a run's tensors, followed once. */
export const axesOf = memoizePerRun((facts: RunFacts) => new AxesOfRun(facts));

export function isSameAxis(a: Axis, b: Axis) {
  return a.length === b.length && a.every((factor, k) => factor === b[k]);
}

export function sizeOfAxis(axis: Axis) {
  return axis.reduce((size, factor) => size * factor.size, 1);
}

/** The factors of origin that a factor has a share of; a factor that is no part has all of itself. */
export function originFactorsOf(factor: Factor): Factor[] {
  return factor.part ? factor.part.whole.flatMap(originFactorsOf) : [factor];
}

export function isKnown(axis: Axis) {
  return axis.every((factor) => originFactorsOf(factor).every(({ kind }) => kind !== "unknown"));
}

/** Whether an axis counts only what a layer's parameters count: channels, features, classes. */
export function isParameterAxis(axis: Axis) {
  return axis.length > 0 && axis.flatMap(originFactorsOf).every(({ kind }) => kind === "parameter");
}

class AxesOfRun {
  facts: RunFacts;
  /** the last step that is followed */
  last: number;
  uses: AxisUse[] = [];
  /** by an axis, the view that put it where another one was */
  displaced = new WeakMap<Axis, Displacement>();
  _axes = new Map<string, Axis[]>();
  /** by storage, the tensors on it whose axes are known */
  _onStorage = new Map<string, string[]>();

  constructor(facts: RunFacts) {
    this.facts = facts;
    this.last = lastStepFollowed(facts);
    const isForward = ({ step }: { step: number }) => !facts.isInsideBackward(step);
    if (!facts.scan.operationsNamed(READS_OR_MOVES_AXES).some(isForward)) return;
    for (let step = 0; step <= this.last; step++) {
      if (!isForward({ step })) continue;
      for (const op of facts.opsAt(step)) if (!op.failed) this.follow(op, operationName(op.name));
    }
  }

  shape(uid: string | undefined): number[] {
    return (this.facts.scan.initialFields(uid)?.shape as number[] | undefined) ?? [];
  }

  /** The axes of a tensor; of one that no operation made, those of the memory that it shares, else its own. */
  of(uid: string | undefined): Axis[] {
    const known = this._axes.get(uid ?? "");
    if (known || !uid) return known ?? [];
    if (this.facts.birthStep(uid) > this.last) return this.fresh(uid, "unknown");
    const fields = this.facts.scan.initialFields(uid);
    const layout = (each: string) => {
      const { shape, stride } = this.facts.scan.initialFields(each) ?? {};
      return `${shape} ${stride}`;
    };
    const isParameter = fields?.type === "Parameter";
    const sharers = isParameter ? [] : (this._onStorage.get(fields?.storage ?? "") ?? []);
    const twin = sharers.findLast((each) => layout(each) === layout(uid));
    const axes = twin ? this.of(twin) : this.fresh(uid, isParameter ? "parameter" : "data");
    return this.set(uid, axes);
  }

  set(uid: string, axes: Axis[]) {
    this._axes.set(uid, axes);
    const storage = this.facts.scan.initialFields(uid)?.storage;
    const sharers = this._onStorage.get(storage ?? "") ?? [];
    if (storage) this._onStorage.set(storage, [...sharers.slice(0, MAX_SHARERS), uid]);
    return axes;
  }

  /** What a tensor was made of, itself included and the nearest first: through operations and shared memory. */
  ancestors(uid: string): string[] {
    const seen = new Set([uid]);
    for (const each of seen) {
      const op = this.facts.producingOperation(each);
      const storage = this.facts.scan.initialFields(each)?.storage ?? "";
      for (const from of op?.inputs ?? this._onStorage.get(storage)?.slice(0, 1) ?? [])
        if (seen.size < MAX_ANCESTORS) seen.add(from);
    }
    return [...seen];
  }

  fresh(uid: string, kind: OriginKind): Axis[] {
    return this.shape(uid).map((size, axis) => (size === 1 ? [] : [{ size, kind, uid, axis }]));
  }

  follow(op: Operation, name: string) {
    const { inputs, outputs } = op;
    if (CLASS_LOSS.test(name) || MEAN_LOSS.test(name)) this.useInLoss(op, name);
    for (const [k, output] of outputs.entries()) {
      if (inputs.includes(output) || this._axes.has(output)) continue;
      const shape = this.shape(output);
      const axes = inputs.length ? this.result(op, name, output, shape, k) : this.fresh(output, "data");
      const unknown = this.fresh(output, "unknown");
      this.set(
        output,
        shape.map((size, d) => (axes?.[d] && sizeOfAxis(axes[d]) === size ? axes[d] : unknown[d])),
      );
    }
  }

  /** The axes of an operation's result; undefined ones are unknown. */
  result(op: Operation, name: string, output: string, shape: number[], k: number): (Axis | undefined)[] | null {
    const { inputs } = op;
    const [a, b] = inputs.map((uid) => this.of(uid));
    if (VIEW.test(name)) return this.viewed(op, a, shape);
    if (STRIDED.test(name)) return this.byStrides(op, output, a);
    if (CHOSEN.test(name)) return this.chosen(op, name, a, shape, output);
    if (REDUCED.test(name)) return this.reduced(op, a, shape);
    if (
      name === "linear" ||
      name === "addmm" ||
      name === "mm" ||
      name === "matmul" ||
      name === "bmm" ||
      name === "baddbmm" ||
      name === "mv"
    )
      return this.product(op, name);
    if (name === "einsum") return this.einsum(op);
    if (name === "embedding") return [...b, a[1]];
    if (name === "index" && inputs.length === 2) return this.indexed(inputs, shape) ?? this.elementwise(inputs, shape);
    if (RECURRENT.test(name)) return this.recurrent(op, name, shape, output, k);
    if (CONVOLUTION.test(name)) return this.convolved(op, name, shape, output);
    if (name === "scaled_dot_product_attention") return this.attended(op);
    if (name === "repeat" || name === "repeat_interleave") return this.repeated(name, a, shape, output);
    if (name === "stack") return this.stacked(op, shape, output);
    if (RESIZED.test(name) || /^(?:cat|concat\w*)$/.test(name))
      return this.resized(this.largest(inputs), shape, output);
    if (NORM.test(name) && a.length) this.use(op, inputs[0], a[a.length - 1], "features");
    return this.elementwise(inputs, shape);
  }

  use(op: Operation, uid: string, axis: Axis | undefined, as: AxisUse["as"], other?: AxisUse["other"]) {
    if (axis?.length) this.uses.push({ op, uid, axis, as, other });
  }

  useInLoss(op: Operation, name: string) {
    const [uid] = op.inputs;
    const axes = this.of(uid);
    axes.forEach((axis, d) => {
      const isClasses = CLASS_LOSS.test(name) && d === (axes.length > 1 ? 1 : 0);
      this.use(op, uid, axis, isClasses ? "classes" : "rows");
    });
  }

  /** The axes of the largest of several tensors of one rank. */
  largest(uids: string[]) {
    const size = (uid: string) => this.shape(uid).reduce((x, y) => x * y, 1);
    return this.of(uids.reduce((best, uid) => (size(uid) > size(best) ? uid : best)));
  }

  /** Each axis is that of the input with the most axes that has one there. */
  elementwise(inputs: string[], shape: number[]) {
    const operands = inputs
      .map((uid) => this.of(uid))
      .filter((axes) => axes.length <= shape.length)
      .sort((x, y) => y.filter((axis) => axis.length).length - x.filter((axis) => axis.length).length);
    return shape.map((size, d) => {
      const here = operands.flatMap((axes) => {
        const axis = axes[axes.length - shape.length + d];
        return axis?.length && sizeOfAxis(axis) === size ? [axis] : [];
      });
      return here.find((axis) => isKnown(axis) && axis[0].kind !== "repeated") ?? here[0] ?? [];
    });
  }

  /** An axis keeps its place; of one that another size has come of, the origin stays. */
  resized(axes: Axis[], shape: number[], output: string) {
    if (axes.length !== shape.length) return null;
    return axes.map((axis, d): Axis => this.ofSize(axis, shape[d], output, d));
  }

  ofSize(axis: Axis, size: number, output: string, d: number): Axis {
    if (sizeOfAxis(axis) === size) return axis;
    if (size === 1) return [];
    const [first] = axis;
    const isData = axis.length > 0 && axis.every(({ kind }) => kind === "data");
    return axis.length === 1
      ? [{ ...first, size, part: undefined }]
      : [{ size, kind: isData ? "data" : "unknown", uid: output, axis: d }];
  }

  viewed(op: Operation, axes: Axis[], shape: number[]) {
    const regrouped = regroup(axes, shape);
    if (!regrouped) return null;
    const before = new Set(axes.flat());
    /** whether a view cut an axis anew, rather than to join whole ones or part those that were joined */
    const isCut = (axis: Axis) =>
      !axes.includes(axis) && axis.some((factor) => factor.kind === "layers" || (factor.part && !before.has(factor)));
    const lost = axes.filter((axis) => axis.length && !regrouped.some((each) => isSameAxis(each, axis)));
    const out = regrouped.map((axis) => axes.find((each) => isSameAxis(each, axis)) ?? axis);
    const meant = out.map((axis) =>
      isCut(axis) ? lost.find((each) => sizeOfAxis(each) === sizeOfAxis(axis)) : undefined,
    );
    const first = meant.find(Boolean);
    if (first)
      out.forEach((axis, d) => {
        if (!axes.includes(axis) && axis.length) this.displaced.set(axis, { op, meant: meant[d] ?? first });
      });
    return out;
  }

  /** Where a result reads the memory of its input, its strides say which axis is which. */
  byStrides(op: Operation, output: string, axes: Axis[]) {
    const [from, to] = [op.inputs[0], output].map((uid) => this.facts.scan.initialFields(uid));
    const strides = (from?.stride ?? []) as number[];
    const sizes = (from?.shape ?? []) as number[];
    return this.shape(output).map((size, d): Axis | undefined => {
      const stride = ((to?.stride ?? []) as number[])[d];
      if (size === 1) return [];
      if (stride === 0) return [{ size, kind: "repeated", uid: output, axis: d }];
      const same = axes.filter((_, k) => strides[k] === stride && sizes[k] === size);
      return same.length === 1 ? same[0] : undefined;
    });
  }

  chosen(op: Operation, name: string, axes: Axis[], shape: number[], output: string) {
    const dim = argumentDim(op, axes.length);
    if (/select|unbind/.test(name)) return axes.filter((_, d) => d !== dim);
    return axes.length === shape.length ? axes.map((axis, d) => this.ofSize(axis, shape[d], output, d)) : null;
  }

  reduced(op: Operation, axes: Axis[], shape: number[]) {
    const dims = argumentDims(op, axes.length);
    if (!shape.length) return [];
    if (!dims) return op.inputs.length > 1 ? this.elementwise(op.inputs, shape) : null;
    return axes.flatMap((axis, d) => (!dims.includes(d) ? [axis] : shape.length === axes.length ? [[]] : []));
  }

  product(op: Operation, name: string): (Axis | undefined)[] | null {
    const isAdded = name === "addmm" || name === "baddbmm";
    const [a, b] = op.inputs.slice(isAdded ? 1 : 0);
    const [left, right] = [this.of(a), this.of(b)];
    if (name === "linear") {
      this.sum(op, a, left[left.length - 1], b, right[right.length - 1]);
      return [...left.slice(0, -1), ...(right.length > 1 ? [right[0]] : [])];
    }
    this.sum(op, a, left[left.length - 1], b, right[Math.max(0, right.length - 2)]);
    const rows = left.length > 1 ? [left[left.length - 2]] : [];
    const columns = right.length > 1 ? [right[right.length - 1]] : [];
    const [outer, inner] = [left.slice(0, -2), right.slice(0, -2)];
    const batch = Array.from(
      { length: Math.max(outer.length, inner.length) },
      (_, d, length = Math.max(outer.length, inner.length)) => {
        const [x, y] = [outer[outer.length - length + d], inner[inner.length - length + d]];
        return x?.length ? x : (y ?? []);
      },
    );
    return [...batch, ...rows, ...columns];
  }

  /** Note that two axes were multiplied and summed up. */
  sum(op: Operation, a: string, left: Axis | undefined, b: string, right: Axis | undefined) {
    if (!left?.length || !right?.length) return;
    const [isLeft, isRight] = [this.isWeight(a), this.isWeight(b)];
    if (isRight && !isLeft) this.use(op, a, left, "features");
    else if (isLeft && !isRight) this.use(op, b, right, "features");
    else {
      this.use(op, a, left, "summed", { uid: b, axis: right });
      this.use(op, b, right, "summed", { uid: a, axis: left });
    }
  }

  /** Whether all axes of a tensor are those of parameters. */
  isWeight(uid: string) {
    const axes = this.of(uid).filter((axis) => axis.length);
    return axes.length > 0 && axes.every(isParameterAxis);
  }

  einsum(op: Operation) {
    const [terms, result] = String(op.args?.equation ?? "")
      .replace(/\s/g, "")
      .split("->");
    const operands = terms.split(",");
    if (!result || terms.includes(".") || operands.length !== op.inputs.length) return null;
    const at = new Map<string, { uid: string; axis: Axis }[]>();
    operands.forEach((letters, k) => {
      const axes = this.of(op.inputs[k]);
      [...letters].forEach((letter, d) => {
        at.set(letter, [...(at.get(letter) ?? []), { uid: op.inputs[k], axis: axes[d] ?? [] }]);
      });
    });
    for (const [letter, [x, y]] of at) if (y && !result.includes(letter)) this.sum(op, x.uid, x.axis, y.uid, y.axis);
    return [...result].map((letter) => {
      const axes = (at.get(letter) ?? []).map(({ axis }) => axis).filter((axis) => axis.length);
      return axes.find(isKnown) ?? axes[0] ?? [];
    });
  }

  /** Rows that one tensor of indices picks count along its axes; null where the sizes don't say which axis it picks. */
  indexed([uid, index]: string[], shape: number[]): Axis[] | null {
    const [sizes, picked] = [this.shape(uid), this.shape(index)];
    if (String(sizes) === String(shape) || !/int/.test(String(this.facts.scan.initialFields(index)?.dtype)))
      return null;
    const isPicked = (_: number, d: number) =>
      String([...sizes.slice(0, d), ...picked, ...sizes.slice(d + 1)]) === String(shape);
    const [d, ...others] = sizes.flatMap((size, k) => (isPicked(size, k) ? [k] : []));
    return d === undefined || others.length ? null : this.of(uid).toSpliced(d, 1, ...this.of(index));
  }

  recurrent(op: Operation, name: string, shape: number[], output: string, k: number) {
    const axes = this.of(op.inputs[0]);
    if (axes.length !== 3 || shape.length !== 3 || name.includes("cell")) return null;
    const weight = op.inputs.find((uid) => this.of(uid).length === 2) ?? output;
    const states: Axis = [{ size: shape[2], kind: "parameter", uid: weight, axis: 0 }];
    const isFirst = op.args?.batch_first === true;
    if (k > 0)
      return [
        shape[0] > 1 ? [{ size: shape[0], kind: "layers", uid: output, axis: 0 }] : [],
        axes[isFirst ? 0 : 1],
        states,
      ] as Axis[];
    this.use(op, op.inputs[0], axes[isFirst ? 1 : 0], "sequence");
    this.use(op, op.inputs[0], axes[2], "features");
    return [axes[0], axes[1], states];
  }

  convolved(op: Operation, name: string, shape: number[], output: string) {
    const [input, weight] = op.inputs;
    const [axes, weights] = [this.of(input), this.of(weight)];
    const channel = axes.length - (weights.length - 1);
    if (channel < 0 || axes.length !== shape.length) return null;
    this.use(op, input, axes[channel], "features");
    return axes.map((axis, d): Axis | undefined => {
      if (d < channel) return axis;
      if (d > channel) return this.ofSize(axis, shape[d], output, d);
      const made = weights[/transpose/.test(name) ? 1 : 0];
      return sizeOfAxis(made) === shape[d] ? made : [{ size: shape[d], kind: "parameter", uid: weight, axis: 0 }];
    });
  }

  attended(op: Operation) {
    const [q, k, v] = op.inputs.map((uid) => this.of(uid));
    if (!q?.length || !k?.length || !v?.length) return null;
    this.use(op, op.inputs[1], k[k.length - 2], "summed", { uid: op.inputs[0], axis: q[q.length - 2] });
    return [...q.slice(0, -1), v[v.length - 1]];
  }

  /** What is repeated as a whole runs through its rows again and again, what is interleaved gives each row in turn. */
  repeated(name: string, axes: Axis[], shape: number[], output: string) {
    return shape.map((size, d): Axis => {
      const axis = axes[axes.length - shape.length + d] ?? [];
      const times = size / sizeOfAxis(axis);
      if (times === 1 || !Number.isInteger(times)) return this.ofSize(axis, size, output, d);
      const again: Axis = [{ size: times, kind: "repeated", uid: output, axis: d }];
      return name === "repeat" ? [...again, ...axis] : [...axis, ...again];
    });
  }

  stacked(op: Operation, shape: number[], output: string): Axis[] {
    const at = argumentDim(op, shape.length) ?? 0;
    const axes = [...this.of(op.inputs[0])];
    axes.splice(at, 0, shape[at] > 1 ? [{ size: shape[at], kind: "data", uid: output, axis: at }] : []);
    return axes;
  }
}

/** Rounds are alike: those in which a few steps of optimizers end are followed. */
function lastStepFollowed(facts: RunFacts) {
  const stepped = facts.eventsOfKind("optimizer_stepped");
  return stepped[STEPS_OF_OPTIMIZERS_FOLLOWED - 1]?.step ?? facts.steps.length - 1;
}

/** An operation's dimensions as places; null where it has none. */
function argumentDims({ args }: Operation, rank: number): number[] | null {
  const dim = args?.dim;
  if (typeof dim !== "number" && !Array.isArray(dim)) return null;
  return [dim].flat().map((each) => (each < 0 ? each + rank : each));
}

function argumentDim(op: Operation, rank: number): number | null {
  return argumentDims(op, rank)?.[0] ?? (/cat|stack|unbind|split|chunk|slice|concat/.test(op.name) ? 0 : null);
}

/** The same elements in the same order, counted off by other sizes; null where the counts differ. */
function regroup(axes: Axis[], shape: number[]): Axis[] | null {
  const queue = rejoined(axes.flat());
  const product = (sizes: number[]) => sizes.reduce((x, y) => x * y, 1);
  if (product(queue.map(({ size }) => size)) !== product(shape) || shape.includes(0)) return null;
  const out: Axis[] = shape.map(() => []);
  for (let d = 0; d < shape.length; d++) {
    let left = shape[d];
    while (left > 1) {
      const [factor] = queue;
      if (left % factor.size === 0) {
        out[d].push(factor);
        left /= factor.size;
      } else if (factor.size % left === 0) {
        queue.splice(0, 1, ...partsOf([factor], [left, factor.size / left]));
        continue;
      } else {
        // no boundary falls together until here: all of it is cut anew
        const sizes = [left];
        const whole = [factor];
        let next = d + 1;
        while (product(whole.map(({ size }) => size)) !== product(sizes))
          if (product(whole.map(({ size }) => size)) < product(sizes)) whole.push(queue[whole.length]);
          else if (shape[next++] > 1) sizes.push(shape[next - 1]);
        queue.splice(0, whole.length, ...partsOf(whole, sizes));
        continue;
      }
      queue.shift();
    }
    out[d] = rejoined(out[d]);
  }
  return out;
}

function partsOf(whole: Factor[], sizes: number[]): Factor[] {
  const parts: Factor[] = [];
  const part = { whole, parts };
  for (const size of sizes) parts.push({ size, kind: whole[0].kind, uid: whole[0].uid, axis: whole[0].axis, part });
  return parts;
}

/** Parts that stand beside each other again, all and in order, are the whole. */
function rejoined(factors: Factor[]): Factor[] {
  for (let k = 0; k < factors.length; k++) {
    const { part } = factors[k];
    if (part?.parts.every((each, n) => factors[k + n] === each))
      return rejoined([...factors.slice(0, k), ...part.whole, ...factors.slice(k + part.parts.length)]);
  }
  return factors;
}
