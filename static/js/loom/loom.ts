/** The loom by storage: the whole run in one scrolling picture with fixed heads, and cut into pages for printing. */

import { LOOM_HEADER_HEIGHT, MIN_LOOM_SCALE } from "../layout/loom/loom_sizes.ts";
import { layoutLoom } from "../layout/loom/loom.ts";
import { UNBOUNDED_BAND, visibleBand, MAX_UNCLIPPED_HEIGHT } from "../layout/view.ts";
import { loomCornerMarks, loomMarks } from "../marks/loom/loom.ts";
import { rowAtHeight, shelfAtHeight, shelfOfStep } from "../marks/loom/loom_scene.ts";
import { LOOM_LABELS, type LoomLabels } from "../marks/labels.ts";
import { patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import { closestMarkTarget, markTargetsWithin } from "../browser/targets.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { LoomPlan } from "../layout/loom/loom_plan.ts";

export interface StorageLoom {
  show: (opened: OpenTrace, i: number) => void;
  print: (opened: OpenTrace) => void;
  clearPrint: () => void;
}

const NARROW_LOOM_WIDTH = 680;
/** Height over width of a printed page. */
const PRINTED_PAGE_RATIO = { portrait: 1.3, landscape: 0.64 };
/** Plans that are wider than this are printed in landscape. */
const MIN_LANDSCAPE_LOOM_WIDTH = 1350;
const LOOM_WIDTH_ROUNDING = 8;

/** `go` is called with the step of a row that was chosen. */
export function createLoom(
  host: HTMLElement,
  document: Document,
  { labels = {}, go }: { labels?: Partial<LoomLabels>; go: (i: number) => void },
): StorageLoom {
  const root = document.createElement("div");
  root.className = "loom";
  root.tabIndex = 0;
  const layers = {
    corner: createSvgElement(document, "corner"),
    head: createSvgElement(document, "head"),
    code: createSvgElement(document, "code"),
    body: createSvgElement(document, "body"),
  };
  const printArea = document.createElement("div");
  printArea.className = "loom-sheets";
  root.append(...Object.values(layers).map((layer) => layer.svg));
  host.append(root, printArea);
  const plans = new WeakMap<OpenTrace, Map<string, LoomPlan>>();
  let shown: { opened: OpenTrace; i: number } | null = null;
  let drawnBand = UNBOUNDED_BAND;
  let headShelf = 0;
  let scale = 1;

  function planFor(opened: OpenTrace, width: number, stacked: boolean) {
    const plansByKey = plans.get(opened) ?? new Map<string, LoomPlan>();
    plans.set(opened, plansByKey);
    const roundedWidth = Math.floor(width / LOOM_WIDTH_ROUNDING) * LOOM_WIDTH_ROUNDING;
    const key = `${roundedWidth} ${stacked}`;
    const plan = plansByKey.get(key) ?? layoutLoom(opened, { room: roundedWidth, stacked });
    if (plansByKey.size > 3) plansByKey.clear();
    plansByKey.set(key, plan);
    return plan;
  }

  function currentPlan() {
    const width = host.clientWidth;
    return shown && width ? planFor(shown.opened, width, width < NARROW_LOOM_WIDTH) : null;
  }

  function draw() {
    const plan = currentPlan();
    if (!plan || !shown) return;
    const { opened, i } = shown;
    scale = Math.min(1, (host.clientWidth - 1) / plan.width);
    if (scale < MIN_LOOM_SCALE) scale = 1;
    root.classList.toggle("stacked", plan.stacked);
    drawnBand = visibleRange(plan);
    headShelf = shelfUnderHead(plan, i);
    const { head, code, body } = loomMarks(plan, opened, i, labels, drawnBand, headShelf);
    const sideWidth = plan.stacked ? host.clientWidth / scale : plan.code;
    setSvgViewport(layers.corner, scale, 0, plan.stacked ? 0 : plan.code, LOOM_HEADER_HEIGHT);
    setSvgViewport(layers.head, scale, 0, plan.width, LOOM_HEADER_HEIGHT);
    setSvgViewport(layers.code, scale, LOOM_HEADER_HEIGHT, sideWidth, plan.height - LOOM_HEADER_HEIGHT);
    setSvgViewport(layers.body, scale, LOOM_HEADER_HEIGHT, plan.width, plan.height - LOOM_HEADER_HEIGHT);
    layers.body.svg.setAttribute(
      "aria-label",
      opened.trace.program.source.split("\n")[opened.trace.steps[i].line - 1]?.trim() ?? "",
    );
    patchHost(document, layers.corner.group, loomCornerMarks(plan, { ...LOOM_LABELS, ...labels }));
    patchHost(document, layers.head.group, head);
    patchHost(document, layers.code.group, code);
    patchHost(document, layers.body.group, body);
  }

  /** The heights of the plan that are scrolled into view. */
  function visibleRange(plan: LoomPlan) {
    return plan.height <= MAX_UNCLIPPED_HEIGHT
      ? UNBOUNDED_BAND
      : visibleBand(root.scrollTop / scale, (root.scrollTop + root.clientHeight) / scale);
  }

  /** The shelf whose columns the head names: the step's where it is in sight, else the nearest to it that is. */
  function shelfUnderHead(plan: LoomPlan, i: number) {
    const first = shelfAtHeight(plan, root.scrollTop / scale + LOOM_HEADER_HEIGHT + 1);
    const last = shelfAtHeight(plan, (root.scrollTop + root.clientHeight) / scale - 1);
    return Math.max(first, Math.min(shelfOfStep(plan, i), last));
  }

  function redrawIfScrolled() {
    const plan = currentPlan();
    if (!plan || !shown) return;
    const range = visibleRange(plan);
    const moved = range.top !== drawnBand.top || range.bottom !== drawnBand.bottom;
    if (moved || shelfUnderHead(plan, shown.i) !== headShelf) draw();
  }

  /** Scroll the row of the step into view; of a row that is higher than the view, what the step did in it. */
  function scrollToStep() {
    const plan = currentPlan();
    if (!plan || !shown) return;
    const row = plan.rows[plan.run.rowOfStep[shown.i]];
    const viewHeight = root.clientHeight / scale - LOOM_HEADER_HEIGHT;
    const { y, h } = row.h > viewHeight ? plan.shelves[shelfOfStep(plan, shown.i)] : row;
    const top = root.scrollTop / scale + LOOM_HEADER_HEIGHT;
    if (y >= top && y + h <= top + viewHeight) return;
    root.scrollTop =
      scale * Math.max(0, h > viewHeight ? y - LOOM_HEADER_HEIGHT : y + h / 2 - LOOM_HEADER_HEIGHT - viewHeight / 2);
    redrawIfScrolled();
  }

  function onClick(event: MouseEvent) {
    const plan = currentPlan();
    const target = event.target instanceof Element ? event.target : null;
    if (!plan || !shown || !target || target.closest(".loom-head, .loom-corner")) return;
    const point = closestMarkTarget(target, ["step"]);
    if (point) return go(point.target.step);
    const y = (event.clientY - layers.body.svg.getBoundingClientRect().top) / scale + LOOM_HEADER_HEIGHT;
    const rowIndex = rowAtHeight(plan, y);
    if (rowIndex >= 0) go(plan.run.rows[rowIndex].last);
  }

  /** Highlight the cell under the pointer and everything that reads it, in every row. */
  function onPointer(event: Event) {
    const cell = closestMarkTarget(event.target, ["loom cell"])?.target;
    for (const element of root.querySelectorAll(".lit")) element.classList.remove("lit");
    if (!cell) return;
    for (const { element, target } of markTargetsWithin(root))
      if (target.kind === "loom cell" && target.storage === cell.storage && target.index === cell.index)
        element.classList.add("lit");
  }

  root.addEventListener("click", onClick);
  root.addEventListener("pointerover", onPointer);
  root.addEventListener("pointerleave", onPointer);
  root.addEventListener("scroll", redrawIfScrolled, { passive: true });
  new ResizeObserver(() => {
    draw();
    scrollToStep();
  }).observe(host);

  return {
    show(opened, i) {
      const sameRun = shown?.opened === opened;
      shown = { opened, i };
      draw();
      if (!sameRun) root.scrollTo(0, 0);
      scrollToStep();
    },
    /** Lay out the whole run, as it ended, for printing: a slice of rows for every page. */
    print(opened: OpenTrace) {
      const plan = layoutLoom(opened, { room: 1180 });
      const landscape = plan.width > MIN_LANDSCAPE_LOOM_WIDTH;
      const maxHeight =
        plan.width * (landscape ? PRINTED_PAGE_RATIO.landscape : PRINTED_PAGE_RATIO.portrait) - LOOM_HEADER_HEIGHT;
      const slices = [];
      for (let from = 0; from < plan.rows.length; ) {
        let to = from;
        while (
          to + 1 < plan.rows.length &&
          plan.rows[to + 1].y + plan.rows[to + 1].h - plan.rows[from].foldY <= maxHeight
        )
          to++;
        slices.push([from, to]);
        from = to + 1;
      }
      printArea.replaceChildren(
        ...slices.map(([from, to]) => {
          const top = plan.rows[from].foldY;
          const sliceHeight = plan.rows[to].y + plan.rows[to].h - top;
          const last = plan.columns.firstShelfOfRow[to + 1] - 1;
          const { head, code, body } = loomMarks(
            plan,
            opened,
            opened.count,
            labels,
            { top, bottom: top + sliceHeight },
            last,
          );
          const page = document.createElementNS(SVG_NAMESPACE, "svg");
          page.setAttribute("class", `loom-svg loom-sheet${landscape ? " across" : ""}`);
          page.setAttribute("viewBox", `0 0 ${plan.width} ${LOOM_HEADER_HEIGHT + sliceHeight}`);
          const rowsSvg = document.createElementNS(SVG_NAMESPACE, "svg");
          for (const [name, value] of Object.entries({
            y: LOOM_HEADER_HEIGHT,
            width: plan.width,
            height: sliceHeight,
            viewBox: `0 ${top} ${plan.width} ${sliceHeight}`,
          }))
            rowsSvg.setAttribute(name, String(value));
          patchHost(document, rowsSvg, [...body, ...code]);
          const headGroup = document.createElementNS(SVG_NAMESPACE, "g");
          patchHost(document, headGroup, [...head, ...loomCornerMarks(plan, { ...LOOM_LABELS, ...labels })]);
          page.append(rowsSvg, headGroup);
          return page;
        }),
      );
    },
    clearPrint() {
      printArea.replaceChildren();
    },
  };
}

function createSvgElement(document: Document, name: string) {
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("class", `loom-svg loom-${name}`);
  const group = document.createElementNS(SVG_NAMESPACE, "g");
  svg.append(group);
  return { svg, group };
}

function setSvgViewport({ svg }: ReturnType<typeof createSvgElement>, scale: number, y: number, w: number, h: number) {
  svg.setAttribute("width", String(w * scale));
  svg.setAttribute("height", String(h * scale));
  svg.setAttribute("viewBox", `0 ${y} ${Math.max(w, 1)} ${Math.max(h, 1)}`);
}
