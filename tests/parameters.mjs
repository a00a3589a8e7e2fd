/** The parameters of traces at each end of a recorded round, for tests: a list of traces on stdin, a list of moments on stdout. */

import { readFileSync } from "node:fs";
import { openTrace } from "../static/js/trace/state.ts";
import { parameterMomentsOf } from "../static/js/parameters/parameter_moments.ts";

function momentsOf(trace) {
  const opened = openTrace(trace);
  const found = parameterMomentsOf(opened);
  const rowsAt = (step) =>
    found.at(step).map(({ row, learns, held_by, is_held, gradient, scale, weight, rounds, updated }) => ({
      name: row.name,
      also: row.also,
      learns,
      held: held_by.map(({ group, lr, type }) => ({ type, group, lr })),
      is_held,
      gradient: gradient ?? null,
      scale,
      weight,
      moved: rounds.at(-1)?.moved ?? null,
      rounds: rounds.length,
      updated,
    }));
  const before = found.roundSteps.length ? rowsAt(found.roundSteps[0] - 1) : [];
  const backwards = found.table.facts.backwardCalls.map(({ end }) => rowsAt(end));
  return { before, rounds: found.roundSteps.map(rowsAt), backwards, end: rowsAt(opened.count - 1) };
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(momentsOf)));
