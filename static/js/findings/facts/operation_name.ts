/** What a sentence calls an operation of torch. */

import { operationNameOfNode } from "../../trace/format.ts";

/** The name of an operation or a node: `aten::add_.Tensor` is `add_`, `SigmoidBackward0` is `sigmoid`. */
export function operationName(name: string) {
  if (name.startsWith("aten::")) return name.slice(6).split(".")[0];
  const short = operationNameOfNode(name) || name;
  return short
    .replace(/(\d)D(?=[A-Z]|$)/g, "$1d")
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .toLowerCase();
}
