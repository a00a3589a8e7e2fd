/** Small hand-written traces, as torch 2.13 behaves, for the tests of the picture. */

import { counter, frame, ndarray, node, ref, storage, tensor, trace, vars } from "./entities.ts";

const A = { s1: storage([1, 2, 3]), c1: counter(), t1: tensor({ requires_grad: true }) };

/** a; b = a.clone(); c = a.detach(); v = a.view(3, 1) */
export function sharing() {
  return trace(
    "a = torch.tensor([1., 2., 3.], requires_grad=True)\nb = a.clone()\nc = a.detach()\nv = a.view(3, 1)\n",
    [
      { set: { f1: frame({ a: ref("t1") }), ...A } },
      {
        set: {
          n1: node("AccumulateGrad", [], { variable: "t1" }),
          n2: node("CloneBackward0", [["n1", 0]]),
          s2: storage([1, 2, 3]),
          c2: counter(),
          t2: tensor({ storage: "s2", counter: "c2", requires_grad: true, leaf: false, grad_fn: "n2" }),
          f1: vars({ b: ref("t2") }),
        },
      },
      { set: { t3: tensor({ base: "t1" }), f1: vars({ c: ref("t3") }) } },
      {
        set: {
          n3: node("ViewBackward0", [["n1", 0]]),
          t4: tensor({ shape: [3, 1], stride: [1, 1], requires_grad: true, leaf: false, grad_fn: "n3", base: "t1" }),
          f1: vars({ v: ref("t4") }),
        },
      },
    ],
  );
}

/** One storage read four ways: base, t(), a slice, a column expanded. */
export function views() {
  const shared = { counter: "c1", storage: "s1" };
  return trace(
    "base = torch.arange(12.).reshape(3, 4)\nt = base.t()\ns = base[:, 1:3]\ne = base[:, :1].expand(3, 4)\n",
    [
      {
        set: {
          f1: frame({ base: ref("t1") }),
          s1: storage([...Array(12).keys()]),
          c1: counter(),
          t1: tensor({ ...shared, shape: [3, 4], stride: [4, 1] }),
        },
      },
      { set: { t2: tensor({ ...shared, shape: [4, 3], stride: [1, 4] }), f1: vars({ t: ref("t2") }) } },
      { set: { t3: tensor({ ...shared, shape: [3, 2], stride: [4, 1], offset: 1 }), f1: vars({ s: ref("t3") }) } },
      { set: { t4: tensor({ ...shared, shape: [3, 4], stride: [4, 0] }), f1: vars({ e: ref("t4") }) } },
    ],
  );
}

const SIGMOID = [0.7310585975646973, 0.8807970285415649, 0.9525741338729858];

/** out = a.sigmoid(); d = out.detach() (or .data); d.zero_() */
export function saved(state: "stale" | "changed" = "stale") {
  const slot = {
    tensor: "t2",
    storage: "s2",
    dtype: "float32",
    offset: 0,
    shape: [3],
    stride: [1],
    counter: "c2",
    expected: 0,
  };
  const own = state === "changed" ? "c3" : "c2";
  return trace(
    `a = torch.tensor([1., 2., 3.], requires_grad=True)\nout = a.sigmoid()\nd = out.${state === "stale" ? "detach()" : "data"}\nd.zero_()\nn = 3\n`,
    [
      { set: { f1: frame({ a: ref("t1") }), ...A } },
      {
        set: {
          n1: node("AccumulateGrad", [], { variable: "t1" }),
          n2: node("SigmoidBackward0", [["n1", 0]], { saved: { result: { ...slot, state: "ok" } } }),
          s2: storage(SIGMOID),
          c2: counter(),
          t2: tensor({ storage: "s2", counter: "c2", requires_grad: true, leaf: false, grad_fn: "n2" }),
          f1: vars({ out: ref("t2") }),
        },
      },
      {
        set: {
          ...(state === "changed" ? { c3: counter() } : {}),
          t3: tensor({ storage: "s2", counter: own }),
          f1: vars({ d: ref("t3") }),
        },
      },
      {
        set: {
          s2: { cells_at: { float32: { 0: 0, 1: 0, 2: 0 } } },
          [own]: { value: 1 },
          n2: { saved: { result: { ...slot, state } } },
        },
        log: [
          { kind: "event", event: "written", storage: "s2", changed: 3, by: "t3" },
          {
            kind: "event",
            event: state === "stale" ? "saved_stale" : "saved_changed_silently",
            node: "n2",
            slot: "result",
            by: "t3",
          },
        ],
      },
      { set: { f1: vars({ n: 3 }) } },
    ],
  );
}

const grad = (cells: number[]) => ({
  shape: cells.length === 1 ? [] : [cells.length],
  dtype: "float32",
  layout: "strided",
  cells,
});

/** a; w = a - 4; loss = (a.clone() * w).sum(); loss.backward(): two paths meet in a. */
export function backward() {
  const slot = (s: string, state = "ok") => ({
    storage: s,
    dtype: "float32",
    offset: 0,
    shape: [3],
    stride: [1],
    counter: s === "s2" ? "c2" : "c3",
    expected: 0,
    state,
  });
  const visit = (n: string, outs: any[], ins: any[], rest = {}) => ({
    kind: "visit",
    stmt: 3,
    line: 4,
    visit: { backward: "b1", node: n, grad_outputs: outs, grad_inputs: ins, ...rest },
  });
  return trace(
    "a = torch.tensor([1., 2., 3.], requires_grad=True)\nw = a - 4\nloss = (a.clone() * w).sum()\nloss.backward()\n",
    [
      { set: { f1: frame({ a: ref("t1") }), ...A } },
      {
        set: {
          n1: node("AccumulateGrad", [], { variable: "t1" }),
          n2: node("SubBackward0", [["n1", 0]]),
          s2: storage([-3, -2, -1]),
          c2: counter(),
          t2: tensor({ storage: "s2", counter: "c2", requires_grad: true, leaf: false, grad_fn: "n2" }),
          f1: vars({ w: ref("t2") }),
        },
      },
      {
        set: {
          n3: node("CloneBackward0", [["n1", 0]]),
          s3: storage([1, 2, 3]),
          c3: counter(),
          n4: node(
            "MulBackward0",
            [
              ["n3", 0],
              ["n2", 0],
            ],
            { saved: { self: slot("s3"), other: slot("s2") } },
          ),
          n5: node("SumBackward0", [["n4", 0]]),
          s4: storage([-10]),
          c4: counter(),
          t4: tensor({
            shape: [],
            stride: [],
            storage: "s4",
            counter: "c4",
            requires_grad: true,
            leaf: false,
            grad_fn: "n5",
          }),
          f1: vars({ loss: ref("t4") }),
        },
      },
      {
        ...visit("n5", [grad([1])], [grad([1, 1, 1])]),
        set: { b1: { kind: "backward", stmt: 3, api: "backward", roots: ["t4"] } },
      },
      {
        ...visit("n4", [grad([1, 1, 1])], [grad([-3, -2, -1]), grad([1, 2, 3])]),
        set: { n4: { released: true, saved: { self: slot("s3", "freed"), other: slot("s2", "freed") } } },
        gone: ["s3", "c3"],
      },
      visit("n3", [grad([-3, -2, -1])], [grad([-3, -2, -1])]),
      visit("n2", [grad([1, 2, 3])], [grad([1, 2, 3])]),
      {
        ...visit("n1", [grad([-2, 0, 2])], [], { accumulates: "t1" }),
        set: {
          s5: storage([-2, 0, 2]),
          c5: counter(1),
          t5: tensor({ storage: "s5", counter: "c5" }),
          t1: { grad: "t5" },
        },
      },
      { line: 4, stmt: 3, set: {}, gone: ["b1"] },
      { line: 5, set: { f1: { unset: ["loss"] } }, gone: ["t4", "s4", "c4", "n5", "n4", "n3"] },
    ],
  );
}

/** Lists, a function's frame, odd names, plain values, numpy and a dtype view. */
export function objects() {
  return trace("xs = [a, b]\nn = 3\ndef f(x): ...\nf(a)\nq = a.numpy()\nraw = a.view(torch.int32)\n", [
    { set: { f1: frame({ a: ref("t1"), constructor: ref("t1"), torch: { py: "module", text: "torch" } }), ...A } },
    {
      set: {
        s2: storage([4, 5]),
        c2: counter(),
        t2: tensor({ storage: "s2", counter: "c2", shape: [2] }),
        o1: { kind: "object", type: "list", len: 2, items: [ref("t1"), ref("t2")] },
        f1: vars({ xs: ref("o1"), n: 3, lr: 0.1, name: "sgd", nothing: null }),
      },
    },
    {
      kind: "call",
      frame: "f2",
      depth: 1,
      set: { f2: frame({ x: ref("t1"), k: { $i: "12345678901234567890" } }, { name: "f", caller: "f1" }) },
    },
    { kind: "return", set: { f1: vars({ n: 4 }) }, gone: ["f2"] },
    {
      set: {
        a1: ndarray(),
        f1: vars({ q: ref("a1") }),
      },
    },
    {
      set: {
        s1: { cells: { float32: [1, 2, 3], int32: [1065353216, 1073741824, 1077936128] } },
        t3: tensor({ dtype: "int32" }),
        f1: vars({ raw: ref("t3") }),
      },
    },
    { set: { o1: { splice: [[1, 1, [3.5, { $f: "nan" }]]], len: 3 }, f1: { vars: { __proto__x: 1 }, unset: ["n"] } } },
  ]);
}

/** Many tensors, some sharing, some freed again. */
export function crowd(count = 30) {
  const steps = [];
  for (let i = 1; i <= count; i++) {
    const set = {} as Record<string, any>;
    if (i === 1) set.f1 = frame({});
    const view = i % 5 === 0;
    const s = view ? `s${i - 1}` : `s${i}`;
    if (!view) {
      set[s] = storage(Array.from({ length: 1 + (i % 6) }, (_, k) => Math.fround(Math.sin(i * 7 + k))));
      set[`c${i}`] = counter();
    }
    const n = 1 + ((view ? i - 1 : i) % 6);
    set[`t${i}`] = tensor({
      shape: [n],
      storage: s,
      counter: view ? `c${i - 1}` : `c${i}`,
      requires_grad: i % 3 === 0,
      leaf: i % 3 !== 0,
      grad_fn: i % 3 === 0 ? `n${i}` : undefined,
    });
    if (i % 3 === 0)
      set[`n${i}`] = node(
        ["MulBackward0", "AddBackward0", "ReluBackward0"][(i / 3) % 3],
        i > 3 ? [[`n${i - 3}`, 0], ...(i > 9 ? [[`n${i - 9}`, 0] as [string, number]] : [])] : [],
        {
          saved:
            i % 6 || view
              ? {}
              : {
                  self: {
                    storage: s,
                    dtype: "float32",
                    offset: 0,
                    shape: [n],
                    stride: [1],
                    counter: `c${i}`,
                    expected: 0,
                    state: "ok",
                  },
                },
        },
      );
    set.f1 = i === 1 ? frame({ [`v${i}`]: ref(`t${i}`) }) : vars({ [`v${i}`]: ref(`t${i}`) });
    steps.push({ set });
  }
  steps.push({ set: { f1: { unset: ["v7", "v8"] } }, gone: ["t7", "t8", "s7", "c7", "s8", "c8"] });
  steps.push({
    set: {
      s50: storage([9, 9]),
      c50: counter(),
      t50: tensor({ shape: [2], storage: "s50", counter: "c50" }),
      f1: vars({ late: ref("t50") }),
    },
  });
  return trace("", steps);
}

export const ALL = {
  sharing,
  views,
  stale: () => saved("stale"),
  changed: () => saved("changed"),
  backward,
  objects,
  crowd: () => crowd(18),
};
