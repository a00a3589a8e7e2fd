/** The words of a net: of its operations, of shapes and of norms. */

import { operationNameOfNode } from "../trace/format.ts";

const WORDS: Record<string, string> = {
  Addmm: "linear",
  Addmv: "linear",
  Linear: "linear",
  NativeLayerNorm: "layer norm",
  NativeBatchNorm: "batch norm",
  NativeGroupNorm: "group norm",
  FusedRmsNorm: "rms norm",
  Convolution: "conv",
  ConvolutionOverrideable: "conv",
  Embedding: "look up",
  MaskedFill: "mask",
  Bmm: "matmul",
  Mm: "matmul",
  Mv: "matmul",
  Dot: "dot",
  Add: "+",
  Sub: "−",
  Rsub: "−",
  Mul: "×",
  Div: "÷",
  NllLoss: "nll loss",
  NllLoss2D: "nll loss",
  BinaryCrossEntropyWithLogits: "bce",
  BinaryCrossEntropy: "bce",
  MaxPool2DWithIndices: "max pool",
  AvgPool2D: "avg pool",
  ConstantPadNd: "pad",
  PreluKernel: "prelu",
  NativeDropout: "dropout",
  ScaledDotProductFlashAttentionForCpu: "attention",
  ScaledDotProductEfficientAttention: "attention",
  UnsafeSplit: "split",
  UnsafeView: "view",
  T: "transpose",
  UpsampleNearest2D: "upsample",
  UpsampleBilinear2D: "upsample",
};

/** Operations that lay elements out anew and compute nothing. */
const SHAPE_ONLY = new Set(
  [
    ..."View UnsafeView T Transpose Permute Expand Clone Squeeze Unsqueeze Reshape ReshapeAlias Alias Slice Select AsStrided".split(
      " ",
    ),
    ..."Unbind Split UnsafeSplit SplitWithSizes Unfold ToCopy Detach Narrow Diagonal Contiguous SwapDims Movedim".split(
      " ",
    ),
  ].map((name) => name.toLowerCase()),
);

/** The word for the operation of a node, which has torch's name. */
export function operationLabel(name: string): string {
  const plain = operationNameOfNode(name).replace(/\d+$/, "");
  const word = WORDS[plain] ?? WORDS[operationNameOfNode(name)];
  return (
    word ??
    plain
      .replace(/([a-z\d])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .replace(/_/g, " ")
      .trim()
  );
}

/** Whether a node changes a shape alone. */
export function changesShapeOnly(name: string): boolean {
  return SHAPE_ONLY.has(operationNameOfNode(name).replace(/\d+$/, "").toLowerCase());
}

/** `2×6×16`; a tensor of no dimension is a scalar. */
export function shapeText(shape: number[]): string {
  return shape.length ? shape.join("×") : "scalar";
}

/** A norm with two or three digits: `1.24`, `0.091`, `3e-7`. */
export function normText(norm: number): string {
  if (!Number.isFinite(norm)) return Number.isNaN(norm) ? "nan" : "inf";
  if (norm === 0) return "0";
  if (norm >= 1e5 || norm < 1e-3) return norm.toExponential(0).replace("+", "");
  if (norm >= 100) return norm.toFixed(0);
  return norm >= 1 ? norm.toFixed(2) : norm.toPrecision(2);
}
