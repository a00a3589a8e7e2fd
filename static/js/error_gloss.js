/** A plain sentence beside the commonest exceptions of torch, chosen by the exception's type and the stable part of its message. */

/** @typedef {{key: string, args: Record<string, string>}} Gloss   key: of a sentence in the locales, without `gloss_` */

/** The groups of a pattern are the facts of its sentence. @type {[key: string, type: string, pattern: RegExp][]} */
const GLOSSES = [
  ["stale", "RuntimeError", /needed for gradient computation has been modified by an inplace operation/],
  ["second_backward", "RuntimeError", /^Trying to backward through the graph a second time/],
  ["leaf_inplace", "RuntimeError", /^a (?:view of a )?leaf Variable that requires grad is being used in an in-place/],
  ["no_graph", "RuntimeError", /^element \d+ of tensors does not require grad and does not have a grad_fn/],
  ["not_scalar", "RuntimeError", /^grad can be implicitly created only for scalar outputs/],
  ["float_only", "RuntimeError", /^only Tensors of floating point (?:and complex )?dtype can require gradients/i],
  ["unused", "RuntimeError", /differentiated Tensor.* appears? to not have been used in the graph/],
  ["numpy", "RuntimeError", /^Can't call numpy\(\) on Tensor that requires grad/],
  ["not_leaf_flag", "RuntimeError", /^you can only change requires_grad flags of leaf variables/],
  [
    "not_leaf_copy",
    "RuntimeError",
    /^Only Tensors created explicitly by the user \(graph leaves\) support the deepcopy/,
  ],
  ["not_leaf_optimized", "ValueError", /^can't optimize a non-leaf Tensor/],
  ["many_views", "RuntimeError", /is the output of a function that returns multiple views/],
  ["no_grad_view", "RuntimeError", /view was created in no_grad mode and is being modified inplace/],
  [
    "inference",
    "RuntimeError",
    /^(?:Inference tensors cannot be saved for backward|Inplace update to inference tensor)/,
  ],
  ["overlapping", "RuntimeError", /more than one element of the written-to tensor refers to a single memory location/],
  [
    "matmul",
    "RuntimeError",
    /^(?:\w+: )?mat1 and mat2 shapes cannot be multiplied \((?<a>\d+)x(?<b>\d+) and (?<c>\d+)x(?<d>\d+)\)/,
  ],
  [
    "broadcast",
    "RuntimeError",
    /^The size of tensor a \((?<a>\d+)\) must match the size of tensor b \((?<b>\d+)\) at non-singleton/,
  ],
  [
    "expand",
    "RuntimeError",
    /^The expanded size of the tensor \((?<to>\d+)\) must match the existing size \((?<from>\d+)\)/,
  ],
  ["view_strides", "RuntimeError", /^view size is not compatible with input tensor's size and stride/],
  ["view_count", "RuntimeError", /^shape '(?<shape>[^']*)' is invalid for input of size (?<n>\d+)/],
  ["concatenate", "RuntimeError", /^Sizes of tensors must match except in dimension (?<dim>\d+)/],
  ["stack", "RuntimeError", /^stack expects each tensor to be equal size/],
  ["grad_shape", "RuntimeError", /^(?:Mismatch in shape: grad_output|attempting to assign a gradient of size)/],
  ["dtypes", "RuntimeError", /(?:to have|have) the same dtype, but got:? (?<a>[\w ]+?)(?: != | and )(?<b>[\w ]+)/],
  ["cast", "RuntimeError", /^result type (?<from>\w+) can't be cast to the desired output type (?<to>\w+)/],
  [
    "mean",
    "RuntimeError",
    /could not infer output dtype\. Input dtype must be either a floating point or complex dtype/,
  ],
  ["target_dtype", "RuntimeError", /^expected target dtype to be Long/],
  ["target_class", "IndexError", /^Target (?<target>-?\d+) is out of bounds/],
  ["item", "RuntimeError", /^a Tensor with (?<n>\d+) elements cannot be converted to Scalar/],
  ["truth", "RuntimeError", /^Boolean value of Tensor with more than one value is ambiguous/],
  ["index", "IndexError", /^index (?<index>-?\d+) is out of bounds for dimension (?<dim>\d+) with size (?<size>\d+)/],
  ["dimension", "IndexError", /^Dimension out of range \(expected to be in range of \[(?<low>-?\d+), (?<high>-?\d+)\]/],
];

/** @param {{type: string, message: string}} error @returns {Gloss | null} null for an exception that is not known */
export function errorGloss({ type, message }) {
  for (const [key, errorType, pattern] of GLOSSES) {
    const match = isA(type, errorType) && pattern.exec(message);
    if (match) return { key, args: { ...match.groups } };
  }
  return null;
}

/** Whether an exception of this type is one of the other, as Python has it: torch raises now this one, now that.
 * @param {string} type @param {string} other */
function isA(type, other) {
  return type === other || (type === "NotImplementedError" && other === "RuntimeError");
}
