/** Every mark in every state, each with the step and the part of the picture to look at. */

import { counter, frame, ndarray, entityRef, storage, tensor, makeTrace } from "./entities.ts";
import {
  NEW_LEAF_ENTITIES,
  numpyArrayTrace,
  backwardTrace,
  bigStorageTrace,
  savedChangedTrace,
  savedDetachedTrace,
  failedBackwardTrace,
  savedOkTrace,
  trackedTensorsTrace,
  freedGraphTrace,
  heatmapTrace,
  nonfiniteValuesTrace,
  gpuTrace,
  savedPackedTrace,
  plainTrace,
  savedReleasedTrace,
  severalDtypesTrace,
  sharedCountersTrace,
  savedStaleTrace,
  savedUnknownTrace,
  unnamedTensorTrace,
  viewTrace,
} from "./traces.ts";

export interface LocalizedName {
  en: string;
  zh: string;
}

export interface Specimen {
  state: string;
  name: LocalizedName;
  trace: any;
  step: number;
  /** a selector of what to look at */
  find: string;
}

type SpecimenRow = [state: string, en: string, zh: string, trace: any, step: number, find: string];

const RESULT_ENTITIES = { c2: counter(), s2: storage([2, 4, 6]) };

const RESULT_FIELDS = { storage: "s2", counter: "c2" };

const GRAPH_CUTS = [
  ["detach", "detach()", "detach()", "b = a.detach()", { t2: tensor({ base: "t1" }) }],
  ["data", ".data", ".data", "b = a.data", { c2: counter(), t2: tensor({ counter: "c2" }) }],
  [
    "no_grad",
    "no_grad",
    "no_grad",
    "with torch.no_grad(): b = a * 2",
    { ...RESULT_ENTITIES, t2: tensor(RESULT_FIELDS) },
  ],
  [
    "inference",
    "inference mode",
    "推理模式",
    "with torch.inference_mode(): b = a * 2",
    { s2: storage([2, 4, 6]), t2: tensor({ storage: "s2", counter: undefined, bits: ["inference"] }) },
  ],
  ["item", "a Python number", "Python 数", "b = a.sum().item()", {}],
  [
    "dtype",
    "not a floating dtype",
    "非浮点 dtype",
    "b = a.argmax()",
    {
      s2: { ...storage([2], "int64"), nbytes: 8 },
      c2: counter(),
      t2: tensor({ ...RESULT_FIELDS, shape: [], stride: [], dtype: "int64" }),
    },
  ],
  [
    "numpy",
    "numpy",
    "numpy",
    "b = a.detach().numpy()",
    {
      a1: ndarray(),
    },
  ],
  [
    "copy",
    "a copy as a new leaf",
    "复制成新的叶子",
    "b = torch.tensor(a)",
    { c2: counter(), s2: storage([1, 2, 3]), t2: tensor(RESULT_FIELDS) },
  ],
] as [reason: string, en: string, zh: string, line: string, made: any][];

const graphCutTrace = (reason: string, line: string, newEntities: any) =>
  makeTrace(`a = torch.tensor([1., 2., 3.], requires_grad=True)\n${line}\n`, [
    { set: { f1: frame({ a: entityRef("t1") }), ...NEW_LEAF_ENTITIES } },
    {
      set: {
        ...newEntities,
        f1: { vars: { b: newEntities.t2 ? entityRef("t2") : newEntities.a1 ? entityRef("a1") : 6 } },
      },
      log: [
        { kind: "event", event: "path_cut", tensor: "t1", op: "", reason, result: newEntities.t2 ? "t2" : undefined },
      ],
    },
  ]);

/** The same run one quiet step later: nothing is new any more. */
function atNextStep(specimenTrace: any, step: number): [any, number] {
  const steps = specimenTrace.steps.slice(0, step + 1);
  return [
    { ...specimenTrace, steps: [...steps, { ...steps[step], i: step + 1, set: {}, gone: [], log: [] }] },
    step + 1,
  ];
}

const PIN_SELECTOR = "[data-pin], [data-storage-strip='s2'], [data-node='n2'], .alarm";

const CUT_SELECTOR = "[data-name], [data-handle], [data-wire], [data-storage-strip]";

const SPECIMEN_ROWS_BY_MARK: { mark: string; name: LocalizedName; states: SpecimenRow[] }[] = [
  {
    mark: "cell",
    name: { en: "Cells", zh: "单元" },
    states: [
      ["plain", "plain", "普通", plainTrace, 1, "[data-storage-strip]"],
      ["written", "written by this step", "本步写入", plainTrace, 2, "[data-storage-strip]"],
      ["nonfinite", "not finite", "非有限值", ...atNextStep(nonfiniteValuesTrace, 0), "[data-storage-strip]"],
      [
        "silent",
        "changed silently under a saved slot",
        "已保存的值被悄悄改动",
        savedChangedTrace,
        2,
        "[data-storage-strip='s2'], [data-pin], .alarm",
      ],
      ["heat", "too many for numbers", "太多，不逐个写数字", ...atNextStep(heatmapTrace, 0), "[data-storage-strip]"],
      ["summary", "too many to list", "太多，不逐个列出", ...atNextStep(bigStorageTrace, 0), "[data-storage-strip]"],
      [
        "dtypes",
        "read under two dtypes",
        "以两种 dtype 读取",
        ...atNextStep(severalDtypesTrace, 1),
        "[data-storage-strip]",
      ],
    ],
  },
  {
    mark: "handle",
    name: { en: "Tensors", zh: "张量" },
    states: [
      [
        "leaf",
        "leaf",
        "叶子",
        ...atNextStep(trackedTensorsTrace, 0),
        "[data-ref='t1'], [data-handle='t1'], [data-wire='t1'], [data-storage-strip='s1']",
      ],
      [
        "node",
        "result of an operation",
        "运算的结果",
        ...atNextStep(trackedTensorsTrace, 1),
        "[data-ref='t2'], [data-handle='t2'], [data-wire='t2'], [data-storage-strip='s2']",
      ],
      [
        "view",
        "view",
        "视图",
        ...atNextStep(trackedTensorsTrace, 2),
        "[data-ref='t3'], [data-handle='t3'], [data-wire='t3'], [data-storage-strip='s2']",
      ],
      [
        "transposed",
        "transposed",
        "转置",
        ...atNextStep(viewTrace("v = a.t()", { shape: [3, 2], stride: [1, 3] }), 1),
        "[data-ref='t2'], [data-handle='t2'], [data-wire='t2'], [data-storage-strip]",
      ],
      [
        "stride0",
        "stride 0",
        "步长为 0",
        ...atNextStep(viewTrace("v = a[0, 1].expand(4)", { shape: [4], stride: [0], offset: 1 }), 1),
        "[data-ref='t2'], [data-handle='t2'], [data-wire='t2'], [data-storage-strip]",
      ],
      [
        "overlap",
        "overlapping",
        "重叠",
        ...atNextStep(viewTrace("v = a.as_strided((4, 3), (1, 1))", { shape: [4, 3], stride: [1, 1] }), 1),
        "[data-ref='t2'], [data-handle='t2'], [data-wire='t2'], [data-storage-strip]",
      ],
      [
        "unnamed",
        "no name",
        "没有名字",
        unnamedTensorTrace,
        0,
        ".no-name, [data-handle], [data-wire], [data-storage-strip]",
      ],
      [
        "array",
        "numpy array",
        "numpy 数组",
        ...atNextStep(numpyArrayTrace, 1),
        "[data-ref='a1'], [data-handle='a1'], [data-wire='a1'], [data-storage-strip]",
      ],
    ],
  },
  {
    mark: "counter",
    name: { en: "Version counters", zh: "版本计数器" },
    states: [
      [
        "one",
        "worn by one",
        "只属于一个张量",
        ...atNextStep(trackedTensorsTrace, 0),
        "[data-handle='t1'], [data-counter-badge]",
      ],
      [
        "shared",
        "shared: detach()",
        "共享：detach()",
        ...atNextStep(sharedCountersTrace, 1),
        "[data-handle], [data-counter-badge]",
      ],
      [
        "own",
        "one of its own: .data",
        "独立：.data",
        ...atNextStep(sharedCountersTrace, 2),
        "[data-handle], [data-counter-badge]",
      ],
      [
        "bumped",
        "bumped by this step",
        "本步加一",
        sharedCountersTrace,
        3,
        "[data-handle='t1'], [data-handle='t2'], [data-counter-badge='c1']",
      ],
    ],
  },
  {
    mark: "pin",
    name: { en: "Saved tensors", zh: "保存的张量" },
    states: [
      ["ok", "as it was saved", "与保存时相同", savedOkTrace, 2, PIN_SELECTOR],
      ["stale", "stale: a newer version", "过期：已有更新的版本", savedStaleTrace, 2, PIN_SELECTOR],
      ["silent", "changed silently", "被悄悄改动", savedChangedTrace, 2, PIN_SELECTOR],
      ["detached", "detached in place", "被原地 detach", savedDetachedTrace, 2, PIN_SELECTOR],
      ["released", "released", "已释放", savedReleasedTrace, 2, PIN_SELECTOR],
      ["unknown", "not observed", "未观察到", savedUnknownTrace, 2, PIN_SELECTOR],
      ["packed", "packed by a hook", "由钩子打包", savedPackedTrace, 2, PIN_SELECTOR],
    ],
  },
  {
    mark: "node",
    name: { en: "Nodes of the graph", zh: "计算图的节点" },
    states: [
      ["plain", "plain", "普通", ...atNextStep(backwardTrace, 1), "[data-node='n2']"],
      ["waiting", "waiting in a backward", "反向传播中，等待执行", backwardTrace, 2, "[data-node='n2']"],
      ["running", "running", "正在执行", backwardTrace, 3, "[data-node='n2']"],
      ["done", "done", "已执行", backwardTrace, 4, "[data-node='n2']"],
      ["failed", "failed", "失败", failedBackwardTrace, 3, "[data-node='n2']"],
      ["released", "released", "已释放", freedGraphTrace, 2, "[data-node='n2']"],
      [
        "accumulate",
        "AccumulateGrad with its leaf",
        "AccumulateGrad 与它的叶子",
        backwardTrace,
        4,
        "[data-node='n1'], [data-meets], [data-storage-strip='s1'], [data-storage-strip='s3']",
      ],
    ],
  },
  {
    mark: "edge",
    name: { en: "Edges", zh: "边" },
    states: [
      [
        "plain",
        "plain",
        "普通",
        ...atNextStep(backwardTrace, 1),
        "[data-edge='n2:0'], [data-node='n1'], [data-node='n2']",
      ],
      [
        "carrying",
        "carrying a gradient",
        "正在传递梯度",
        backwardTrace,
        3,
        "[data-edge='n2:0'], [data-grad='n2:0'], [data-node='n1'], [data-node='n2']",
      ],
      [
        "carried",
        "has carried one",
        "已传递过梯度",
        backwardTrace,
        4,
        "[data-edge='n2:0'], [data-grad='n2:0'], [data-node='n1'], [data-node='n2']",
      ],
    ],
  },
  {
    mark: "block",
    name: { en: "A GPU's memory, as torch's allocator has it", zh: "GPU 显存（torch 分配器的视角）" },
    states: [
      [
        "tensor",
        "a tensor's block, one that a stream may still use, and what is free",
        "一个张量的块、某个流可能仍在使用的块，以及空闲部分",
        gpuTrace,
        0,
        ".segment:nth-of-type(2)",
      ],
      ["other", "a block of a library, for example", "例如属于某个库的块", gpuTrace, 0, ".segment:nth-of-type(3)"],
    ],
  },
  {
    mark: "cut",
    name: { en: "Why no gradient comes back", zh: "梯度为什么传不回来" },
    states: GRAPH_CUTS.map(([reason, en, zh, line, made]) => [
      reason,
      en,
      zh,
      graphCutTrace(reason, line, made),
      1,
      CUT_SELECTOR,
    ]),
  },
];

/** The marks in the order of the sheet, each with its specimens. */
export const SPECIMENS_BY_MARK: { mark: string; name: LocalizedName; specimens: Specimen[] }[] =
  SPECIMEN_ROWS_BY_MARK.map(({ mark, name, states }) => ({
    mark,
    name,
    specimens: states.map(([state, en, zh, made, step, find]) => ({
      state,
      name: { en, zh },
      trace: made,
      step,
      find,
    })),
  }));
