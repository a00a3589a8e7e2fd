/** A small drawing for each group of operations, and the group of a statement. */

import { SVG_NAMESPACE } from "../browser/svg.ts";

type OperationGroup =
  | "create"
  | "copy"
  | "share"
  | "view"
  | "in-place"
  | "math"
  | "reduce"
  | "graph"
  | "backward"
  | "module"
  | "optimizer"
  | "python";

/** Paths on a ground of 18 × 18, each with the class of its stroke. */
const GLYPH_PATHS: Record<OperationGroup, [string, string][]> = {
  create: [
    ["box", "M2 6h9v7H2z"],
    ["new", "M14.500 6v7M11 9.500h7"],
  ],
  copy: [
    ["box", "M2 3h9v5H2z"],
    ["new", "M7 10.500h9v5H7z"],
  ],
  share: [
    ["box", "M6 6h10v6H6z"],
    ["line", "M1 5h3l2 3M1 13h3l2-3"],
  ],
  view: [
    ["box", "M2 3h14v5H2z"],
    ["line", "M5 11h8M5 14h5"],
  ],
  "in-place": [
    ["box", "M2 5h14v8H2z"],
    ["new", "M7 5h5v8H7z"],
  ],
  math: [["line", "M2 5h5M4.500 2.500v5M11 5h5M2.500 11.500l4 4M6.500 11.500l-4 4M11 12h5M11 15h5"]],
  reduce: [
    ["line", "M2 3h5l4 6M2 9h9M2 15h5l4-6"],
    ["box", "M11 6.500h5v5h-5z"],
  ],
  graph: [
    ["node", "M2 3h14v6H2z"],
    ["dash", "M5 9v6"],
  ],
  backward: [["arrow", "M9 16V4M4.500 8.500 9 3.500l4.500 5"]],
  module: [
    ["box", "M2 3h14v12H2z"],
    ["line", "M2 7h14"],
  ],
  optimizer: [["arrow", "M2 4c4 0 4 10 8 10h5M12 11l3.500 3L12 17"]],
  python: [["line", "M7 3c-4 0-1 5-4.500 6C6 10 3 15 7 15M11 3c4 0 1 5 4.500 6C12 10 15 15 11 15"]],
};

/** Patterns of statements, the more particular first. */
const OPERATION_GROUP_PATTERNS: [RegExp, OperationGroup][] = [
  [
    /^(async\s+)?(for|while|if|elif|else|try|except|finally|def|class|match|case|import|from|return|print|del|assert|pass|break|continue|raise|@)\b|^@/,
    "python",
  ],
  [/^with\b/, "graph"],
  [/\.backward\(|autograd\.grad\(|\.grad = None|\.grad\.zero_\(/, "backward"],
  [/torch\.optim\.|\.step\(\)|\.zero_grad\(/, "optimizer"],
  [/requires_grad_\(|\.detach_\(|retain_grad\(|register_hook\(|\.grad = /, "graph"],
  [/nn\.(?!functional|Parameter)\w|\.eval\(\)|\.train\(|state_dict\(/, "module"],
  [/^[\w.[\], :]+\s*([-+*/@|&^]|\/\/|\*\*)=|^[\w.]+\[[^\]]*\]\s*=[^=]|\w_\(|\.data = /, "in-place"],
  [/\.clone\(|deepcopy\(|new_tensor\(|\.contiguous\(\)$|\.to\(|torch\.(cat|stack)\(|\.(float|half|double)\(\)/, "copy"],
  [/\.detach\(\)|\.data$|from_numpy|as_tensor|\.numpy\(\)|^\w+\s*=\s*[A-Za-z_]\w*$/, "share"],
  [/torch\.(tensor|zeros|ones|full|empty|arange|linspace|rand|randn|randint|eye|\w+_like)\(|Parameter\(/, "create"],
  [
    /\.(view|reshape|flatten|t|transpose|permute|unsqueeze|squeeze|expand|narrow|chunk|split|unbind|unfold|diagonal)\(|=\s*\w+\[[^\]]*\]$/,
    "view",
  ],
  [/\.(sum|mean|max|min|argmax|norm|item|tolist|std|var)\(|_loss\(|cross_entropy\(/, "reduce"],
  [/[-+*/@]|torch\.|\.\w+\(|\(/, "math"],
];

/** Takes a statement without its indentation. */
export function operationGroupOfStatement(text: string): OperationGroup {
  const code = text.replace(/#.*$/gm, "").trim();
  return OPERATION_GROUP_PATTERNS.find(([pattern]) => pattern.test(code))?.[1] ?? "python";
}

export function operationGroupGlyph(group: OperationGroup) {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("viewBox", "0 0 18 18");
  svg.setAttribute("class", "card-glyph");
  svg.setAttribute("aria-hidden", "true");
  for (const [kind, d] of GLYPH_PATHS[group]) {
    const path = document.createElementNS(SVG_NAMESPACE, "path");
    path.setAttribute("class", kind);
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}
