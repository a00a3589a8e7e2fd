/** The list in a given room: the marks of a step, or of the whole run, for the page and for pictures that leave it. */

import en from "../../locales/net.en.json" with { type: "json" };
import zh from "../../locales/net.zh.json" with { type: "json" };
import { createLocale, type Locale, type Translate } from "../words/sentences.ts";
import { h, type VNode } from "../browser/svg.ts";
import { bottomOf, layoutNet, type NetLayout } from "./net_layout.ts";
import { netHeadMarks, netMarks } from "./net_marks.ts";
import { netOf } from "./net_call_sites.ts";
import { NetFacts } from "./net_state.ts";
import { rowEndsAt } from "./row_ends.ts";
import { createWholeRun } from "./whole_run/whole_run_view.ts";
import type { ChainMark } from "../findings/chain_marks.ts";
import type { OpenedRows } from "./net_rows.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Picture } from "../marks/svg_document.ts";
import { weakMemoize } from "../trace/weak_memoize.ts";

export const moduleListLocale: (language: string) => Locale = createLocale({ en, zh });

/** Of the headings over the columns. */
export const MODULE_LIST_HEAD_HEIGHT = 24;
/** Of a list that is drawn smaller than on the page. */
const SCALES = [1, 0.9, 0.8, 0.72];
const NO_CHOICES: OpenedRows = new Map();

export const moduleListFactsOf = weakMemoize((opened: OpenTrace): NetFacts => new NetFacts(opened, netOf(opened)));

interface ListRoom {
  width: number;
  height: number;
}

interface ListAtStep {
  i: number;
  /** of the finding that is open */
  chain: ChainMark[];
  choices?: OpenedRows;
  lit?: string | null;
}

interface DrawnList {
  head: VNode[];
  body: VNode[];
}

/** The rows at a step: that of the step is open, or both ends of the finding that it is part of. */
export function moduleListAtStep(
  facts: NetFacts,
  { i, chain, choices = NO_CHOICES, lit = null }: ListAtStep,
  { width, height }: ListRoom,
  say: Translate,
): DrawnList & { layout: NetLayout } {
  const layout = layoutNet(facts, i, { width, height, choices, ends: rowEndsAt(facts, chain, i) });
  const lines = facts.opened.trace.program.source.split("\n");
  const scene = { facts, layout, i, isBackward: facts.isBackward(i), say, lines, lit };
  return { head: netHeadMarks(layout, say), body: netMarks(scene), layout };
}

interface ListPictureSubject extends ListAtStep {
  view: "step" | "run";
}

/**
 * The list as a picture. `most` is the height that it may have, with its headings: of a longer one the part with what
 * is open, cut between two rows.
 */
export function moduleListPicture(
  opened: OpenTrace,
  subject: ListPictureSubject,
  { width, height, most = Number.POSITIVE_INFINITY }: ListRoom & { most?: number },
  language: string,
): Picture {
  const { say } = moduleListLocale(language);
  const facts = moduleListFactsOf(opened);
  const room = { width, height: height - MODULE_LIST_HEAD_HEIGHT };
  const list = subject.view === "run" ? listOfWholeRun(facts, room, say) : listOfStep(facts, subject, room, say);
  const part = partOf(list, most - MODULE_LIST_HEAD_HEIGHT);
  const svg = (name: string, y: number, [from, to]: [number, number], marks: VNode[]) =>
    h(
      "svg",
      {
        key: name,
        class: `net-svg ${name}`,
        y,
        width,
        height: to - from,
        viewBox: `0 ${from} ${width} ${Math.max(1, to - from)}`,
      },
      marks,
    );
  return {
    width,
    height: MODULE_LIST_HEAD_HEIGHT + part[1] - part[0],
    cut: part[1] - part[0] < list.height,
    nodes: [
      svg("net-head", 0, [0, MODULE_LIST_HEAD_HEIGHT], list.head),
      svg("net-body", MODULE_LIST_HEAD_HEIGHT, part, list.body),
    ],
  };
}

/**
 * A list in a room that may be too low for what is open: then it is laid out in a larger one, and drawn smaller.
 * `scale`: how much smaller.
 */
export function moduleListPictureWithin(
  opened: OpenTrace,
  subject: ListPictureSubject,
  { width, height }: ListRoom,
  language: string,
): Picture & { scale: number } {
  let picture: Picture | null = null;
  for (const scale of SCALES) {
    const room = { width: width / scale, height: height / scale, most: height / scale };
    const drawn = moduleListPicture(opened, subject, room, language);
    if (!drawn.cut) return { ...drawn, scale };
    picture ??= drawn;
  }
  return { ...(picture as Picture), scale: SCALES[0] };
}

/** Where its rows end, and from where to where is to be seen. */
type PlacedList = DrawnList & { height: number; bottoms: number[]; wanted: [number, number] };

function listOfStep(facts: NetFacts, subject: ListAtStep, room: ListRoom, say: Translate): PlacedList {
  const { head, body, layout } = moduleListAtStep(facts, subject, room, say);
  const { rows, height } = layout;
  const open = rows.filter((row) => row.isNow || row.end || row.body);
  const wanted: [number, number] = [open[0]?.y ?? 0, Math.max(0, ...open.map(bottomOf))];
  return { head, body, height, bottoms: rows.map(bottomOf), wanted };
}

function listOfWholeRun(facts: NetFacts, room: ListRoom, say: Translate): PlacedList {
  const { head, body, layout } = createWholeRun(say).draw(facts, room);
  const bottoms = layout.rows.slice(1).map(({ y }) => y);
  return { head, body, height: layout.height, bottoms: [...bottoms, layout.height], wanted: [0, 0] };
}

/** As much as there is room for, between two rows. */
function partOf({ height, bottoms, wanted: [first, last] }: PlacedList, room: number): [number, number] {
  if (height <= room) return [0, height];
  const edges = [0, ...bottoms];
  const least = Math.min(first, last - room);
  const from = last <= room ? 0 : (edges.find((edge) => edge >= least) ?? 0);
  return [from, edges.findLast((edge) => edge <= from + room && edge > from) ?? from + room];
}
