/** The view of a net: draws a step's rows, opens and closes them, and says which step the next row ends at. */

import type { Translate } from "../words/sentences.ts";
import { bytesText } from "../trace/format.ts";
import { createButton, createElement, nodesWithCode } from "../browser/elements.ts";
import { closestMarkTarget, markTargetOf, markTargetsWithin } from "../browser/targets.ts";
import { patchHost, SVG_NAMESPACE, setSvgSize } from "../browser/svg.ts";
import {
  MODULE_LIST_HEAD_HEIGHT,
  moduleListAtStep,
  moduleListFactsOf as factsOf,
  moduleListLocale,
} from "./module_list_picture.ts";
import { bottomOf, type NetLayout, type PlacedNetRow } from "./net_layout.ts";
import { WHOLE_RUN_KEY } from "./open_row_marks.ts";
import { keysToUnfoldRow } from "./net_rows.ts";
import { netRowTotals } from "./net_marks.ts";
import { netRowLabel } from "./net_row_labels.ts";
import { loopRepetitionsOf } from "./net_repetitions.ts";
import type { NetFacts } from "./net_state.ts";
import { NetStepping } from "./net_stepping.ts";
import type { ChainMark } from "../findings/chain_marks.ts";
import { modulePathOf, stepHeadline } from "./step_headline.ts";
import { normText, shapeText } from "./net_words.ts";
import { modulePathElements } from "./net_path.ts";
import { createWholeRun } from "./whole_run/whole_run_view.ts";
import type { OpenTrace } from "../trace/state.ts";

export interface NetView {
  /** mode: what a step did, or the whole run */
  show: (opened: OpenTrace, i: number, mode?: NetMode) => void;
  /** the chain of the finding that is open: at its steps both its ends are */
  tell: (chain: ChainMark[]) => void;
  /** what a step did, with the names of its rows; null where its own caption tells it best */
  headline: (opened: OpenTrace, i: number) => string | null;
  /** the step at which the next row is done, forwards or back; null where nothing is shown */
  nextRow: (direction: 1 | -1) => number | null;
}

type NetMode = "step" | "run";

interface Size {
  width: number;
  height: number;
}

interface NetOptions {
  /** to a step */
  go: (i: number) => void;
  showWholeRun: () => void;
}

const MOTION_MS = 180;

export function createNet(host: HTMLElement, document: Document, { go, showWholeRun }: NetOptions): NetView {
  const { say } = moduleListLocale(document.documentElement.lang);
  const parts = createParts(document, say);
  host.append(parts.root);
  let choices = new Map<string, boolean>();
  let shown: { opened: OpenTrace; i: number; layout: NetLayout | null } | null = null;
  let drawnHeights = new Map<string, number>();
  let mode: NetMode = "step";
  let finding: ChainMark[] = [];
  let lit: string | null = null;
  /** of the rows, as last measured: asked at every step, the page would be laid out for the answer */
  let room: Size | null = null;
  let scrollTop = 0;
  const wholeRun = createWholeRun(say);

  function draw() {
    if (!shown) return;
    const { opened, i } = shown;
    const facts = factsOf(opened);
    parts.root.classList.toggle("whole", mode === "run");
    if (!room?.width) room = measuredRoom();
    if (!room.width) return;
    parts.body.setAttribute("aria-label", say(mode === "run" ? "whole_name" : "net_name"));
    parts.head.setAttribute("aria-hidden", String(mode !== "run")); // its headings sort the whole run
    if (mode === "run") return paint(wholeRun.draw(facts, room));
    const drawn = moduleListAtStep(facts, { i, chain: finding, choices, lit }, room, say);
    shown.layout = drawn.layout;
    paint(drawn);
    writeSentenceAndPath(facts);
  }

  const measuredRoom = () => ({ width: parts.scroller.clientWidth, height: parts.scroller.clientHeight });

  function paint({ head, body, layout }: Omit<ReturnType<typeof wholeRun.draw>, "layout"> & { layout: Size }) {
    patchHost(document, parts.head, head);
    patchHost(document, parts.body, body);
    setSvgSize(parts.head, layout.width, MODULE_LIST_HEAD_HEIGHT);
    setSvgSize(parts.body, layout.width, layout.height);
  }

  /** Up and down go from row to row. */
  function moveFocus(direction: 1 | -1): boolean {
    const point = closestMarkTarget(document.activeElement, ["net row"]);
    const rows = markTargetsWithin(parts.body).filter(({ target }) => target.kind === "net row");
    const at = rows.findIndex(({ element }) => element === point?.element);
    const next = at < 0 ? null : rows[at + direction];
    if (next?.target.kind === "net row") focusRow(next.target.key);
    return at >= 0;
  }

  /** The path of modules to the step, and what the row of the step has done. */
  function writeSentenceAndPath(facts: NetFacts) {
    const layout = shown?.layout;
    const { i } = shown ?? { i: 0 };
    parts.path.replaceChildren(...modulePathElements(facts, i, layout?.path ?? []));
    const row = layout?.rows.findLast(({ isNow }) => isNow);
    const said = repetitionSentence(facts, i) || (row ? rowSentence(row) : backwardSentence(facts, i));
    // what the headline tells of a forward is not said again
    const isTold = !facts.opened.trace.steps[i].visit && stepHeadline(facts, i, say) !== null;
    parts.said.replaceChildren(...nodesWithCode(isTold ? "" : said));
  }

  /** Where a repetition is done. */
  function repetitionSentence(facts: NetFacts, i: number) {
    const ending = loopRepetitionsOf(facts).endingAt(i);
    if (!ending) return "";
    const { callSite, count: n } = ending;
    const key = callSite.kind === "module" ? "net_said_repetition" : "net_said_repetition_line";
    const args = { name: callSite.name, line: callSite.line, n };
    return say(facts.opened.trace.steps[i].visit ? `${key}_back` : key, args);
  }

  /** After a backward: which nets it came through, and which not. */
  function backwardSentence(facts: NetFacts, i: number) {
    const before = facts.opened.trace.steps[i - 1];
    if (!before?.visit || facts.opened.trace.steps[i].visit) return "";
    const nets = facts.net.top.filter(({ kind, inner }) => inner.length && kind === "module");
    const states = nets.map((callSite) => ({ name: callSite.name, state: facts.stateAt(callSite, i) }));
    const quoted = (found: typeof states) => [...new Set(found.map(({ name }) => `\`${name}\``))].join(", ");
    const reached = quoted(states.filter(({ state }) => state.visited));
    const isReached = (name: string) => states.some((other) => other.name === name && other.state.visited);
    const left = quoted(states.filter(({ name, state }) => state.isLeftOut && state.hasBegun && !isReached(name)));
    if (!reached) return "";
    return say(left ? "net_said_done_left" : "net_said_done", { reached, left });
  }

  function rowSentence(row: PlacedNetRow) {
    const totals = netRowTotals(row);
    const isModule = row.kind === "callSite" && row.callSites[0].kind === "module";
    const name = (isModule && modulePathOf(row.callSites[0])) || netRowLabel(row);
    const state = row.states.at(-1);
    const norm = state?.norm;
    if (totals.visited < totals.nodes && totals.visited)
      return say("net_said_part", { name, k: totals.visited, n: totals.nodes });
    if (totals.visited)
      return typeof norm === "number"
        ? say("net_said_back", { name, norm: normText(norm) })
        : say("net_said_done", { reached: `\`${name}\`` });
    if (!state?.output) return totals.kept ? say("net_said_keeps", { name, size: bytesText(totals.kept) }) : "";
    const args = { name, shape: shapeText(state.output), size: bytesText(totals.kept) };
    return say(totals.kept ? "net_said_ran_keeps" : "net_said_ran", args);
  }

  /** Rows that stand elsewhere slide there; the light runs along the edges that a gradient has just taken. */
  function move() {
    const heights = new Map((shown?.layout?.rows ?? []).map(({ key, y }) => [key, y]));
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
      for (const row of parts.body.children) {
        const target = markTargetOf(row);
        if (target?.kind !== "net row") continue;
        const [before, after] = [drawnHeights.get(target.key), heights.get(target.key)];
        if (before === undefined || after === undefined || before === after) continue;
        const frames = [{ transform: `translateY(${before}px)` }, { transform: `translateY(${after}px)` }];
        row.animate(frames, { duration: MOTION_MS, easing: "ease-out" });
      }
      for (const glow of parts.body.querySelectorAll(".net-glow")) glow.animate([{ opacity: 0 }, {}], MOTION_MS);
    }
    drawnHeights = heights;
  }

  function bringIntoSight() {
    const rows = shown?.layout?.rows.filter(({ isNow }) => isNow) ?? [];
    const [first, last] = [rows[0], rows[rows.length - 1]];
    if (!first || !room) return;
    if (first.y < scrollTop) scrollRowsTo(first.y - 8);
    else if (bottomOf(last) > scrollTop + room.height) scrollRowsTo(bottomOf(last) + 8 - room.height);
  }

  function scrollRowsTo(top: number) {
    scrollTop = Math.max(0, top);
    parts.scroller.scrollTop = scrollTop;
  }

  function redraw() {
    draw();
    move();
  }

  /** Lights every row that uses the memory of a tensor; of the one that is lit, none any more. */
  function light(uid: string): boolean {
    const storage = (shown && factsOf(shown.opened).storages.get(uid)) ?? null;
    lit = storage === lit ? null : storage;
    draw();
    return true;
  }

  /** Opens or closes what opens; of another row, its step. */
  function choose(target: EventTarget | null): boolean {
    const point = closestMarkTarget(target, ["step", "net row", "handle"])?.target;
    if (mode === "run" && point?.kind === "net row") {
      const chosen = wholeRun.choose(point.key);
      draw();
      if (chosen) focusRow(chosen);
      return chosen !== null;
    }
    if (!point || !shown?.layout) return false;
    if (point.kind === "step") {
      go(point.step);
      return true;
    }
    if (point.kind === "handle") return light(point.uid);
    if (point.key === WHOLE_RUN_KEY) {
      showWholeRun();
      return true;
    }
    const row = shown.layout.rows.find(({ key }) => key === point.key);
    if (!row) return false;
    const isFold = row.kind === "fold" || row.kind === "repeat";
    if (!isFold && !row.callSites[0].inner.length) return goToRow(row);
    choices = new Map(choices);
    if (isFold) for (const key of keysToUnfoldRow(row)) choices.set(key, true);
    else choices.set(row.key, row.kind !== "head");
    redraw();
    focusRow(isFold ? row.callSites[0].key : row.key);
    return true;
  }

  function focusRow(key: string) {
    const row = markTargetsWithin(parts.root).find(({ target }) => target.kind === "net row" && target.key === key);
    if (row?.element instanceof SVGElement) row.element.focus({ preventScroll: true });
  }

  /** To the step at which a row ran: in backward where that is what the reader looks at. */
  function goToRow(row: PlacedNetRow) {
    if (!shown) return false;
    const facts = factsOf(shown.opened);
    const call = row.states.at(-1)?.calls[row.states.at(-1)?.shown ?? 0];
    if (!call) return false;
    const output = facts.outputNode(call.invocation);
    const visit =
      facts.isBackward(shown.i) && output ? facts.opened.index.visitStepsByNode.get(output)?.[0] : undefined;
    go(visit ?? call.invocation.ends);
    return true;
  }

  parts.root.addEventListener("click", (event) => choose(event.target));
  parts.root.addEventListener("keydown", (event) => {
    const { key } = event;
    const isArrow = key === "ArrowDown" || key === "ArrowUp";
    if (isArrow ? moveFocus(key === "ArrowDown" ? 1 : -1) : (key === "Enter" || key === " ") && choose(event.target)) {
      event.preventDefault();
      event.stopPropagation();
    } else if (key === "Escape" && mode === "run") {
      if (wholeRun.reset()) draw();
    } else if (key === "Escape" && choices.size) {
      choices = new Map();
      redraw();
    }
  });
  parts.scroller.addEventListener("scroll", () => {
    scrollTop = parts.scroller.scrollTop;
  });
  new ResizeObserver(() => {
    const size = measuredRoom();
    if (room?.width === size.width && room.height === size.height) return;
    room = size;
    draw();
    bringIntoSight();
  }).observe(parts.scroller);

  const view: NetView = {
    show(opened, i, wanted = "step") {
      if (mode !== wanted) room = null;
      mode = wanted;
      const isSameRun = shown?.opened.trace.program === opened.trace.program;
      if (!isSameRun) [choices, lit] = [new Map(), null];
      shown = { opened, i, layout: null };
      redraw();
      bringIntoSight();
    },
    tell(chain) {
      finding = chain;
      if (shown) redraw();
    },
    headline: (opened, i) => stepHeadline(factsOf(opened), i, say),
    nextRow(direction) {
      if (!shown?.layout) return null;
      const { opened, i, layout } = shown;
      const passed = new Set(
        layout.rows.flatMap((row) =>
          row.joins && row.callSites[0].invocations[0].nodes.length === 1 ? [row.key] : [],
        ),
      );
      return new NetStepping(factsOf(opened), layout.rows, passed).next(i, direction);
    },
  };
  const step = (to: number | null) => to !== null && go(to);
  parts.back.addEventListener("click", () => step(view.nextRow(-1)));
  parts.into.addEventListener("click", () => step(shown && Math.min(shown.i + 1, shown.opened.count - 1)));
  parts.over.addEventListener("click", () => step(view.nextRow(1)));
  return view;
}

function createParts(document: Document, say: Translate) {
  const svg = (className: string) => {
    const created = document.createElementNS(SVG_NAMESPACE, "svg");
    created.setAttribute("class", `net-svg ${className}`);
    return created;
  };
  const root = createElement("div", "net");
  const top = createElement("div", "net-top");
  const [path, said] = [createElement("p", "net-path"), createElement("p", "net-said")];
  path.setAttribute("aria-label", say("net_path"));
  top.append(path, said);
  const main = createElement("div", "net-main");
  const scroller = createElement("div", "net-scroll");
  scroller.tabIndex = 0;
  scroller.setAttribute("role", "group");
  scroller.setAttribute("aria-label", say("net_name"));
  const [head, body] = [svg("net-head"), svg("net-body")];
  head.setAttribute("aria-hidden", "true");
  body.setAttribute("role", "tree");
  scroller.append(body);
  const key = createElement("p", "net-key");
  key.append(...nodesWithCode(say("net_key")));
  main.append(head, scroller, key);
  const keys = createElement("div", "net-keys");
  const back = createButton("quiet", "◀", undefined, { label: say("net_back") });
  const into = createButton("quiet", say("net_into"));
  const over = createButton("primary", `${say("net_over")} ▶`);
  keys.append(back, into, over);
  root.append(top, main, keys);
  return { root, path, said, scroller, head, body, back, into, over };
}
