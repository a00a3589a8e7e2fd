/** What a whole run amounts to: its rounds, its loss and what learns, and in a second sentence what was recorded. */

import { moduleCallsOf } from "../../trace/module_calls.ts";
import { normText } from "./norm_text.ts";
import { recordedRounds } from "../../trace/steps/training_rounds.ts";
import { roundSeries } from "../../training/round_series.ts";
import { maxSeverity, severitiesOf } from "../../findings/severities.ts";
import { parameterRunSummaries } from "./parameters_of_run.ts";
import type { LearningState, ParameterState } from "../../findings/account/parameter_rounds.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { Translate } from "../../words/sentences.ts";
import type { Severity } from "../../findings/finding.ts";

interface RunHeadline {
  /** names stand in backticks */
  said: string;
  /** what was recorded step by step, and how often the net was called; empty where there is nothing to say */
  below: string;
  /** of what the verdict says of parameters */
  tone: Severity | null;
}

/** Parameters of which so little came that it stands first. */
const PROBLEMS: LearningState[] = ["never_learns", "never_moved", "not_updated"];
/** What is said of those that do not learn, after how many do. */
const COUNTED: LearningState[] = ["never_learns", "never_moved", "not_updated", "frozen", "changed"];
const MAX_NAMES = 2;

/** The same at every step of a run. */
export function runHeadline(opened: OpenTrace, say: Translate): RunHeadline {
  const moments = [...parameterRunSummaries(opened).moments.values()];
  const { table } = parameterRunSummaries(opened).account;
  const isOfModule = ({ uid, row }: ParameterState) => table.moduleNamesByParameter(row.step).has(uid);
  const { ofTensor } = severitiesOf(opened);
  // what no finding speaks of, as the bias before a normalization, is counted below and leads nothing
  const isFound = ({ uid }: ParameterState) => ofTensor.has(uid);
  const problems = PROBLEMS.filter((learns) => moments.some((moment) => moment.learns === learns && isFound(moment)));
  const problemTexts = problems.flatMap((learns) => problemText(moments, learns, isOfModule, say));
  const rounds = roundsText(opened, say);
  const { error } = opened.trace.outcome;
  const line = error?.line ?? opened.trace.steps.at(-1)?.line ?? 0;
  const stopped = error ? say("whole_stopped", { type: error.type, line }) : "";
  const isFrozen = ({ uid }: ParameterState) =>
    table.facts.history.valueAt(uid, "requires_grad", opened.count - 1) === false;
  const frozen = moments.filter((moment) => moment.learns === "updated" && isFrozen(moment)).length;
  const frozenText = frozen ? say("whole_frozen_later", { n: frozen }) : "";
  const learn = problemTexts.length
    ? ""
    : [learningText(moments, table.isWhole, say), frozenText].filter(Boolean).join(say("whole_join"));
  const bad = moments.filter(({ learns }) => problems.includes(learns));
  const parts = problemTexts.length
    ? [...problemTexts, rounds].filter(Boolean).join(say("whole_join"))
    : rounds && learn
      ? say("whole_both", { rounds: rounds.replace(/[.。]$/, ""), learn })
      : rounds || learn;
  const said = [parts, stopped].filter(Boolean).join(say("whole_join"));
  return { said, below: recordedRoundsText(opened, say), tone: maxSeverity(bad.map(({ uid }) => ofTensor.get(uid))) };
}

/** `30 rounds, loss 3.66 → 2.10 (lowest 1.70).` */
function roundsText(opened: OpenTrace, say: Translate): string {
  const { rounds } = opened.trace;
  const count = rounds?.count ?? 0;
  if (!count) return "";
  const [loss] = rounds?.losses.length ? roundSeries(opened.trace, say("whole_loss")) : [];
  const values = loss?.points.map(({ value }) => value) ?? [];
  const [first, last] = [values[0], values[values.length - 1]];
  const lowest = Math.min(...values.filter(Number.isFinite));
  const args = {
    n: count,
    name: loss?.name ?? "",
    first: normOrBlank(first),
    last: normOrBlank(last),
    lowest: normOrBlank(lowest),
  };
  const isLowestLast =
    !Number.isFinite(lowest) || normOrBlank(lowest) === normOrBlank(last) || normOrBlank(lowest) === normOrBlank(first);
  const key = !values.length
    ? "whole_rounds"
    : values.length === 1
      ? "whole_rounds_one"
      : isLowestLast
        ? "whole_rounds_loss"
        : "whole_rounds_lowest";
  return say(key, args);
}

function normOrBlank(value: number | undefined) {
  return value === undefined ? "" : normText(value);
}

/** `net.0 never learns; net.2 does.` */
function problemText(
  moments: ParameterState[],
  learns: LearningState,
  isOfModule: (moment: ParameterState) => boolean,
  say: Translate,
): string[] {
  const found = moments.filter((moment) => moment.learns === learns);
  if (!found.length) return [];
  const learning = moments.filter((moment) => moment.learns === "updated");
  const names = modulesOf(found, moments, isOfModule);
  const others = modulesOf(learning, moments, isOfModule);
  const isNamed = names.length > 0 && names.length <= MAX_NAMES;
  const name = isNamed ? quotedList(names, say) : "";
  const isOther = learns === "never_learns" && isNamed && others.length > 0 && others.length <= MAX_NAMES;
  const other = isOther ? quotedList(others, say) : "";
  const args = { name, names: names.length, n: found.length, of: moments.length, other, others: others.length };
  return [say(`whole_problem_${learns}${isNamed ? (isOther ? "_other" : "") : "_many"}`, args)];
}

/** The modules all of whose parameters are among these, the outermost; a parameter alone by its own name. */
function modulesOf(
  found: ParameterState[],
  all: ParameterState[],
  isOfModule: (moment: ParameterState) => boolean,
): string[] {
  const others = all.filter((moment) => !found.includes(moment)).map(({ row }) => row.name ?? "?");
  const isOwn = (prefix: string) => !others.some((other) => other.startsWith(`${prefix}.`));
  return [
    ...new Set(
      found.map((moment) => {
        const name = moment.row.name ?? "?";
        const parts = isOfModule(moment) ? name.split(".") : [];
        for (let k = 1; k < parts.length; k++) {
          const prefix = parts.slice(0, k).join(".");
          if (isOwn(prefix)) return prefix;
        }
        return name;
      }),
    ),
  ];
}

/** `all 30 parameters learn.` What is not seen to learn may have learned where nothing was recorded. */
function learningText(moments: ParameterState[], isWhole: boolean, say: Translate): string {
  const made = moments.filter(({ learns }) => learns !== "not_made");
  if (!made.length) return "";
  const count = (wanted: LearningState) => made.filter(({ learns }) => learns === wanted).length;
  const learning = count("updated");
  const args = { k: learning, n: made.length };
  if (learning === made.length) return say("whole_all_learn", args);
  if (!learning) return say(isWhole ? "whole_none_learn" : "whole_none_seen", args);
  const rest = COUNTED.flatMap((learns) =>
    count(learns) ? [say("whole_count", { n: count(learns), word: say(`whole_is_${learns}`) })] : [],
  );
  const key = isWhole ? "whole_some_learn" : "whole_some_seen";
  return say(key, { ...args, rest: rest.map((text) => say("whole_comma") + text).join("") });
}

/** `Rounds 0 and 29 are recorded step by step, … model is called 33 times.` */
function recordedRoundsText(opened: OpenTrace, say: Translate): string {
  const recorded = recordedRounds(opened.trace).map(({ n }) => n);
  const count = opened.trace.rounds?.count ?? 0;
  const isThinned = count > recorded.length;
  const numbers = recorded.length <= 4 ? listText(recorded.map(String), say) : "";
  const args = { n: recorded.length, count, numbers, known: isThinned ? knownRoundsText(opened, say) : "" };
  const coverage = !count
    ? ""
    : isThinned
      ? say(numbers ? "whole_recorded" : "whole_recorded_many", args)
      : say("whole_recorded_all", args);
  const outer = [...moduleCallsOf(opened).calls.values()].filter(({ within, path }) => within === null && path);
  const counts = new Map<string, number>();
  for (const { path } of outer) counts.set(path ?? "", (counts.get(path ?? "") ?? 0) + 1);
  const called = counts.size <= MAX_NAMES + 1 ? [...counts].map(([name, n]) => say("whole_called", { name, n })) : [];
  const calls = called.length
    ? say(isThinned ? "whole_calls_recorded" : "whole_calls", { calls: listText(called, say) })
    : "";
  return [coverage, calls].filter(Boolean).join(say("whole_join"));
}

/** Of how many rounds a loss and norms are known, recorded step by step or not. */
function knownRoundsText({ trace }: OpenTrace, say: Translate): string {
  const { count = 0, rounds = [], losses = [], recorded = [] } = trace.rounds ?? {};
  const withNorms = new Set([...recorded, ...rounds.filter(({ grad }) => grad)].map(({ n }) => n)).size;
  const withLosses = Math.max(0, ...losses.map(({ values }) => values.filter((value) => value !== null).length));
  const args = { count, losses: withLosses, norms: withNorms };
  if (withLosses < count) return say("whole_known_some", args);
  return say(withNorms < count ? "whole_known_norms" : "whole_known_all", args);
}

/** `a, b and c`. */
function listText(items: string[], say: Translate): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(say("whole_list"))}${say("whole_and")}${items[items.length - 1]}`;
}

const quotedList = (names: string[], say: Translate) =>
  listText(
    names.map((name) => `\`${name}\``),
    say,
  );
