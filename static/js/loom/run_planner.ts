/** The plans of a run by its modules: built once for a run, a size and what is opened; a step only looks one up. */

import { columnsOfRun, type ModuleColumns } from "./run_columns.ts";
import {
  heightOfPhaseGaps,
  labelWidth,
  layoutRun,
  MIN_COLUMN_WIDTH,
  MIN_ROW_HEIGHT,
  heightBesidesRows,
  leastRowsOfSection,
  sectionAt,
} from "./run_layout.ts";
import { sectionsOf, type Section } from "./run_sections.ts";
import type { NetFacts } from "../nets/net_state.ts";
import type { OpenedRows } from "../nets/net_rows.ts";
import type { RunLayout } from "./run_plan.ts";

interface RunRoom {
  width: number;
  height: number;
  choices: OpenedRows;
}

const MIN_COLUMNS = 4;
const MAX_TRIES = 4;

export class ModuleLoomPlanner {
  facts: NetFacts;
  sections: Section[];
  /** of the program, by line */
  lines: string[];
  private key = "";
  private columns: ModuleColumns | null = null;
  private layouts = new Map<number, RunLayout>();

  constructor(facts: NetFacts) {
    this.facts = facts;
    this.sections = sectionsOf(facts);
    this.lines = facts.opened.trace.program.source.split("\n");
  }

  /** The round of step `i` is drawn in full. */
  layout(i: number, { width, height, choices }: RunRoom): RunLayout {
    const key = `${width} ${height} ${JSON.stringify([...choices])}`;
    if (key !== this.key || !this.columns) {
      this.key = key;
      this.layouts.clear();
      this.columns = this.columnsFor({ width, height, choices });
    }
    const at = sectionAt(this.columns.sections, i);
    let layout = this.layouts.get(at);
    if (!layout) {
      layout = layoutRun(this.facts, this.columns, i, { width, height });
      this.layouts.set(at, layout);
    }
    return layout;
  }

  /** As many columns as there is room for beside each other, and for what runs in them below each other. */
  private columnsFor({ width, height, choices }: RunRoom): ModuleColumns {
    const room = { width: width - labelWidth(width) - 10, least: MIN_COLUMN_WIDTH, choices };
    let most = Number.POSITIVE_INFINITY;
    for (let tries = 1; ; tries++) {
      const columns = columnsOfRun(this.facts, this.sections, { ...room, most });
      const heights = columns.sections.map(
        (section) => leastRowsOfSection(section) * MIN_ROW_HEIGHT + heightOfPhaseGaps(section),
      );
      const excess = Math.max(0, ...heights) / Math.max(MIN_ROW_HEIGHT, height - heightBesidesRows(columns));
      const count = columns.columns.length;
      if (excess <= 1 || choices.size || count <= MIN_COLUMNS || tries === MAX_TRIES) return columns;
      most = Math.max(MIN_COLUMNS, Math.min(count - 1, Math.ceil(count / excess)));
    }
  }

  /** The step of another section that is as far in it as a step is in its own. */
  sameMomentIn(stretch: number, i: number): number | null {
    const target = this.sections.find((section) => section.stretch === stretch);
    const { columns } = this;
    if (!target || !columns) return null;
    const own = columns.sections[sectionAt(columns.sections, i)].section;
    const unit = this.facts.touchedAt(i).at(-1);
    const place = unit && this.facts.net.placeOfUnit.get(unit);
    const isBackward = Boolean(this.facts.opened.trace.steps[i].visit);
    const same = target.phases
      .filter(({ kind }) => (kind === "backward") === isBackward)
      .flatMap(({ moments }) => moments)
      .find((moment) => moment.place === place);
    if (place && same) return same.step;
    return Math.min(target.last, target.first + Math.max(0, i - own.first));
  }
}
