/** The whole run as a list: which rows are open, by what they are sorted, and what a choice in it does. */

import { factsOfRun } from "./call_site_facts.ts";
import { keysToUnfoldRow } from "../net_rows.ts";
import { layoutWholeRun, type RowFilter, type SortColumn, type WholeRunLayout } from "./whole_run_layout.ts";
import { wholeRunHeadMarks, wholeRunMarks } from "./whole_run_marks.ts";
import type { NetFacts } from "../net_state.ts";
import type { Translate } from "../../words/sentences.ts";
import type { VNode } from "../../browser/svg.ts";

interface WholeRun {
  /** what stands over the columns, and the rows */
  draw: (
    facts: NetFacts,
    room: { width: number; height: number },
  ) => { head: VNode[]; body: VNode[]; layout: WholeRunLayout };
  /** does what a mark with this key stands for; the key of the row that has the focus then, null where it is none's */
  choose: (key: string) => string | null;
  /** closes what the reader opened, and puts the rows back in order; whether there was any */
  reset: () => boolean;
}

const FILTERS: RowFilter[] = ["all", "findings", "parameters"];

export function createWholeRun(say: Translate): WholeRun {
  let open = new Map<string, boolean>();
  let sort: SortColumn | null = null;
  let filter: RowFilter = "all";
  let selected: string | null = null;
  let layout: WholeRunLayout | null = null;
  let program: object | null = null;

  function clear() {
    open = new Map();
    sort = null;
    filter = "all";
    selected = null;
  }

  return {
    draw(facts, room) {
      const { trace } = facts.opened;
      if (program !== trace.program) clear();
      program = trace.program;
      const run = factsOfRun(facts);
      layout = layoutWholeRun(run, room, { open, sort, filter });
      const scene = { run, layout, say, lines: trace.program.source.split("\n"), selected, sort, filter };
      return { head: wholeRunHeadMarks(scene), body: wholeRunMarks(scene), layout };
    },
    choose(key) {
      if (key.startsWith("sort ")) {
        const column = key.slice(5) as SortColumn;
        sort = sort === column ? null : column;
        return key;
      }
      if (key === "filter") {
        filter = FILTERS[(FILTERS.indexOf(filter) + 1) % FILTERS.length];
        return key;
      }
      const row = layout?.rows.find((each) => each.key === key);
      if (!row) return null;
      selected = key;
      const [callSite] = row.callSites;
      const isFold = row.kind === "fold" || row.kind === "repeat";
      if (!row.opens) return key;
      open = new Map(open);
      if (isFold) for (const each of keysToUnfoldRow(row)) open.set(each, true);
      else open.set(callSite.key, !row.isOpen);
      selected = isFold ? callSite.key : key;
      return selected;
    },
    reset() {
      if (!open.size && !sort && filter === "all" && !selected) return false;
      clear();
      return true;
    },
  };
}
