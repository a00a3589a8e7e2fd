/**
 * The view of parameters: what each was given and what came of it, beside what each module keeps, at the step of the
 * page.
 */

import { button, element, nodesWithCode } from "../browser/elements.ts";
import { addToList } from "../trace/multimap.ts";
import { saveFile } from "../browser/file_menu.ts";
import { patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import { bytesText } from "../trace/format.ts";
import { createGradientStops } from "./gradient_stops_list.ts";
import { createModuleSide, MAX_ROWS_AT_FIRST, moduleTreeOf } from "./module_side.ts";
import { itemsUnderNode, nameTree, initiallyOpenPaths, type NameNode } from "./name_tree.ts";
import { normAsNumber, parameterMomentsOf, type ParameterMoment } from "./parameter_moments.ts";
import { SORT_VALUES, summaryOf, type ParameterColumn, type ParameterSummary } from "./parameter_rows.ts";
import {
  commonModulePath,
  countText,
  parameterCountsText,
  gradientRange,
  parameterHeadlines,
  holderText,
  learnsReason,
  learnsText,
  movedText,
  normText,
  shapeText,
} from "./parameter_texts.ts";
import { createSortedTable, type TableColumn } from "./sorted_table.ts";
import { sparklineMarks, SPARK_WIDTH } from "./sparkline.ts";
import { csvText, moduleLines, parameterLines, tabbedText } from "./tables_csv.ts";
import { netsLocale } from "./words.ts";
import type { OpenTrace } from "../trace/state.ts";

export interface ParametersView {
  show: (opened: OpenTrace, step: number) => void;
}

/** Rows are tall up to so many parameters. */
const MAX_TALL_ROWS = 8;
const SPARK_HEIGHT = { tall: 22, low: 10 };
const ICONS: Record<string, string> = {
  never_learns: "✕",
  never_moved: "✕",
  in_no_optimizer: "!",
  not_updated: "!",
  no_gradient_seen: "!",
  frozen: "□",
  updated: "●",
  changed: "●",
};

/** The table of one run: its rows are the same at every step. */
interface RunParameters {
  nodes: NameNode<string>[];
  openedAtFirst: Set<string>;
  root: string;
  /** by parameter, as the table calls it */
  names: Map<string, string>;
  /** by parameter, the rows that tell of it: its own and those of the parts around it */
  pathsOf: Map<string, string[]>;
  roundCount: number;
}

/** Fills `host`. `choose` is called with the parameter that is chosen, `go` with a step that explains. */
export function createParametersView(
  host: HTMLElement,
  { language, choose, go }: { language: string; choose: (uid: string) => void; go: (step: number) => void },
): ParametersView {
  const { say } = netsLocale(language);
  let shown: { opened: OpenTrace; step: number } | null = null;
  let table: RunParameters | null = null;
  let moments: ParameterMoment[] = [];
  const momentByUid = new Map<string, ParameterMoment>();
  /** by path */
  const summaries = new Map<string, ParameterSummary>();
  /** what `sentences` has */
  let said = "";
  let heightOfSparks = SPARK_HEIGHT.low;

  const sentences = element("div", "parameters-say");
  const small = element("p", "parameters-facts");
  const status = element("span", "parameters-status");
  status.setAttribute("role", "status");
  const csv = button("quiet", say("csv"), saveCsv);
  csv.title = say("csv_why");
  const copy = button("quiet", say("copy"), () => void copyTable());
  copy.title = say("copy_why");
  const tools = element("p", "parameters-tools");
  tools.append(status, csv, copy);
  const columns: TableColumn[] = [
    { id: "name", label: say("name") },
    { id: "shape", label: say("shape") },
    { id: "numbers", label: say("numbers"), isNumber: true },
    { id: "held", label: say("held") },
    { id: "learns", label: say("learns") },
    { id: "gradient", label: say("gradient_rounds") },
    { id: "weight", label: say("weight") },
    { id: "moved", label: say("moved") },
  ];
  const parameters = createSortedTable<string>(columns, {
    className: "parameters-table",
    caption: say("name"),
    sortLabel: (column) => say("sort", { column }),
    openLabel: (name, n) => say("open_group", { name, n }),
    moreLabel: (name, n, next) => say("more_rows", { name, n, next }),
    sortedBy: "learns",
    onChange: draw,
    keyOf: (node, column) => SORT_VALUES[column as ParameterColumn](summaryOfNode(node), nameOfNode(node)),
    rowClass: (node) => `${node.children.length ? "part " : ""}${summaryOfNode(node).learns}`,
    lookOf: summaryOfNode,
    choose: (node) => choose(node.item ?? ""),
    chooseLabel: (node) => say("show_tensor", { name: nameOfNode(node) }),
    fullName: nameOfNode,
    cellsOf: (node) => cellsOf(summaryOfNode(node)),
  });
  const modules = createModuleSide(say, draw);
  const modulesFoot = element("p", "modules-foot");
  const side = element("section", "modules-side");
  side.setAttribute("aria-label", say("modules"));
  side.append(modules.element, modulesFoot);
  const stops = createGradientStops(say, go);
  const head = element("div", "parameters-head");
  const words = element("div", "");
  words.append(sentences, small);
  head.append(words, tools);
  const left = element("div", "parameters-left");
  left.append(parameters.element, stops.element);
  const both = element("div", "parameters-both");
  both.append(left, side);
  const sheet = element("div", "parameters-sheet");
  sheet.append(head, both);
  host.append(sheet);

  function summaryOfNode(node: NameNode<string>): ParameterSummary {
    let summary = summaries.get(node.path);
    if (!summary) {
      summary = summaryOf(
        itemsUnderNode(node).flatMap((uid) => momentByUid.get(uid) ?? []),
        (moment) => holderText(moment, say),
      );
      summaries.set(node.path, summary);
    }
    return summary;
  }

  function nameOfNode(node: NameNode<string>) {
    return table?.names.get(node.item ?? "") ?? node.path.split("\n")[0];
  }

  function cellsOf(summary: ParameterSummary) {
    const { moments, gradient, weight, moved, movedAtMost, held, learns } = summary;
    const isPart = moments.length > 1;
    const icon = element("span", "icon", ICONS[learns] ?? "·");
    icon.setAttribute("aria-hidden", "true");
    const word = element("span", "word", learnsText(summary, say));
    const isGone = learns === "not_made";
    const gradients = summary.rounds.map((round) => round.gradient);
    const weights = summary.rounds.map((round) => round.weight);
    const moves = summary.rounds.map((round) => round.moved);
    const wantsNone = learns === "frozen" && gradient === null;
    return [
      { className: "shape", content: [isPart ? "" : shapeText(moments[0].row.shape)] },
      { content: [countText(summary.numbers)] },
      { className: held[0] === say("nobody") ? "held nobody" : "held", content: [heldText(held)] },
      { className: "learns", title: learnsReason(summary, say), content: [icon, word] },
      {
        className: "norm gradient",
        title: normTitle(gradient),
        content: isGone
          ? [""]
          : wantsNone
            ? [say("none_wanted")]
            : [spark(gradients, "gradient"), ...gradientNodes(summary)],
      },
      {
        className: "norm weight",
        title: normTitle(weight),
        content: isGone ? [""] : [spark(weights, "weight"), normNode(normText(weight))],
      },
      {
        className: "norm moved",
        title: movedAtMost ? say("moved_at_most_why", { n: movedAtMost.size }) : normTitle(moved),
        content: isGone || moved === null ? [""] : [spark(moves, "moved"), normNode(movedText(moved, movedAtMost))],
      },
    ];
  }

  function heldText(held: string[]) {
    return held.length === 1 ? held[0] : say("holders", { n: held.length });
  }

  function normTitle(norm: number | null) {
    return norm !== null && Number.isNaN(norm) ? say("not_listed_why") : "";
  }

  function normNode(text: string) {
    return element("span", "value", text);
  }

  /** The norm, and the scale that is in it. */
  function gradientNodes({ gradient, scale }: ParameterSummary): HTMLElement[] {
    const value = normNode(gradient === null ? say("none") : normText(gradient));
    if (gradient !== null) value.dataset.norm = String(gradient);
    if (scale === null) return [value];
    const times = element("span", "scaled", say("scaled", { scale: countText(scale) }));
    times.title = say("scaled_why", { scale: countText(scale) });
    return [value, times];
  }

  /** A bar at each gradient that is as long as it is large beside the largest of all. */
  function showShares() {
    const largest = Math.max(0, ...moments.map(({ gradient }) => finiteNorm(gradient)));
    for (const value of parameters.element.querySelectorAll<HTMLElement>(".gradient [data-norm]")) {
      const share = String(shareOfLargest(Number(value.dataset.norm), largest));
      if (value.style.getPropertyValue("--share") !== share) value.style.setProperty("--share", share);
    }
  }

  function spark(values: (number | null)[], kind: string): SVGElement {
    const svg = document.createElementNS(SVG_NAMESPACE, "svg");
    svg.setAttribute("class", `spark ${kind}`);
    svg.setAttribute("width", String(heightOfSparks === SPARK_HEIGHT.tall ? SPARK_WIDTH : SPARK_WIDTH * 0.6));
    svg.setAttribute("height", String(heightOfSparks));
    svg.setAttribute("viewBox", `0 0 ${SPARK_WIDTH} ${heightOfSparks}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    patchHost(document, svg, sparklineMarks(values, Math.max(table?.roundCount ?? 0, values.length), heightOfSparks));
    return svg;
  }

  /** Once for a run. */
  function tableOf(opened: OpenTrace): RunParameters {
    const found = parameterMomentsOf(opened);
    const rows = [...found.rows];
    const allNames = rows.map(([, { name }]) => name ?? say("unnamed"));
    const root = rows.some(([, { name }]) => name === null) ? "" : commonModulePath(allNames).split(".")[0];
    const things = rows.map(([item], k) => ({ name: root ? allNames[k].slice(root.length + 1) : allNames[k], item }));
    const names = new Map(
      rows.map(([uid, { also }], k) => {
        const { name } = things[k];
        return [uid, also.length ? say("also", { name, names: also.join(", ") }) : name];
      }),
    );
    const flat = things.map(({ name, item }, k) => ({
      path: `${name}\n${k}`,
      label: name,
      depth: 0,
      item,
      children: [],
    }));
    const nodes = things.length <= MAX_ROWS_AT_FIRST ? flat : nameTree(things);
    const pathsOf = new Map<string, string[]>();
    for (const node of allNodes(nodes)) for (const uid of itemsUnderNode(node)) addToList(pathsOf, uid, node.path);
    const roundCount = Math.max(0, ...rows.map(([uid]) => found.roundsOf(uid).length));
    return { nodes, openedAtFirst: initiallyOpenPaths(nodes, MAX_ROWS_AT_FIRST), root, names, pathsOf, roundCount };
  }

  /**
   * The parameters at another step; the summaries of those that are others there are made again when they are asked
   * for.
   */
  function moveToStep(opened: OpenTrace, step: number, shownTable: RunParameters) {
    const found = parameterMomentsOf(opened).at(step);
    for (const [k, moment] of found.entries()) {
      if (moment === moments[k]) continue;
      momentByUid.set(moment.uid, moment);
      for (const path of shownTable.pathsOf.get(moment.uid) ?? []) summaries.delete(path);
    }
    moments = found;
  }

  function draw() {
    if (!shown) return;
    const { opened, step } = shown;
    table ??= tableOf(opened);
    moveToStep(opened, step, table);
    const { nodes, openedAtFirst, root } = table;
    const { isWhole } = parameterMomentsOf(opened).table;
    const isTall = moments.length <= MAX_TALL_ROWS;
    heightOfSparks = isTall ? SPARK_HEIGHT.tall : SPARK_HEIGHT.low;
    sheet.classList.toggle("tall", isTall);
    const texts = [...parameterHeadlines(moments, say), gradientRange(moments, say) ?? []].flat();
    if (texts.join("\n") !== said) {
      said = texts.join("\n");
      sentences.replaceChildren(...texts.map(paragraph));
    }
    small.textContent = moments.length ? `${parameterCountsText(moments, isWhole, say)} · ${say("sub_sort")}` : "";
    const rounds = Math.max(0, ...moments.map((moment) => moment.rounds.length));
    const labels = {
      name: root ? say("name_of", { root }) : say("name"),
      moved: rounds ? say("moved_round", { n: rounds - 1 }) : say("moved"),
    };
    parameters.element.hidden = !moments.length;
    parameters.show(nodes, openedAtFirst, labels);
    showShares();
    stops.show(opened, step, moments);
    const tree = moduleTreeOf(opened);
    modules.element.hidden = !tree.rows.length;
    modules.show(tree);
    const { operations, kept } = tree.totals;
    modulesFoot.textContent = tree.rows.length
      ? say("modules_foot", { operations: countText(operations), kept: bytesText(kept) })
      : say("no_modules");
  }

  function paragraph(text: string) {
    const line = element("p", "");
    line.append(...nodesWithCode(text));
    return line;
  }

  function saveCsv() {
    if (!shown) return;
    const text = [csvText(parameterLines(moments, shown.step)), csvText(moduleLines(moduleTreeOf(shown.opened).rows))];
    saveFile(new Blob([text.join("\n")], { type: "text/csv" }), "parameters.csv");
  }

  async function copyTable() {
    if (!shown) return;
    const text = tabbedText(parameterLines(moments, shown.step));
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    status.textContent = say(isCopied ? "copied" : "copy_failed");
  }

  return {
    show(opened, step) {
      if (shown && shown.opened.trace !== opened.trace) {
        parameters.reset();
        modules.reset();
      }
      if (shown?.opened !== opened) {
        table = null;
        moments = [];
        momentByUid.clear();
        summaries.clear();
      }
      status.textContent = "";
      shown = { opened, step };
      draw();
    },
  };
}

/** Powers of ten below the largest gradient at which a bar has no length any more. */
const DECADES = 6;

/** From 0 to 1. */
function shareOfLargest(norm: number | null, largest: number) {
  if (norm === null || Number.isNaN(norm) || norm <= 0 || largest <= 0) return 0;
  return Math.max(0, Math.min(1, 1 + Math.log10(norm / largest) / DECADES));
}

function finiteNorm(norm: ParameterMoment["gradient"]) {
  const value = normAsNumber(norm);
  return Number.isFinite(value) ? value : 0;
}

function allNodes<T>(nodes: NameNode<T>[]): NameNode<T>[] {
  return nodes.flatMap((node) => [node, ...allNodes(node.children)]);
}
