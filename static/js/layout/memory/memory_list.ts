/** The list of a run's names at the left of the memory pane: a line for each, at one height for the whole run. */

import { pathRoot } from "./homes.ts";
import { NamePlacesInTime } from "./name_blocks.ts";
import type { ListLine, MemoryList } from "./memory_parts.ts";
import type { MemoryModel } from "./memory_step.ts";
import type { NameLine } from "./name_lines.ts";

const LIST_TOP = 6;
/** Lines are as high as there is room for, between these. */
const LINE_HEIGHTS = { most: 24, least: 16 };
/** Lines at least this high have names of the usual size. */
const USUAL_LINE_HEIGHT = 19;
export const LIST_FONT_SIZES = { usual: 14, crowded: 12 };
/** Beside a line's name: its colours, those of its gradient, and what is left free; narrower in two columns. */
const LINE_PARTS = {
  one: { margin: 12, strip: 74, gradient: 54, gap: 8 },
  two: { margin: 7, strip: 30, gradient: 14, gap: 3 },
};

/** `w` is the list's width in units, `h` the height in sight. */
export function findMemoryList(model: MemoryModel, w: number, h: number): MemoryList {
  const key = `${w} ${h}`;
  let list = model.lists.get(key);
  if (!list) {
    list = new ListPlacement(model, w, h).list;
    model.lists.set(key, list);
  }
  return list;
}

/** what a line says and stands for, before it has a place */
type Line = Pick<ListLine, "key" | "kind" | "text" | "names" | "indent">;

/** the lines of the module from top to bottom, and those of functions while they run */
interface Lines {
  main: Line[];
  /** by the key of the function */
  blocks: Map<string, Line[]>;
}

/** Tries one line for each name first, then fewer lines, until they fit. */
class ListPlacement {
  model: MemoryModel;
  w: number;
  h: number;
  list: MemoryList;

  constructor(model: MemoryModel, w: number, h: number) {
    this.model = model;
    this.w = w;
    this.h = h;
    const single = this.eachName();
    const byModule = this.perModule(single);
    this.list = this.place(single, 1) ?? this.place(byModule, 1) ?? this.place(byModule, 2) ?? this.inGroups(byModule);
  }

  /** One line for each name. */
  eachName(): Lines {
    const { homes } = this.model;
    const bySection = new Map<string, NameLine[]>();
    const all = [...homes.lines.byKey.values()];
    for (const line of all) {
      const own = bySection.get(line.section) ?? [];
      own.push(line);
      bySection.set(line.section, own);
    }
    const main = [] as { rank: number; lines: Line[] }[];
    const blocks = new Map<string, Line[]>();
    for (const [section, names] of bySection) {
      const ordered = inRowOrder(names);
      if (section === "")
        for (const rows of byRow(ordered))
          main.push({ rank: rankOf(homes.ranks, rows[0]), lines: rows.map(lineOfName) });
      else if (homes.sectionByKey.get(section)?.kind === "frame") blocks.set(section, ordered.map(lineOfName));
      else main.push({ rank: homes.sectionRank(section), lines: linesUnderHeading(section, ordered) });
    }
    for (const [key, { kind }] of homes.sectionByKey) if (kind === "frame" && !blocks.has(key)) blocks.set(key, []);
    main.sort((a, b) => a.rank - b.rank);
    const inOrder = [...blocks].sort(([a], [b]) => homes.sectionRank(a) - homes.sectionRank(b));
    const headed = new Map(
      inOrder.map(([key, lines]) => [
        key,
        [{ key: `frame ${key}`, kind: "frame", text: key, names: [], indent: 0 }, ...lines.map(indented)] as Line[],
      ]),
    );
    return { main: main.flatMap(({ lines }) => lines), blocks: headed };
  }

  /** One line for the parameters of each module. */
  perModule({ main, blocks }: Lines): Lines {
    return { main: joinNeighbours(main, moduleOfLine), blocks };
  }

  /** So many neighbours in one line each that they fit. */
  inGroups({ main, blocks }: Lines): MemoryList {
    const bySection = joinNeighbours(main, ({ names, kind }) =>
      kind === "heading" ? null : names[0]?.section || null,
    );
    const folded: Lines = {
      main: bySection,
      blocks: new Map(
        [...blocks].map(([key, [head, ...rest]]) => [key, [{ ...head, names: rest.flatMap(({ names }) => names) }]]),
      ),
    };
    for (let size = 1; size < 1e5; size = Math.ceil(size * 1.4)) {
      const list = this.place({ ...folded, main: inChunks(folded.main, size) }, 2);
      if (list) return list;
      if (size > folded.main.length) break;
    }
    return this.place(
      { main: inChunks(bySection, Math.max(1, bySection.length)), blocks: new Map() },
      2,
      true,
    ) as MemoryList;
  }

  /** `forced`: it is placed even where it doesn't fit. Null where it doesn't. */
  place({ main, blocks }: Lines, columns: 1 | 2, forced = false): MemoryList | null {
    const inTime = new NamePlacesInTime(this.model);
    const { tops, height: blockRows } = inTime.place(new Map([...blocks].map(([key, lines]) => [key, lines.length])));
    const rows = main.length + blockRows + 1;
    const room = this.h - 2 * LIST_TOP;
    const mostRows = Math.floor(room / LINE_HEIGHTS.least);
    const rowsPerColumn = columns === 1 ? rows : Math.max(Math.ceil(rows / 2), Math.min(main.length, mostRows));
    const lineHeight = Math.min(LINE_HEIGHTS.most, Math.floor(room / Math.max(1, rowsPerColumn)));
    if (lineHeight < LINE_HEIGHTS.least && !forced) return null;
    const high = Math.max(LINE_HEIGHTS.least, lineHeight);
    const { homes } = this.model;
    const w = this.w / columns;
    const parts = columns === 1 ? LINE_PARTS.one : LINE_PARTS.two;
    const gradW = homes.hasGrads ? parts.gradient : 0;
    const stripW = parts.strip;
    const grad = w - parts.margin - gradW;
    const strip = (gradW ? grad - parts.gap : w - parts.margin) - stripW;
    const lines = [] as ListLine[];
    const put = (line: Line, row: number) => {
      const column = Math.min(columns - 1, Math.floor(row / rowsPerColumn));
      lines.push({ ...line, x: column * w, y: LIST_TOP + (row - column * rowsPerColumn) * high });
    };
    main.forEach(put);
    for (const [key, own] of blocks) own.forEach((line, k) => put(line, main.length + (tops.get(key) ?? 0) + k));
    put({ key: "rest", kind: "rest", text: "", names: [], indent: 0 }, rows - 1);
    const lineByName = new Map<string, ListLine>();
    for (const line of lines) for (const name of line.names) lineByName.set(name.key, line);
    return {
      lines,
      lineOfName: lineByName,
      lineHeight: high,
      font: high >= USUAL_LINE_HEIGHT && columns === 1 ? LIST_FONT_SIZES.usual : LIST_FONT_SIZES.crowded,
      w,
      strip,
      stripW,
      grad,
      gradW,
      count: [...homes.lines.byKey.values()].filter(({ kind }) => kind === "name").length,
      height: 2 * LIST_TOP + rowsPerColumn * high,
    };
  }
}

function lineOfName(name: NameLine): Line {
  return {
    key: name.key,
    kind: name.kind,
    text: name.kind === "old" ? `old ${name.text}` : name.text,
    names: [name],
    indent: 0,
  };
}

function indented(line: Line): Line {
  return { ...line, indent: 1 };
}

/** The names of one memory together, one that was lost right below the name that it had. */
function inRowOrder(names: NameLine[]): NameLine[] {
  const order = new Map(names.map(({ key }, k) => [key, k]));
  const place = ({ key, kind }: NameLine) =>
    kind === "old" ? (order.get(key.slice(4)) ?? 0) + 0.5 : (order.get(key) ?? 0);
  return [...names].sort((a, b) => a.row - b.row || place(a) - place(b));
}

function byRow(names: NameLine[]): NameLine[][] {
  const out = [] as NameLine[][];
  for (const name of names) {
    const last = out[out.length - 1];
    if (last && last[0].row === name.row) last.push(name);
    else out.push([name]);
  }
  return out;
}

function rankOf(ranks: Map<string, number>, { key, row }: NameLine) {
  return ranks.get(key) ?? ranks.size + row;
}

/** An object's line, and below it those of what is in it. */
function linesUnderHeading(section: string, names: NameLine[]): Line[] {
  const heading = names.find(({ key }) => key === section);
  const inner = names.filter((name) => name !== heading);
  if (heading && !inner.length) return [lineOfName(heading)];
  const roots = new Set(inner.filter(({ kind }) => kind === "state").map(({ text }) => pathRoot(text)));
  const root = roots.size === 1 ? `${[...roots][0]}.` : "";
  const short = (name: NameLine): string => {
    if (name.kind === "state") return root && name.text.startsWith(root) ? name.text.slice(root.length) : name.text;
    return name.text.startsWith(`${section}.`) ? name.text.slice(section.length + 1) : name.text;
  };
  const head: Line = { key: section, kind: "heading", text: section, names: heading ? [heading] : [], indent: 0 };
  return [
    head,
    ...inner.map((name) => ({
      ...lineOfName(name),
      text: (name.kind === "old" ? "old " : "") + short(name),
      indent: 1,
    })),
  ];
}

/** The module whose parameter a line is of; null where it has a line of its own. */
function moduleOfLine({ kind, names: [name] }: Line): string | null {
  if ((kind !== "name" && kind !== "state") || !name?.section) return null;
  const dot = name.text.lastIndexOf(".");
  const path = dot < 0 ? "" : name.text.slice(0, dot);
  return path && path !== name.section ? `${name.section} ${kind} ${path}` : null;
}

/** Lines that stand below each other and are of one thing as one. `of` says what a line is of, null for nothing. */
function joinNeighbours(lines: Line[], of: (line: Line) => string | null): Line[] {
  const out = [] as Line[];
  let last: string | null = null;
  for (const line of lines) {
    const owner = of(line);
    const before = out[out.length - 1];
    if (owner !== null && owner === last) out[out.length - 1] = joined([before, line]);
    else out.push(line);
    last = owner;
  }
  return out;
}

function inChunks(lines: Line[], size: number): Line[] {
  if (size < 2) return lines;
  const out = [] as Line[];
  for (let k = 0; k < lines.length; k += size) out.push(joined(lines.slice(k, k + size)));
  return out;
}

/** Several lines as one: what their texts begin with, or the first and the last. */
function joined(lines: Line[]): Line {
  if (lines.length === 1) return lines[0];
  const [first, last] = [lines[0], lines[lines.length - 1]];
  const [a, b] = [first.text.split(" … ")[0], last.text.split(" … ").at(-1) ?? last.text];
  let common = commonPath(a, b);
  if (first.kind === "group" && !first.text.includes(" … ")) common = commonPath(first.text, b) || common;
  return {
    key: `group ${first.names[0]?.key ?? first.key}`,
    kind: "group",
    text: common || `${a} … ${b}`,
    names: lines.flatMap(({ names }) => names),
    indent: first.indent,
  };
}

/** The module that two paths have in common. */
function commonPath(a: string, b: string) {
  const [partsA, partsB] = [a.split("."), b.split(".")];
  let n = 0;
  while (n < partsA.length && n < partsB.length && partsA[n] === partsB[n]) n += 1;
  return partsA.slice(0, n).join(".");
}
