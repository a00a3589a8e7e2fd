/** Every mark in every state: small true traces, each with the step and the part of the picture to look at. */

/** @typedef {{mark: string, state: string, trace: any, step: number, find: string}} Specimen   find: a selector of what to look at */

/** @param {string} uid */
const ref = (uid) => ({ ref: uid });
const counter = (value = 0) => ({ kind: "counter", value });

/** @param {any[]} cells @param {string} [dtype] */
const storage = (cells, dtype = "float32") => ({
  kind: "storage",
  device: "cpu",
  nbytes: cells.length * 4,
  cells: { [dtype]: cells },
});

/** @param {any} [over] */
const tensor = (over = {}) => ({
  kind: "tensor",
  type: "Tensor",
  shape: [3],
  dtype: "float32",
  device: "cpu",
  layout: "strided",
  storage: "s1",
  offset: 0,
  stride: [1],
  counter: "c1",
  requires_grad: false,
  leaf: true,
  retains_grad: false,
  bits: [],
  hooks: 0,
  ...over,
});

/** @param {string} name @param {[string, number][]} next @param {any} [rest] */
const node = (name, next, rest = {}) => ({ kind: "node", name, next, saved: {}, attrs: {}, ...rest });

/** @param {Record<string, any>} vars */
const frame = (vars) => ({ kind: "frame", name: "<module>", line: 1, state: "running", vars });

/** @param {string} source @param {any[]} steps */
function trace(source, steps) {
  return {
    program: { source, lines: [], statements: [], notices: [] },
    steps: steps.map((step, i) => ({
      i,
      kind: "statement",
      stmt: i,
      line: i + 1,
      frame: "f1",
      depth: 0,
      gone: [],
      log: [],
      set: {},
      ...step,
    })),
    outcome: { status: "finished" },
  };
}

const A = { s1: storage([1, 2, 3]), c1: counter(), t1: tensor() };
const LEAF = { s1: storage([1, 2, 3]), c1: counter(), t1: tensor({ requires_grad: true }) };
const BASE = { s1: storage([...Array(6).keys()]), c1: counter(), t1: tensor({ shape: [2, 3], stride: [3, 1] }) };

const plain = trace("a = torch.tensor([1., -2., 3.])\nn = 0\na[1] = 5\ndel a\n", [
  { set: { f1: frame({ a: ref("t1") }), ...A, s1: storage([1, -2, 3]) } },
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
const wave = Array.from({ length: 300 }, (_, k) => Math.fround(Math.sin(k / 12)));
const heat = trace("a = torch.sin(torch.arange(300) / 12)\n", [
  { set: { f1: frame({ a: ref("t1") }), s1: storage(wave), c1: counter(), t1: tensor({ shape: [300] }) } },
]);
const several = trace("a = torch.ones(2)\nraw = a.view(torch.int32)\n", [
  { set: { f1: frame({ a: ref("t1") }), s1: storage([1, 1]), c1: counter(), t1: tensor({ shape: [2] }) } },
  {
    set: {
      s1: { cells: { float32: [1, 1], int32: [1065353216, 1065353216] } },
      t2: tensor({ shape: [2], dtype: "int32", base: "t1" }),
      f1: { vars: { raw: ref("t2") } },
    },
  },
]);
const odd = trace("a = torch.tensor([0., math.nan, math.inf])\n", [
  { set: { f1: frame({ a: ref("t1") }), ...A, s1: storage([0, { $f: "nan" }, { $f: "inf" }]) } },
]);
const big = trace("a = torch.rand(5000)\n", [
  {
    set: {
      f1: frame({ a: ref("t1") }),
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

const followed = trace("a = torch.tensor([1., 2., 3.], requires_grad=True)\nb = a.clone()\nv = b[1:]\n", [
  { set: { f1: frame({ a: ref("t1") }), ...LEAF } },
  {
    set: {
      n1: node("AccumulateGrad", [], { variable: "t1" }),
      n2: node("CloneBackward0", [["n1", 0]]),
      s2: storage([1, 2, 3]),
      c2: counter(),
      t2: tensor({ storage: "s2", counter: "c2", requires_grad: true, leaf: false, grad_fn: "n2" }),
      f1: { vars: { b: ref("t2") } },
    },
  },
  {
    set: {
      n3: node("SliceBackward0", [["n2", 0]]),
      f1: { vars: { v: ref("t3") } },
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
]);

/** A base of six elements and one more handle on it. @param {string} line @param {any} over */
const viewed = (line, over) =>
  trace(`a = torch.arange(6.).view(2, 3)\n${line}\n`, [
    { set: { f1: frame({ a: ref("t1") }), ...BASE } },
    { set: { t2: tensor({ base: "t1", ...over }), f1: { vars: { v: ref("t2") } } } },
  ]);
const unnamed = trace("keep = torch.ones(3).sin\n", [
  { set: { f1: frame({ keep: { py: "builtin_function_or_method" } }), ...A, s1: storage([1, 1, 1]) } },
]);
const array = trace("a = torch.ones(3)\nq = a.numpy()\n", [
  { set: { f1: frame({ a: ref("t1") }), ...A, s1: storage([1, 1, 1]) } },
  {
    set: {
      a1: {
        kind: "array",
        type: "ndarray",
        shape: [3],
        dtype: "float32",
        storage: "s1",
        at: 0,
        steps: [4],
        writeable: true,
      },
      f1: { vars: { q: ref("a1") } },
    },
  },
]);
const shared = trace("a = torch.tensor([1., 2., 3.], requires_grad=True)\nd = a.detach()\ne = a.data\nd.zero_()\n", [
  { set: { f1: frame({ a: ref("t1") }), ...LEAF } },
  { set: { t2: tensor({ base: "t1" }), f1: { vars: { d: ref("t2") } } } },
  { set: { c2: counter(), t3: tensor({ counter: "c2" }), f1: { vars: { e: ref("t3") } } } },
  {
    set: { s1: { cells: { float32: [0, 0, 0] } }, c1: { value: 1 } },
    log: [{ kind: "event", event: "written", storage: "s1", changed: 3, by: "t2" }],
  },
]);

const SIGMOID = [0.7310585975646973, 0.8807970285415649, 0.9525741338729858];
const SLOT = {
  tensor: "t2",
  storage: "s2",
  dtype: "float32",
  offset: 0,
  shape: [3],
  stride: [1],
  counter: "c2",
  expected: 0,
};

/** out = a.sigmoid(), and then its saved slot in a state. @param {string} state @param {string} then @param {any} step */
const saved = (state, then, step) =>
  trace(`a = torch.tensor([1., 2., 3.], requires_grad=True)\nout = a.sigmoid()\n${then}\n`, [
    { set: { f1: frame({ a: ref("t1") }), ...LEAF } },
    {
      set: {
        n1: node("AccumulateGrad", [], { variable: "t1" }),
        s2: storage(SIGMOID),
        c2: counter(),
        f1: { vars: { out: ref("t2") } },
        n2: node("SigmoidBackward0", [["n1", 0]], { saved: { result: { ...SLOT, state: "ok" } } }),
        t2: tensor({ storage: "s2", counter: "c2", requires_grad: true, leaf: false, grad_fn: "n2" }),
      },
    },
    {
      ...step,
      set: { n2: { saved: { result: { ...SLOT, state } }, ...(step.released && { released: true }) }, ...step.set },
    },
  ]);
const ZERO = { cells_at: { float32: { 0: 0, 1: 0, 2: 0 } } };
const fine = saved("ok", "n = 1", { set: { f1: { vars: { n: 1 } } } });
const stale = saved("stale", "out.detach().zero_()", {
  set: { s2: ZERO, c2: { value: 1 } },
  log: [
    { kind: "event", event: "written", storage: "s2", changed: 3 },
    { kind: "event", event: "saved_stale", node: "n2", slot: "result" },
  ],
});
const changed = saved("changed", "out.data.zero_()", {
  set: { s2: ZERO },
  log: [
    { kind: "event", event: "written", storage: "s2", changed: 3 },
    { kind: "event", event: "saved_changed_silently", node: "n2", slot: "result" },
  ],
});
const released = saved("freed", "out.sum().backward()", {
  released: true,
  log: [{ kind: "event", event: "graph_released", node: "n2" }],
});
const unknown = saved("unknown", "for _ in range(900): out = a.sigmoid()", {});
const packed = saved("packed", "with saved_tensors_hooks(pack, unpack): out = a.sigmoid()", {});
const detached = saved("detached", "out.detach_()", {
  set: { t2: { requires_grad: false, leaf: true, grad_fn: null } },
  log: [{ kind: "event", event: "saved_detached", node: "n2", slot: "result" }],
});

/** @param {number[]} cells */
const grad = (cells) => ({
  shape: cells.length === 1 ? [] : [cells.length],
  dtype: "float32",
  layout: "strided",
  cells,
});
/** @param {string} uid @param {any[]} outs @param {any[]} ins @param {any} [rest] */
const visit = (uid, outs, ins, rest = {}) => ({
  kind: "visit",
  stmt: 2,
  line: 3,
  visit: { backward: "b1", node: uid, grad_outputs: outs, grad_inputs: ins, ...rest },
});
const GRAPH = [
  { set: { f1: frame({ a: ref("t1") }), ...LEAF } },
  {
    set: {
      n1: node("AccumulateGrad", [], { variable: "t1" }),
      n2: node("CloneBackward0", [["n1", 0]]),
      n3: node("SumBackward0", [["n2", 0]]),
      s2: storage([6]),
      c2: counter(),
      f1: { vars: { loss: ref("t2") } },
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
    ...visit("n3", [grad([1])], [grad([1, 1, 1])]),
    set: { b1: { kind: "backward", stmt: 2, api: "backward", roots: ["t2"] } },
  },
];
const LINES = "a = torch.tensor([1., 2., 3.], requires_grad=True)\nloss = a.clone().sum()\nloss.backward()\n";
const backward = trace(LINES, [
  ...GRAPH,
  visit("n2", [grad([1, 1, 1])], [grad([1, 1, 1])]),
  {
    ...visit("n1", [grad([1, 1, 1])], [], { accumulates: "t1" }),
    set: { s3: storage([1, 1, 1]), c3: counter(), t3: tensor({ storage: "s3", counter: "c3" }), t1: { grad: "t3" } },
  },
]);
const fails = trace(LINES, [...GRAPH, visit("n2", [grad([1, 1, 1])], [], { failed: true })]);
const frees = trace(LINES, [...GRAPH.slice(0, 2), { set: { n2: { released: true } } }]);

const APART = { c2: counter(), s2: storage([2, 4, 6]) };
const RESULT = { storage: "s2", counter: "c2" };
const CUTS = /** @type {[string, string, any][]} */ ([
  ["detach", "b = a.detach()", { t2: tensor({ base: "t1" }) }],
  ["data", "b = a.data", { c2: counter(), t2: tensor({ counter: "c2" }) }],
  ["no_grad", "with torch.no_grad(): b = a * 2", { ...APART, t2: tensor(RESULT) }],
  [
    "inference",
    "with torch.inference_mode(): b = a * 2",
    { s2: storage([2, 4, 6]), t2: tensor({ storage: "s2", counter: undefined, bits: ["inference"] }) },
  ],
  ["item", "b = a.sum().item()", {}],
  [
    "dtype",
    "b = a.argmax()",
    {
      s2: { ...storage([2], "int64"), nbytes: 8 },
      c2: counter(),
      t2: tensor({ ...RESULT, shape: [], stride: [], dtype: "int64" }),
    },
  ],
  [
    "numpy",
    "b = a.detach().numpy()",
    {
      a1: {
        kind: "array",
        type: "ndarray",
        shape: [3],
        dtype: "float32",
        storage: "s1",
        at: 0,
        steps: [4],
        writeable: true,
      },
    },
  ],
  ["copy", "b = torch.tensor(a)", { c2: counter(), s2: storage([1, 2, 3]), t2: tensor(RESULT) }],
]);
/** @param {string} reason @param {string} line @param {any} made */
const cut = (reason, line, made) =>
  trace(`a = torch.tensor([1., 2., 3.], requires_grad=True)\n${line}\n`, [
    { set: { f1: frame({ a: ref("t1") }), ...LEAF } },
    {
      set: { ...made, f1: { vars: { b: made.t2 ? ref("t2") : made.a1 ? ref("a1") : 6 } } },
      log: [{ kind: "event", event: "path_cut", tensor: "t1", op: "", reason, result: made.t2 ? "t2" : undefined }],
    },
  ]);

/** The same run one quiet step later: nothing is new any more. @param {any} made @param {number} step @returns {[any, number]} */
function after(made, step) {
  const steps = made.steps.slice(0, step + 1);
  return [{ ...made, steps: [...steps, { ...steps[step], i: step + 1, set: {}, gone: [], log: [] }] }, step + 1];
}

const PINNED = "[data-pin], [data-storage-strip='s2'], [data-node='n2'], .alarm";
const CUT = "[data-name], [data-handle], [data-wire], [data-storage-strip]";
/** @type {[string, string, any, number, string][]} */
const LIST = [
  ["cell", "plain", plain, 1, "[data-storage-strip]"],
  ["cell", "written", plain, 2, "[data-storage-strip]"],
  ["cell", "nonfinite", ...after(odd, 0), "[data-storage-strip]"],
  ["cell", "silent", changed, 2, "[data-storage-strip='s2'], [data-pin], .alarm"],
  ["cell", "freed", plain, 3, "[data-ghost]"],
  ["cell", "heat", ...after(heat, 0), "[data-storage-strip]"],
  ["cell", "summary", ...after(big, 0), "[data-storage-strip]"],
  ["cell", "dtypes", ...after(several, 1), "[data-storage-strip]"],
  [
    "handle",
    "leaf",
    ...after(followed, 0),
    "[data-ref='t1'], [data-handle='t1'], [data-wire='t1'], [data-storage-strip='s1']",
  ],
  [
    "handle",
    "node",
    ...after(followed, 1),
    "[data-ref='t2'], [data-handle='t2'], [data-wire='t2'], [data-storage-strip='s2']",
  ],
  [
    "handle",
    "view",
    ...after(followed, 2),
    "[data-ref='t3'], [data-handle='t3'], [data-wire='t3'], [data-storage-strip='s2']",
  ],
  [
    "handle",
    "transposed",
    ...after(viewed("v = a.t()", { shape: [3, 2], stride: [1, 3] }), 1),
    "[data-ref='t2'], [data-handle='t2'], [data-wire='t2'], [data-storage-strip]",
  ],
  [
    "handle",
    "stride0",
    ...after(viewed("v = a[0, 1].expand(4)", { shape: [4], stride: [0], offset: 1 }), 1),
    "[data-ref='t2'], [data-handle='t2'], [data-wire='t2'], [data-storage-strip]",
  ],
  [
    "handle",
    "overlap",
    ...after(viewed("v = a.as_strided((4, 3), (1, 1))", { shape: [4, 3], stride: [1, 1] }), 1),
    "[data-ref='t2'], [data-handle='t2'], [data-wire='t2'], [data-storage-strip]",
  ],
  ["handle", "unnamed", ...after(unnamed, 0), ".no-name, [data-handle], [data-wire], [data-storage-strip]"],
  [
    "handle",
    "array",
    ...after(array, 1),
    "[data-ref='a1'], [data-handle='a1'], [data-wire='a1'], [data-storage-strip]",
  ],
  ["counter", "one", ...after(followed, 0), "[data-handle='t1'], [data-counter-badge]"],
  ["counter", "shared", ...after(shared, 1), "[data-handle], [data-counter-badge]"],
  ["counter", "own", ...after(shared, 2), "[data-handle], [data-counter-badge]"],
  ["counter", "bumped", shared, 3, "[data-handle='t1'], [data-handle='t2'], [data-counter-badge='c1']"],
  ["pin", "ok", fine, 2, PINNED],
  ["pin", "stale", stale, 2, PINNED],
  ["pin", "silent", changed, 2, PINNED],
  ["pin", "detached", detached, 2, PINNED],
  ["pin", "released", released, 2, PINNED],
  ["pin", "unknown", unknown, 2, PINNED],
  ["pin", "packed", packed, 2, PINNED],
  ["node", "plain", ...after(backward, 1), "[data-node='n2']"],
  ["node", "waiting", backward, 2, "[data-node='n2']"],
  ["node", "running", backward, 3, "[data-node='n2']"],
  ["node", "done", backward, 4, "[data-node='n2']"],
  ["node", "failed", fails, 3, "[data-node='n2']"],
  ["node", "released", frees, 2, "[data-node='n2']"],
  [
    "node",
    "accumulate",
    backward,
    4,
    "[data-node='n1'], [data-meets], [data-storage-strip='s1'], [data-storage-strip='s3']",
  ],
  ["edge", "plain", ...after(backward, 1), "[data-edge='n2:0'], [data-node='n1'], [data-node='n2']"],
  ["edge", "carrying", backward, 3, "[data-edge='n2:0'], [data-grad='n2:0'], [data-node='n1'], [data-node='n2']"],
  ["edge", "carried", backward, 4, "[data-edge='n2:0'], [data-grad='n2:0'], [data-node='n1'], [data-node='n2']"],
  ...CUTS.map(
    ([reason, line, made]) =>
      /** @type {[string, string, any, number, string]} */ (["cut", reason, cut(reason, line, made), 1, CUT]),
  ),
];

/** @type {Specimen[]} */
export const SPECIMENS = LIST.map(([mark, state, made, step, find]) => ({ mark, state, trace: made, step, find }));
