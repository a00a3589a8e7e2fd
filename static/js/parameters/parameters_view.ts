/** The view of parameters: what each was given and what came of it, beside what each module keeps, at the step of the page. */

import { button, element, nodesWithCode } from "../browser/elements.ts";
import { saveFile } from "../browser/file_menu.ts";
import { patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import { bytesText } from "../layout/format.ts";
import { createGradientStops } from "./gradient_stops_list.ts";
import { createModuleSide, MAX_ROWS_AT_FIRST, moduleTreeOf } from "./module_side.ts";
import { itemsIn, nameTree, openAtFirst, type NameNode } from "./name_tree.ts";
import { normAsNumber, parameterMomentsOf, type ParameterMoment } from "./parameter_moments.ts";
import { SORT_VALUES, summaryOf, type ParameterColumn, type ParameterSummary } from "./parameter_rows.ts";
import {
  commonPart,
  countText,
  facts,
  gradientRange,
  headlines,
  holderText,
  learnsReason,
  learnsText,
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

interface ShownTable {
  moments: ParameterMoment[];
  nodes: NameNode<string>[];
  openedAtFirst: Set<string>;
  root: string;
}

/**
 * @param host is filled
 * @param options choose: called with the parameter that is chosen; go: with a step that explains
 */
export function createParametersView(
  host: HTMLElement,
  { language, choose, go }: { language: string; choose: (uid: string) => void; go: (step: number) => void },
): ParametersView {
  const { say } = netsLocale(language);
  let shown: { opened: OpenTrace; step: number } | null = null;
  let table: ShownTable | null = null;
  let summaries = new Map<string, ParameterSummary>();
  let names = new Map<string, string>();
  let heightOfSparks = SPARK_HEIGHT.low;
  let roundCount = 0;
  let largestGradient = 0;

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
      const byUid = new Map((table?.moments ?? []).map((moment) => [moment.uid, moment]));
      for (const each of allNodes(table?.nodes ?? []))
        summaries.set(
          each.path,
          summaryOf(momentsOf(each, byUid), (moment) => holderText(moment, say)),
        );
      summary = summaries.get(node.path) as ParameterSummary;
    }
    return summary;
  }

  function nameOfNode(node: NameNode<string>) {
    return names.get(node.item ?? "") ?? node.path.split("\n")[0];
  }

  function cellsOf(summary: ParameterSummary) {
    const { moments, gradient, weight, moved, held, learns } = summary;
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
        title: normTitle(moved),
        content: isGone || moved === null ? [""] : [spark(moves, "moved"), normNode(normText(moved))],
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

  /** The norm, with a bar that is as long as it is large beside the largest of all, and the scale that is in it. */
  function gradientNodes({ gradient, scale }: ParameterSummary): HTMLElement[] {
    const value = normNode(gradient === null ? say("none") : normText(gradient));
    value.style.setProperty("--share", String(shareOfLargest(gradient, largestGradient)));
    if (scale === null) return [value];
    const times = element("span", "scaled", say("scaled", { scale: countText(scale) }));
    times.title = say("scaled_why", { scale: countText(scale) });
    return [value, times];
  }

  function spark(values: (number | null)[], kind: string): SVGElement {
    const svg = document.createElementNS(SVG_NAMESPACE, "svg");
    svg.setAttribute("class", `spark ${kind}`);
    svg.setAttribute("width", String(heightOfSparks === SPARK_HEIGHT.tall ? SPARK_WIDTH : SPARK_WIDTH * 0.6));
    svg.setAttribute("height", String(heightOfSparks));
    svg.setAttribute("viewBox", `0 0 ${SPARK_WIDTH} ${heightOfSparks}`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    patchHost(document, svg, sparklineMarks(values, Math.max(roundCount, values.length), heightOfSparks));
    return svg;
  }

  function tableOf(opened: OpenTrace, step: number): ShownTable {
    const found = parameterMomentsOf(opened);
    const moments = found.at(step);
    const allNames = moments.map(({ row }) => row.name ?? say("unnamed"));
    const root = moments.some(({ row }) => row.name === null) ? "" : commonPart(allNames).split(".")[0];
    names = new Map(
      moments.map(({ uid, row }, k) => {
        const name = root ? allNames[k].slice(root.length + 1) : allNames[k];
        return [uid, row.also.length ? say("also", { name, names: row.also.join(", ") }) : name];
      }),
    );
    const things = moments.map(({ uid }, k) => ({
      name: root ? allNames[k].slice(root.length + 1) : allNames[k],
      item: uid,
    }));
    const flat = things.map(({ name, item }, k) => ({
      path: `${name}\n${k}`,
      label: name,
      depth: 0,
      item,
      children: [],
    }));
    const nodes = things.length <= MAX_ROWS_AT_FIRST ? flat : nameTree(things);
    return { moments, nodes, openedAtFirst: openAtFirst(nodes, MAX_ROWS_AT_FIRST), root };
  }

  function draw() {
    if (!shown) return;
    const { opened, step } = shown;
    table = tableOf(opened, step);
    summaries = new Map();
    const { moments, nodes, openedAtFirst, root } = table;
    const { isWhole } = parameterMomentsOf(opened).table;
    roundCount = Math.max(0, ...moments.map(({ uid }) => parameterMomentsOf(opened).roundsOf(uid).length));
    largestGradient = Math.max(0, ...moments.map(({ gradient }) => finiteNorm(gradient)));
    const isTall = moments.length <= MAX_TALL_ROWS;
    heightOfSparks = isTall ? SPARK_HEIGHT.tall : SPARK_HEIGHT.low;
    sheet.classList.toggle("tall", isTall);
    sentences.replaceChildren(
      ...[...headlines(moments, say), gradientRange(moments, say) ?? []].flat().map((text) => {
        const line = element("p", "");
        line.append(...nodesWithCode(text));
        return line;
      }),
    );
    small.textContent = moments.length ? `${facts(moments, isWhole, say)} · ${say("sub_sort")}` : "";
    const rounds = Math.max(0, ...moments.map((moment) => moment.rounds.length));
    const labels = {
      name: root ? say("name_of", { root }) : say("name"),
      moved: rounds ? say("moved_round", { n: rounds - 1 }) : say("moved"),
    };
    parameters.element.hidden = !moments.length;
    parameters.show(nodes, openedAtFirst, labels);
    stops.show(opened, step, moments);
    const tree = moduleTreeOf(opened);
    modules.element.hidden = !tree.rows.length;
    modules.show(tree);
    const { operations, kept } = tree.totals;
    modulesFoot.textContent = tree.rows.length
      ? say("modules_foot", { operations: countText(operations), kept: bytesText(kept) })
      : say("no_modules");
  }

  function saveCsv() {
    if (!shown || !table) return;
    const text = [
      csvText(parameterLines(table.moments, shown.step)),
      csvText(moduleLines(moduleTreeOf(shown.opened).rows)),
    ];
    saveFile(new Blob([text.join("\n")], { type: "text/csv" }), "parameters.csv");
  }

  async function copyTable() {
    if (!shown || !table) return;
    const text = tabbedText(parameterLines(table.moments, shown.step));
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
      status.textContent = "";
      shown = { opened, step };
      draw();
    },
  };
}

/** Powers of ten below the largest gradient at which a bar has no length any more. */
const DECADES = 6;

/** @returns from 0 to 1 */
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

function momentsOf(node: NameNode<string>, byUid: Map<string, ParameterMoment>) {
  return itemsIn(node).flatMap((uid) => byUid.get(uid) ?? []);
}
