/** What the view of parameters says: of each parameter, and of all of them in a sentence. */

import { shortNumberText } from "../trace/format.ts";
import { normAsNumber, type ParameterMoment } from "./parameter_moments.ts";
import type { ParameterSummary } from "./parameter_rows.ts";
import type { Say } from "../words/sentences.ts";

export function countText(count: number) {
  return count.toLocaleString("en");
}

/** A norm to three digits. */
export function normText(value: number) {
  if (Number.isNaN(value)) return "?";
  if (!Number.isFinite(value)) return "inf";
  if (value === 0) return "0";
  const text = Number(value.toPrecision(3));
  return Math.abs(text) >= 1e6 || Math.abs(text) < 1e-4 ? text.toExponential(1).replace("e+", "e") : String(text);
}

/** The trace has norms to five digits. */
const ROUNDED_BY = 1e-4;

/** How far a parameter was moved; where only a bound is known, that, rounded up. */
export function movedText(moved: number, atMost: ParameterSummary["movedAtMost"]) {
  if (!atMost) return normText(moved);
  const norm = atMost.norm * (1 + ROUNDED_BY);
  const digit = 10 ** (Math.floor(Math.log10(norm || 1)) - 2);
  return `≤ ${normText(Math.ceil(norm / digit) * digit)}`;
}

/** As the field writes it: `2×6×16`; `scalar`'s is empty. */
export function shapeText(shape: number[] | null) {
  if (!shape) return "?";
  return shape.length ? shape.join("×") : "()";
}

export function holderText(moment: ParameterMoment, say: Say): string {
  if (!moment.held_by.length) return say(moment.is_held === null ? "holder_unknown" : "nobody");
  return moment.held_by
    .map(({ optimizer, group, lr }) =>
      say("holder", { optimizer, group, lr: lr === null ? "?" : shortNumberText(lr, 8).replace(/^\./, "0.") }),
    )
    .join("; ");
}

export function learnsText({ learns, learnsCount, moments, updated, ended }: ParameterSummary, say: Say): string {
  const text = say(`learns_${learns}`, { updated, ended });
  const isPart = learnsCount < moments.length;
  return isPart ? say("count_of", { text, n: learnsCount, all: moments.length }) : text;
}

export function learnsReason({ learns, updated, ended }: ParameterSummary, say: Say) {
  return say(`why_${learns}`, { n: ended, updated, ended });
}

/** The longest name that all names begin with, whole parts of it. */
export function commonModulePath(names: string[]): string {
  const lists = names.map((name) => name.split("."));
  const common: string[] = [];
  for (let k = 0; lists.length && k < lists[0].length - 1; k++) {
    if (!lists.every((parts) => parts[k] === lists[0][k])) break;
    common.push(lists[0][k]);
  }
  return common.join(".");
}

/** What the table amounts to: problems, each in a sentence of its own, else how far the training is. */
export function parameterHeadlines(moments: ParameterMoment[], say: Say): string[] {
  const withFate = (learns: string) => moments.filter((moment) => moment.learns === learns);
  const problems = (["never_learns", "never_moved"] as const).flatMap((learns) => {
    const found = withFate(learns);
    if (!found.length) return [];
    const names = found.map(({ row }) => row.name ?? "");
    const others = moments.filter((moment) => moment.learns !== learns).map(({ row }) => row.name ?? "");
    const name = found.length === 1 ? names[0] : commonModulePath(names);
    const isOwn = name !== "" && !others.some((other) => other === name || other.startsWith(`${name}.`));
    const rounds = Math.max(...found.map((moment) => moment.rounds.length));
    return [say(`say_${learns}${isOwn ? "" : "_several"}`, { name, rounds, n: found.length })];
  });
  return problems.length ? problems : [progress(moments, say)];
}

function progress(moments: ParameterMoment[], say: Say): string {
  const made = moments.filter(({ learns }) => learns !== "not_made");
  const updated = made.filter(({ learns }) => learns === "updated");
  const rounds = Math.max(0, ...made.map((moment) => moment.rounds.length));
  const isAlways = made.every((moment) => moment.rounds.length > 0 && moment.updated === rounds);
  if (!made.length) return say("no_parameters");
  if (made.every(({ learns }) => learns === "frozen")) return say("say_frozen", { n: made.length });
  if (isAlways) return say("say_all_updated", { n: made.length, rounds });
  if (updated.length) return say("say_updated", { updated: updated.length, n: made.length });
  return say(made.some(({ learns }) => learns === "not_yet") ? "say_not_yet" : "say_nothing");
}

/** As many times the smallest gradient fits into the largest before that is said. */
const WIDE_RANGE = 1e4;

/** As many times the gradient of one that no step changed fits into the largest before that is said. */
const VANISHED = 1e6;

/**
 * The largest and the smallest gradient that are there, where they are far apart; null where they are not. Where
 * gradients all but vanish: of those, the smallest of a parameter of which no step changed a number, while one changed
 * that with the largest.
 */
export function gradientRange(moments: ParameterMoment[], say: Say): string | null {
  const known = moments
    .map(({ row, gradient, learns }) => ({ name: row.name, learns, norm: normAsNumber(gradient) }))
    .filter(({ norm }) => Number.isFinite(norm) && norm > 0)
    .sort((a, b) => a.norm - b.norm);
  const largest = known[known.length - 1];
  if (!largest?.name) return null;
  const vanished = known.filter(({ learns, norm }) => learns === "not_updated" && norm * VANISHED < largest.norm);
  const isVanishing = vanished.length > 0 && largest.learns === "updated";
  const smallest = isVanishing ? vanished[0] : known[0];
  if (!smallest.name || largest.norm < smallest.norm * WIDE_RANGE) return null;
  const [small, large] = [smallest, largest].map(({ norm }) => normText(norm));
  const names = { small, smallest: smallest.name, large, largest: largest.name };
  return isVanishing
    ? say("say_vanished", { ...names, n: vanished.length, all: moments.length })
    : say("say_range", names);
}

/** What stands small below it. */
export function parameterCountsText(moments: ParameterMoment[], isWhole: boolean, say: Say): string {
  const sizeOf = (learns: string[]) =>
    moments.filter((moment) => learns.includes(moment.learns)).reduce((sum, { row }) => sum + row.numbers, 0);
  const numbers = moments.reduce((sum, { row }) => sum + row.numbers, 0);
  const should = sizeOf(["never_learns", "never_moved"]);
  const frozen = sizeOf(["frozen"]);
  const rounds = Math.max(0, ...moments.map((moment) => moment.rounds.length));
  return [
    say("sub", { numbers: countText(numbers), n: moments.length }),
    should && say("sub_should", { n: countText(should) }),
    frozen && say("sub_frozen", { n: countText(frozen) }),
    !isWhole && say("sub_part", { rounds }),
  ]
    .filter(Boolean)
    .join(" · ");
}
