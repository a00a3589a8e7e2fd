/** The parameters of a trace at each end of a recorded round, for tests; or what is looked at on the way through all of its steps,
 * and whether that is enough. */

import { optimizersOf } from "../../static/js/findings/facts/optimizers.ts";
import { modulePathAt } from "../../static/js/trace/module_calls.ts";
import { parameterRunSummaries } from "../../static/js/nets/whole_run/parameters_of_run.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { parameterStatesOf } from "../../static/js/findings/account/parameter_rounds.ts";

function momentsOf(trace) {
  const opened = openTrace(trace);
  const found = parameterStatesOf(opened);
  const rowsAt = (step) =>
    found.at(step).map((moment) => {
      const { row, learns, held_by, is_held, gradient, scale, weight, rounds, updated } = moment;
      return {
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
    };
    });
  const run = parameterRunSummaries(opened);
  const wholes = run.together([...run.moments.keys()], "moved");
  const before = found.roundSteps.length ? rowsAt(found.roundSteps[0] - 1) : [];
  const backwards = found.table.facts.backwardCalls.map(({ end }) => rowsAt(end));
  return { wholes, before, rounds: found.roundSteps.map(rowsAt), backwards, end: rowsAt(opened.count - 1) };
}

/** On the way through a run and back in leaps: the steps at which what is told is other than when all is looked at anew. */
function stepsOf(trace) {
  const opened = openTrace(trace);
  const found = parameterStatesOf(opened);
  let looks = 0;
  const look = found.makeParameterState.bind(found);
  found.makeParameterState = (...moment) => {
    looks += 1;
    return look(...moment);
  };
  const steps = Array.from({ length: opened.count }, (_, i) => i);
  const leaps = steps.map((i) => (i * 7919) % opened.count);
  const wrong = [];
  let changes = 0;
  let before = [];
  let onTheWay = 0;
  for (const [k, i] of [...steps, ...leaps].entries()) {
    const told = found.at(i).map((moment) => JSON.stringify(moment));
    if (k < steps.length) changes += told.filter((moment, row) => moment !== before[row]).length;
    if (k === steps.length - 1) onTheWay = looks;
    before = told;
    const holders = found.readOptimizerGroups(namesAt(found, i), i);
    const anew = [...found.rows].map(([uid, row]) => look(uid, row, holders.get(uid) ?? [], i));
    if (JSON.stringify(anew) !== `[${told.join()}]`) wrong.push(i);
  }
  return { steps: steps.length, rows: found.rows.size, looks: onTheWay, changes, wrong };
}

function namesAt(found, i) {
  const optimizers = optimizersOf(found.table.facts).keys();
  return new Map([...optimizers].map((uid) => [uid, modulePathAt(found.opened, uid, i)]));
}

export default function parameters(trace, isOfAllSteps) {
  return isOfAllSteps ? stepsOf(trace) : momentsOf(trace);
}
