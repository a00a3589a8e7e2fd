/** Every mark in every state, each with the step and the part of the picture to look at. */

import {
  LEAF,
  array,
  backward,
  big,
  changed,
  counter,
  detached,
  fails,
  fine,
  followed,
  frame,
  frees,
  heat,
  odd,
  packed,
  plain,
  ref,
  released,
  several,
  shared,
  stale,
  storage,
  tensor,
  trace,
  unknown,
  unnamed,
  viewed,
} from "./specimen_traces.js";

/** @typedef {{mark: string, state: string, trace: any, step: number, find: string}} Specimen   find: a selector of what to look at */

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
