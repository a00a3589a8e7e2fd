/** Small true traces, in which each mark is seen in each of its states. */

import { counter, frame, ndarray, node, entityRef, storage, tensor, makeTrace } from "./entities.ts";

const NEW_TENSOR_ENTITIES = { s1: storage([1, 2, 3]), c1: counter(), t1: tensor() };

export const NEW_LEAF_ENTITIES = { s1: storage([1, 2, 3]), c1: counter(), t1: tensor({ requires_grad: true }) };

const NEW_MATRIX_ENTITIES = {
  s1: storage([...Array(6).keys()]),
  c1: counter(),
  t1: tensor({ shape: [2, 3], stride: [3, 1] }),
};

export const plainTrace = makeTrace("a = torch.tensor([1., -2., 3.])\nn = 0\na[1] = 5\ndel a\n", [
  { set: { f1: frame({ a: entityRef("t1") }), ...NEW_TENSOR_ENTITIES, s1: storage([1, -2, 3]) } },
  { set: { f1: { vars: { n: 0 } } } },
  {
    set: { s1: { cells_at: { float32: { 1: 5 } } }, c1: { value: 1 } },
    log: [{ kind: "event", event: "written", storage: "s1", changed: 1, by: "t1" }],
  },
  {
    set: { f1: { unset: ["a"] } },
    gone: ["t1", "s1", "c1"],
    log: [{ kind: "event", event: "storage_freed", storage: "s1" }],
  },
]);

const sineWaveValues = Array.from({ length: 300 }, (_, k) => Math.fround(Math.sin(k / 12)));

export const heatmapTrace = makeTrace("a = torch.sin(torch.arange(300) / 12)\n", [
  {
    set: {
      f1: frame({ a: entityRef("t1") }),
      s1: storage(sineWaveValues),
      c1: counter(),
      t1: tensor({ shape: [300] }),
    },
  },
]);

export const severalDtypesTrace = makeTrace("a = torch.ones(2)\nraw = a.view(torch.int32)\n", [
  { set: { f1: frame({ a: entityRef("t1") }), s1: storage([1, 1]), c1: counter(), t1: tensor({ shape: [2] }) } },
  {
    set: {
      s1: { cells: { float32: [1, 1], int32: [1065353216, 1065353216] } },
      t2: tensor({ shape: [2], dtype: "int32", base: "t1" }),
      f1: { vars: { raw: entityRef("t2") } },
    },
  },
]);

export const nonfiniteValuesTrace = makeTrace("a = torch.tensor([0., math.nan, math.inf])\n", [
  {
    set: { f1: frame({ a: entityRef("t1") }), ...NEW_TENSOR_ENTITIES, s1: storage([0, { $f: "nan" }, { $f: "inf" }]) },
  },
]);

export const bigStorageTrace = makeTrace("a = torch.rand(5000)\n", [
  {
    set: {
      f1: frame({ a: entityRef("t1") }),
      c1: counter(),
      t1: tensor({ shape: [5000] }),
      s1: {
        kind: "storage",
        device: "cpu",
        nbytes: 20000,
        summary: { float32: { min: 0, max: 1, mean: 0.5, bins: [612, 640, 598, 633, 621, 607, 655, 634] } },
        windows: {
          float32: [
            [0, [0.496, 0.768, 0.088]],
            [4997, [0.31, 0.92, 0.07]],
          ],
        },
      },
    },
  },
]);

export const trackedTensorsTrace = makeTrace(
  "a = torch.tensor([1., 2., 3.], requires_grad=True)\nb = a.clone()\nv = b[1:]\n",
  [
    { set: { f1: frame({ a: entityRef("t1") }), ...NEW_LEAF_ENTITIES } },
    {
      set: {
        n1: node("AccumulateGrad", [], { variable: "t1" }),
        n2: node("CloneBackward0", [["n1", 0]]),
        s2: storage([1, 2, 3]),
        c2: counter(),
        t2: tensor({ storage: "s2", counter: "c2", requires_grad: true, leaf: false, grad_fn: "n2" }),
        f1: { vars: { b: entityRef("t2") } },
      },
    },
    {
      set: {
        n3: node("SliceBackward0", [["n2", 0]]),
        f1: { vars: { v: entityRef("t3") } },
        t3: tensor({
          storage: "s2",
          counter: "c2",
          shape: [2],
          offset: 1,
          base: "t2",
          requires_grad: true,
          leaf: false,
          grad_fn: "n3",
        }),
      },
    },
  ],
);

/** A base of six elements and one more handle on it. */
export const viewTrace = (line: string, overrides: any) =>
  makeTrace(`a = torch.arange(6.).view(2, 3)\n${line}\n`, [
    { set: { f1: frame({ a: entityRef("t1") }), ...NEW_MATRIX_ENTITIES } },
    { set: { t2: tensor({ base: "t1", ...overrides }), f1: { vars: { v: entityRef("t2") } } } },
  ]);

export const unnamedTensorTrace = makeTrace("keep = torch.ones(3).sin\n", [
  {
    set: { f1: frame({ keep: { py: "builtin_function_or_method" } }), ...NEW_TENSOR_ENTITIES, s1: storage([1, 1, 1]) },
  },
]);

export const numpyArrayTrace = makeTrace("a = torch.ones(3)\nq = a.numpy()\n", [
  { set: { f1: frame({ a: entityRef("t1") }), ...NEW_TENSOR_ENTITIES, s1: storage([1, 1, 1]) } },
  {
    set: {
      a1: ndarray(),
      f1: { vars: { q: entityRef("a1") } },
    },
  },
]);

export const sharedCountersTrace = makeTrace(
  "a = torch.tensor([1., 2., 3.], requires_grad=True)\nd = a.detach()\ne = a.data\nd.zero_()\n",
  [
    { set: { f1: frame({ a: entityRef("t1") }), ...NEW_LEAF_ENTITIES } },
    { set: { t2: tensor({ base: "t1" }), f1: { vars: { d: entityRef("t2") } } } },
    { set: { c2: counter(), t3: tensor({ counter: "c2" }), f1: { vars: { e: entityRef("t3") } } } },
    {
      set: { s1: { cells: { float32: [0, 0, 0] } }, c1: { value: 1 } },
      log: [{ kind: "event", event: "written", storage: "s1", changed: 3, by: "t2" }],
    },
  ],
);

const SIGMOID_VALUES = [0.7310585975646973, 0.8807970285415649, 0.9525741338729858];

const SAVED_SLOT_FIELDS = {
  tensor: "t2",
  storage: "s2",
  dtype: "float32",
  offset: 0,
  shape: [3],
  stride: [1],
  counter: "c2",
  expected: 0,
};

/** out = a.sigmoid(), and then its saved slot in a state. */
const savedSlotTrace = (state: string, lastLine: string, step: any) =>
  makeTrace(`a = torch.tensor([1., 2., 3.], requires_grad=True)\nout = a.sigmoid()\n${lastLine}\n`, [
    { set: { f1: frame({ a: entityRef("t1") }), ...NEW_LEAF_ENTITIES } },
    {
      set: {
        n1: node("AccumulateGrad", [], { variable: "t1" }),
        s2: storage(SIGMOID_VALUES),
        c2: counter(),
        f1: { vars: { out: entityRef("t2") } },
        n2: node("SigmoidBackward0", [["n1", 0]], { saved: { result: { ...SAVED_SLOT_FIELDS, state: "ok" } } }),
        t2: tensor({ storage: "s2", counter: "c2", requires_grad: true, leaf: false, grad_fn: "n2" }),
      },
    },
    {
      ...step,
      set: {
        n2: { saved: { result: { ...SAVED_SLOT_FIELDS, state } }, ...(step.released && { released: true }) },
        ...step.set,
      },
    },
  ]);

const ZEROED_CELLS = { cells_at: { float32: { 0: 0, 1: 0, 2: 0 } } };

export const savedOkTrace = savedSlotTrace("ok", "n = 1", { set: { f1: { vars: { n: 1 } } } });

export const savedStaleTrace = savedSlotTrace("stale", "out.detach().zero_()", {
  set: { s2: ZEROED_CELLS, c2: { value: 1 } },
  log: [
    { kind: "event", event: "written", storage: "s2", changed: 3 },
    { kind: "event", event: "saved_stale", node: "n2", slot: "result" },
  ],
});

export const savedChangedTrace = savedSlotTrace("changed", "out.data.zero_()", {
  set: { s2: ZEROED_CELLS },
  log: [
    { kind: "event", event: "written", storage: "s2", changed: 3 },
    { kind: "event", event: "saved_changed_silently", node: "n2", slot: "result" },
  ],
});

export const savedReleasedTrace = savedSlotTrace("freed", "out.sum().backward()", {
  released: true,
  log: [{ kind: "event", event: "graph_released", node: "n2" }],
});

export const savedUnknownTrace = savedSlotTrace("unknown", "for _ in range(900): out = a.sigmoid()", {});

export const savedPackedTrace = savedSlotTrace(
  "packed",
  "with saved_tensors_hooks(pack, unpack): out = a.sigmoid()",
  {},
);

export const savedDetachedTrace = savedSlotTrace("detached", "out.detach_()", {
  set: { t2: { requires_grad: false, leaf: true, grad_fn: null } },
  log: [{ kind: "event", event: "saved_detached", node: "n2", slot: "result" }],
});

const gradientValue = (cells: number[]) => ({
  shape: cells.length === 1 ? [] : [cells.length],
  dtype: "float32",
  layout: "strided",
  cells,
});

const visitStep = (uid: string, gradOutputs: any[], gradInputs: any[], fields: any = {}) => ({
  kind: "visit",
  stmt: 2,
  line: 3,
  visit: { backward: "b1", node: uid, grad_outputs: gradOutputs, grad_inputs: gradInputs, ...fields },
});

const BACKWARD_STEPS = [
  { set: { f1: frame({ a: entityRef("t1") }), ...NEW_LEAF_ENTITIES } },
  {
    set: {
      n1: node("AccumulateGrad", [], { variable: "t1" }),
      n2: node("CloneBackward0", [["n1", 0]]),
      n3: node("SumBackward0", [["n2", 0]]),
      s2: storage([6]),
      c2: counter(),
      f1: { vars: { loss: entityRef("t2") } },
      t2: tensor({
        shape: [],
        stride: [],
        storage: "s2",
        counter: "c2",
        requires_grad: true,
        leaf: false,
        grad_fn: "n3",
      }),
    },
  },
  {
    ...visitStep("n3", [gradientValue([1])], [gradientValue([1, 1, 1])]),
    set: { b1: { kind: "backward", stmt: 2, api: "backward", roots: ["t2"] } },
  },
];

const BACKWARD_SOURCE = "a = torch.tensor([1., 2., 3.], requires_grad=True)\nloss = a.clone().sum()\nloss.backward()\n";

export const backwardTrace = makeTrace(BACKWARD_SOURCE, [
  ...BACKWARD_STEPS,
  visitStep("n2", [gradientValue([1, 1, 1])], [gradientValue([1, 1, 1])]),
  {
    ...visitStep("n1", [gradientValue([1, 1, 1])], [], { accumulates: "t1" }),
    set: { s3: storage([1, 1, 1]), c3: counter(), t3: tensor({ storage: "s3", counter: "c3" }), t1: { grad: "t3" } },
  },
]);

export const failedBackwardTrace = makeTrace(BACKWARD_SOURCE, [
  ...BACKWARD_STEPS,
  visitStep("n2", [gradientValue([1, 1, 1])], [], { failed: true }),
]);

export const freedGraphTrace = makeTrace(BACKWARD_SOURCE, [
  ...BACKWARD_STEPS.slice(0, 2),
  { set: { n2: { released: true } } },
]);

const KIB = 1024;

/** The blocks of a small segment and of a large one, as torch's caching allocator has them. */
const ALLOCATOR_BLOCKS = [
  { address: 0, size: 512, state: "active_allocated", requested: 12, storage: "s1" },
  { address: 512, size: 512, state: "active_awaiting_free", requested: 400 },
  { address: KIB, size: 2047 * KIB, state: "inactive" },
  { address: 2048 * KIB, size: 8192 * KIB, state: "active_allocated" },
  { address: 10240 * KIB, size: 12288 * KIB, state: "inactive" },
];

/** A tensor on a GPU, with what its allocator has. */
export const gpuTrace = makeTrace('a = torch.tensor([1., 2., 3.], device="cuda")\n', [
  {
    set: {
      f1: frame({ a: entityRef("t1") }),
      s1: { ...storage([1, 2, 3]), device: "cuda:0" },
      c1: counter(),
      t1: tensor({ device: "cuda:0" }),
      d1: {
        kind: "device",
        name: "NVIDIA H200",
        allocated: 8193 * KIB,
        reserved: 22528 * KIB,
        peak: 8193 * KIB,
        segments: [
          { size: 2048 * KIB, pool: "small" },
          { size: 20480 * KIB, pool: "large" },
        ],
        blocks: ALLOCATOR_BLOCKS,
      },
    },
  },
]);
