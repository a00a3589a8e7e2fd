/** What each mark of a run by its modules is, in one sentence. */

import { bytesLabel } from "../trace/memory_totals.ts";
import { netRowName } from "../nets/net_marks.ts";
import { normText } from "../nets/net_texts.ts";
import { keptBytesAt } from "./run_kept.ts";
import { normOfChangeByStep, countOfNumbers } from "./run_parameters.ts";
import { countStepsUpTo, arrivedGradientNorm, outputText, progressOfRun } from "./run_state.ts";
import type { RunBox, HiddenRounds, KeptBar, StepBox, BoxEdge } from "./run_plan.ts";
import type { ModuleColumn, ColumnGroup } from "./run_columns.ts";
import type { NetFacts } from "../nets/net_state.ts";
import type { NetPlace } from "../nets/net_places.ts";
import type { Say } from "../words/sentences.ts";
import type { Section } from "./run_sections.ts";

interface Asked {
  facts: NetFacts;
  i: number;
  say: Say;
  /** of the program, by line */
  lines: string[];
}

/** The names of a column, of a module its whole path. */
function columnName({ row }: ModuleColumn): string {
  return row.kind === "place" ? placeName(row.places[0]) : netRowName(row);
}

function placeName({ path, name }: NetPlace) {
  return path ?? name;
}

export function canColumnOpen({ row }: ModuleColumn): boolean {
  return row.kind === "fold" || row.kind === "repeat" || row.places[0].inner.length > 0;
}

export function columnSentence({ facts, say }: Asked, column: ModuleColumn): string {
  const { row, parameters } = column;
  const [place] = row.places;
  const name = columnName(column);
  const what = {
    place: place.kind === "module" ? say("loom_is_module", { name, type: place.type }) : lineText(say, name, place),
    lines: say("loom_is_lines", { name, first: place.line, last: row.places[row.places.length - 1].line }),
    fold: say("loom_is_fold", { n: row.places.length, name }),
    repeat: say("loom_is_repeat", { n: row.places.length, name, type: place.type }),
    head: "",
  }[row.kind];
  const numbers = countOfNumbers(facts, parameters).toLocaleString("en");
  const learns = parameters.length ? say("loom_has_parameters", { n: parameters.length, numbers }) : "";
  return (
    [what, learns, canColumnOpen(column) ? say("loom_opens") : ""].filter(Boolean).join(say("loom_comma")) +
    say("loom_stop")
  );
}

function lineText(say: Say, name: string, { kind, line }: NetPlace) {
  return say(kind === "function" ? "loom_is_function" : "loom_is_line", { name, line });
}

export function groupSentence({ say }: Asked, { place }: ColumnGroup): string {
  return say("loom_group", { name: placeName(place) });
}

export function boxSentence({ facts, i, say }: Asked, { run, column }: RunBox): string {
  const name = columnName(column);
  const { phase, units, arrived } = run;
  const n = units.length;
  const progress = progressOfRun(run, i);
  if (phase.kind !== "backward") {
    if (progress === "waits") return say("loom_forward_waits", { name });
    const [k, shape] = [Math.max(1, units.filter(({ begins }) => begins <= i).length), outputText(facts, run)];
    const what = phase.kind === "again" ? "loom_ran_again" : progress === "part" ? "loom_runs" : "loom_ran";
    const times = n > 1 ? say("loom_calls", { k, n }) : "";
    const output = shape && progress === "done" ? say("loom_output", { shape }) : "";
    return [say(what, { name }), times, output].filter(Boolean).join(say("loom_comma")) + say("loom_stop");
  }
  if (progress === "waits") return say("loom_backward_waits", { name });
  const norm = n === 1 ? arrivedGradientNorm(facts, run, i) : null;
  const came = arrived.filter(({ step }) => step <= i).length;
  const parts = [
    norm === null
      ? say("loom_said_backward", { name })
      : say("loom_said_backward_norm", { name, norm: normText(norm) }),
    n > 1 ? say("loom_calls_back", { n }) : "",
    progress === "part" ? say("loom_backward_part", { k: countStepsUpTo(run.steps, i), n: run.steps.length }) : "",
    came ? say("loom_arrived", { n: came }) : "",
  ];
  return parts.filter(Boolean).join(say("loom_comma")) + say("loom_stop");
}

export function stepSentence({ facts, i, say }: Asked, { column, parameters, step }: StepBox): string {
  const [name, n] = [columnName(column), parameters.length];
  if (step > i) return say("loom_said_step_waits", { name });
  const moved = normOfChangeByStep(facts, parameters, step);
  return say(moved === null ? "loom_said_step" : "loom_said_moved", {
    name,
    n,
    norm: moved === null ? "" : normText(moved),
  });
}

export function barSentence({ i, say }: Asked, bar: KeptBar): string {
  const { kept, holds } = keptBytesAt(bar, i);
  const args = { name: columnName(bar.column), kept: bytesLabel(kept), holds: bytesLabel(holds) };
  if (holds === kept) return say("loom_keeps", args);
  if (holds) return say("loom_keeps_part", args);
  const last = Math.max(...bar.pieces.flatMap(({ birth, released }) => (birth <= i ? [released ?? 0] : [])));
  return say("loom_let_go", { ...args, step: last + 1 });
}

export function edgeSentence({ say, lines }: Asked, { from, to, kind, skips, cut }: BoxEdge): string {
  const args = { from: columnName(from.column), to: columnName(to.column) };
  if (cut) {
    const what = (lines[cut.line - 1] ?? "").trim();
    return say("net_cut", { what, line: cut.line, name: args.from }) + say("loom_stop");
  }
  if (kind === "backward") return say("loom_way_back", args);
  return say(skips ? "loom_way_around" : "loom_way", args);
}

export function roundText(say: Say, { round }: Section): string {
  if (!round) return "";
  return round.total === null
    ? say("loom_round", { number: round.number })
    : say("loom_round_of", { number: round.number, total: round.total });
}

export function sectionSentence({ say }: Asked, section: Section): string {
  return say("loom_section", { name: roundText(say, section) || say("loom_outside") });
}

export function hiddenSentence({ say }: Asked, { count }: HiddenRounds): string {
  return say("loom_hidden_why", { n: count });
}
