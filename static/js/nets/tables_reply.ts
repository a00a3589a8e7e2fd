/** The tables of a run as a terminal, a notebook and a spreadsheet take them: by module and by parameter. */

import { openTrace } from "../trace/state.ts";
import { moduleTable, type ModuleRow, type ModuleTotals } from "./module_table.ts";
import { parameterTable, type ParameterRow } from "../findings/account/parameters.ts";
import { runCoverage } from "../findings/account/run_coverage.ts";
import { RunFacts } from "../findings/facts/run_facts.ts";
import type { Trace } from "../trace/wire.ts";

interface TablesReply {
  /** whether the trace tells of the whole run */
  whole: boolean;
  modules: ModuleRow[];
  totals: ModuleTotals;
  parameters: ParameterRow[];
}

export function tablesReply(trace: Trace): TablesReply {
  const opened = openTrace(trace);
  const { rows, totals } = moduleTable(opened);
  return {
    whole: runCoverage(new RunFacts(opened)).isWhole,
    modules: rows,
    totals,
    parameters: parameterTable(opened),
  };
}
