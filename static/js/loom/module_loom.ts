/**
 * The loom by module: a whole run with its modules beside each other, drawn at a step, opened and closed by its reader.
 */

import css from "../../css/run/module_loom.css";
import en from "../../locales/net.en.json" with { type: "json" };
import zh from "../../locales/net.zh.json" with { type: "json" };
import { createLocale, type Say } from "../words/sentences.ts";
import { element, nodesWithCode } from "../browser/elements.ts";
import { closestTarget, targetsWithin } from "../browser/targets.ts";
import { patchHost, SVG_NAMESPACE, sizeSvg } from "../browser/svg.ts";
import { keysToUnfoldRow, pathOfStep, type NetRow } from "../nets/net_rows.ts";
import { NetStepping } from "../nets/net_stepping.ts";
import { netOf } from "../nets/net_places.ts";
import { NetFacts } from "../nets/net_state.ts";
import { pathElements } from "../nets/net_path.ts";
import { boxSentence, stepSentence } from "./run_sentences.ts";
import { ModuleLoomPlanner } from "./run_planner.ts";
import { runBodyMarks, runHeadMarks, type RunScene } from "./run_marks.ts";
import { isStepOfRun, stepOfBox } from "./run_state.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { RunLayout, SectionPlace } from "./run_plan.ts";

interface ModuleLoom {
  root: HTMLElement;
  show: (opened: OpenTrace, i: number) => void;
  /** the step at which the next box is done, forwards or back; null where nothing is shown */
  nextRow: (direction: 1 | -1) => number | null;
}

let styles: CSSStyleSheet | null = null;

export function createModuleLoom(
  host: HTMLElement,
  document: Document,
  { go }: { go: (i: number) => void },
): ModuleLoom {
  const { say } = createLocale({ en, zh })(document.documentElement.lang);
  if (!styles) {
    styles = new CSSStyleSheet();
    styles.replaceSync(css);
    document.adoptedStyleSheets.push(styles);
  }
  const parts = createParts(document, say);
  host.append(parts.root);
  const planners = new WeakMap<OpenTrace, ModuleLoomPlanner>();
  let choices = new Map<string, boolean>();
  let shown: { opened: OpenTrace; i: number; layout: RunLayout | null } | null = null;
  /** the mark that has, or had last, the focus */
  let reached = "";

  function plannerOf(opened: OpenTrace) {
    const planner = planners.get(opened) ?? new ModuleLoomPlanner(new NetFacts(opened, netOf(opened)));
    planners.set(opened, planner);
    return planner;
  }

  function draw() {
    const { scroller } = parts;
    if (!shown || !scroller.clientWidth || parts.root.hidden) return;
    const { opened, i } = shown;
    const planner = plannerOf(opened);
    const { facts } = planner;
    const layout = planner.layout(i, { width: scroller.clientWidth, height: scroller.clientHeight, choices });
    shown.layout = layout;
    if (!keysOf(layout).includes(reached)) reached = `column ${layout.columns[0]?.key}`;
    const scene = { facts, layout, i, say, lines: planner.lines, reached };
    parts.path.replaceChildren(...pathElements(facts, i, pathOfStep(facts, i)));
    parts.said.replaceChildren(...nodesWithCode(sentenceOfStep(scene)));
    patchHost(document, parts.head, runHeadMarks(scene));
    patchHost(document, parts.body, runBodyMarks(scene));
    sizeSvg(parts.head, layout.width, layout.head);
    sizeSvg(parts.body, layout.width, layout.height);
  }

  /** Of what the step is in. */
  function sentenceOfStep(scene: RunScene): string {
    const { layout, i } = scene;
    const full = layout.sections.find(({ isFull }) => isFull);
    const boxes = full?.phases.flatMap((phase) => phase.boxes).filter(({ run }) => isStepOfRun(run, i)) ?? [];
    const box = boxes.at(-1);
    if (box) return boxSentence(scene, box);
    const written = full?.phases.flatMap(({ stepBoxes }) => stepBoxes).find(({ step }) => step === i);
    return written ? stepSentence(scene, written) : "";
  }

  function bringIntoSight() {
    const { scroller } = parts;
    const layout = shown?.layout;
    if (!shown || !layout) return;
    const now = parts.body.querySelector(".run-now");
    const y = Number(now?.getAttribute("y") ?? 0) + layout.head;
    const bottom = y + Number(now?.getAttribute("height") ?? 0);
    if (y - layout.head < scroller.scrollTop) scroller.scrollTop = Math.max(0, y - layout.head - 30);
    else if (bottom > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = bottom - scroller.clientHeight + 30;
    const column = parts.head.querySelector(".run-column-now");
    if (!column) return;
    const x = Number(column.getAttribute("x"));
    const right = x + Number(column.getAttribute("width"));
    if (x < scroller.scrollLeft) scroller.scrollLeft = x - 12;
    else if (right > scroller.scrollLeft + scroller.clientWidth)
      scroller.scrollLeft = right + 12 - scroller.clientWidth;
  }

  function keysOf(layout: RunLayout): string[] {
    const { groups, columns, sections, hidden } = layout;
    return [
      ...groups.map(({ key }) => `group ${key}`),
      ...columns.map(({ key }) => `column ${key}`),
      ...sections.flatMap((section) =>
        section.isFull ? keysOfSection(section) : [`section ${section.section.stretch}`],
      ),
      ...hidden.map(({ section }) => `section ${section.stretch}`),
    ];
  }

  function keysOfSection({ phases }: SectionPlace) {
    return phases.flatMap(({ boxes, stepBoxes }) => [
      ...boxes.map(({ run }) => `box ${run.key}`),
      ...stepBoxes.map(({ key }) => `step ${key}`),
    ]);
  }

  function focusPart(key: string) {
    const found = targetsWithin(parts.root).find(({ target }) => target.kind === "loom part" && target.key === key);
    if (found?.element instanceof SVGElement) found.element.focus({ preventScroll: false });
  }

  /** Opens and closes what does, and of all else goes to its step. */
  function choose(target: EventTarget | null): boolean {
    const layout = shown?.layout;
    const key = closestTarget(target, ["loom part"])?.target.key;
    if (!key || !layout || !shown) return false;
    const [kind] = key.split(" ", 1);
    const name = key.slice(kind.length + 1);
    reached = key;
    if (kind === "column") return open(layout.columns.find((column) => column.key === name)?.row ?? null);
    if (kind === "group") return close(name);
    const to = stepOfPart(layout, kind, name);
    if (to === null) return false;
    go(to);
    return true;
  }

  function open(row: NetRow | null): boolean {
    if (!row) return false;
    const isFold = row.kind === "fold" || row.kind === "repeat";
    if (!isFold && !row.places[0].inner.length) return false;
    choices = new Map(choices);
    if (isFold) for (const key of keysToUnfoldRow(row)) choices.set(key, true);
    else choices.set(row.places[0].key, true);
    reached = isFold ? `column ${row.places[0].key}` : `group ${row.places[0].key}`;
    redrawWithFocus();
    return true;
  }

  function close(key: string): boolean {
    choices = new Map(choices).set(key, false);
    reached = `column ${key}`;
    redrawWithFocus();
    return true;
  }

  function redrawWithFocus() {
    draw();
    focusPart(reached);
  }

  function stepOfPart(layout: RunLayout, kind: string, name: string): number | null {
    const planner = shown && plannerOf(shown.opened);
    if (!planner || !shown) return null;
    if (kind === "section") return planner.sameMomentIn(Number(name), shown.i);
    const full = layout.sections.find(({ isFull }) => isFull);
    const box = full?.phases.flatMap(({ boxes }) => boxes).find(({ run }) => run.key === name);
    if (kind === "box") return box ? stepOfBox(planner.facts, box) : null;
    return full?.phases.flatMap(({ stepBoxes }) => stepBoxes).find(({ key }) => key === name)?.step ?? null;
  }

  /** Up and down go from mark to mark. */
  function moveFocus(direction: 1 | -1): boolean {
    const layout = shown?.layout;
    const now = closestTarget(document.activeElement, ["loom part"])?.target.key;
    if (!layout || now === undefined || !parts.root.contains(document.activeElement)) return false;
    const keys = keysOf(layout);
    const next = keys[keys.indexOf(now) + direction];
    if (next === undefined) return true;
    reached = next;
    redrawWithFocus();
    return true;
  }

  function onKey(event: KeyboardEvent) {
    const { key } = event;
    let isHandled = false;
    if (key === "Enter" || key === " ") isHandled = choose(event.target);
    else if (key === "ArrowDown" || key === "ArrowUp") isHandled = moveFocus(key === "ArrowDown" ? 1 : -1);
    else if (key === "Escape" && choices.size) {
      choices = new Map();
      redrawWithFocus();
    }
    if (!isHandled) return;
    event.preventDefault();
    event.stopPropagation();
  }

  parts.root.addEventListener("click", (event) => choose(event.target));
  parts.root.addEventListener("keydown", onKey);
  new ResizeObserver(() => {
    draw();
    bringIntoSight();
  }).observe(parts.scroller);

  return {
    root: parts.root,
    show(opened, i) {
      if (shown?.opened.trace.program !== opened.trace.program) choices = new Map();
      shown = { opened, i, layout: null };
      draw();
      bringIntoSight();
    },
    nextRow(direction) {
      if (!shown?.layout) return null;
      const { opened, i, layout } = shown;
      const rows = layout.columns.map(({ row }) => row);
      return new NetStepping(plannerOf(opened).facts, rows, new Set()).next(i, direction);
    },
  };
}

function createParts(document: Document, say: Say) {
  const svg = (className: string) => {
    const created = document.createElementNS(SVG_NAMESPACE, "svg");
    created.setAttribute("class", `run-svg ${className}`);
    return created;
  };
  const root = element("div", "module-loom");
  const top = element("div", "run-top");
  const [path, said] = [element("p", "run-path"), element("p", "run-said")];
  path.setAttribute("aria-label", say("net_path"));
  top.append(path, said);
  const scroller = element("div", "run-scroll");
  scroller.tabIndex = 0;
  scroller.setAttribute("role", "group");
  scroller.setAttribute("aria-label", say("loom_name"));
  const [head, body] = [svg("run-head"), svg("run-body")];
  scroller.append(head, body);
  const key = element("p", "run-legend", say("loom_key"));
  root.append(top, scroller, key);
  return { root, path, said, scroller, head, body };
}
