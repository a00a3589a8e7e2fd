/**
 * The table by module: what each puts out, its parameters and operations, and what it keeps for backward, the largest
 * first.
 */

import { bytesText } from "../trace/format.ts";
import { h, patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import { countText, shapeText } from "./parameter_texts.ts";
import { itemsUnderNode, initiallyOpenPaths, type NameNode } from "./name_tree.ts";
import { createSortedTable } from "./sorted_table.ts";
import { moduleTable, type ModuleRow, type ModuleTotals } from "../nets/module_table.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Say } from "../words/sentences.ts";

/** As many rows are there at first. */
export const MAX_ROWS_AT_FIRST = 28;
const BAR_WIDTH = 64;

interface ModuleTree {
  rows: ModuleRow[];
  totals: ModuleTotals;
  nodes: NameNode<ModuleRow>[];
  opened: Set<string>;
  largest: number;
}

const treeByTrace = new WeakMap<OpenTrace, ModuleTree>();

export function moduleTreeOf(opened: OpenTrace): ModuleTree {
  let tree = treeByTrace.get(opened);
  if (!tree) {
    const { rows, totals } = moduleTable(opened);
    const nodes = nestedByDepth(rows);
    const largest = Math.max(1, ...rows.map(({ kept }) => kept));
    tree = { rows, totals, nodes, opened: initiallyOpenPaths(nodes, MAX_ROWS_AT_FIRST), largest };
    treeByTrace.set(opened, tree);
  }
  return tree;
}

/** Rows by the calls that they run in. */
function nestedByDepth(rows: ModuleRow[]): NameNode<ModuleRow>[] {
  const outermost: NameNode<ModuleRow>[] = [];
  const around: NameNode<ModuleRow>[] = [];
  rows.forEach((row, k) => {
    around.length = Math.min(around.length, row.depth);
    const outer = around[around.length - 1];
    const outerPath = outer?.item?.path ?? "";
    const label = outerPath && row.path.startsWith(`${outerPath}.`) ? row.path.slice(outerPath.length + 1) : row.path;
    const node = { path: `${row.path}\n${k}`, label, depth: around.length, item: row, children: [] };
    (outer?.children ?? outermost).push(node);
    around.push(node);
  });
  return outermost;
}

export function createModuleSide(say: Say, onChange: () => void) {
  const table = createSortedTable<ModuleRow>(
    [
      { id: "path", label: say("module") },
      { id: "out", label: say("out") },
      { id: "numbers", label: say("own_numbers"), isNumber: true },
      { id: "operations", label: say("operations"), isNumber: true },
      { id: "kept", label: say("kept"), isNumber: true },
    ],
    {
      className: "modules-table",
      caption: say("modules"),
      sortLabel: (column) => say("sort", { column }),
      openLabel: (name, count) => say("open_module", { name, n: count - 1 }),
      moreLabel: (name, n, next) => say("more_rows", { name, n, next }),
      sortedBy: "kept",
      onChange,
      keyOf,
      rowClass: ({ children }) => (children.length ? "part" : ""),
      lookOf: ({ item }) => item,
      choose: null,
      chooseLabel: () => "",
      fullName: ({ item }) => item?.path ?? "",
      cellsOf: ({ item }) => (item ? cellsOf(item) : []),
    },
  );
  let largest = 1;

  function cellsOf({ outputs, parameters, operations, kept, calls, type }: ModuleRow) {
    const out = outputs.length > 1 ? say("several") : outputs.length ? shapeText(outputs[0]) : "–";
    return [
      { className: "shape", title: outputs.map(shapeText).join(", "), content: [out] },
      { content: [parameters === null ? "?" : countText(parameters)] },
      { title: calls > 1 ? `${type}, ${say("calls", { n: calls })}` : type, content: [countText(operations)] },
      { className: "kept", content: [keptBytesBar(kept, largest), bytesText(kept)] },
    ];
  }

  return {
    element: table.element,
    reset: table.reset,
    show(tree: ModuleTree) {
      largest = tree.largest;
      table.show(tree.nodes, tree.opened);
    },
  };
}

function keyOf(node: NameNode<ModuleRow>, column: string): number | string | null {
  const row = node.item ?? itemsUnderNode(node)[0];
  if (column === "path") return row.path;
  if (column === "out") return row.outputs.map(shapeText).join() || null;
  if (column === "numbers") return row.parameters === null ? null : -row.parameters;
  return column === "kept" ? -row.kept : -row.operations;
}

function keptBytesBar(kept: number, largest: number): SVGElement {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("class", "kept-bar");
  svg.setAttribute("width", String(BAR_WIDTH));
  svg.setAttribute("height", "10");
  svg.setAttribute("aria-hidden", "true");
  const width = kept ? Math.max(1, (kept / largest) * BAR_WIDTH) : 0;
  patchHost(document, svg, [h("rect", { key: "bar", width, height: 10, rx: 1.5 })]);
  return svg;
}
