/** What a statement, or a line of forward, did in a run, in a short sentence. */

import { calleeName, callsIn } from "../../syntax/expressions.ts";
import { decodeRealNumber } from "../../training/round_series.ts";
import { normText } from "./norm_text.ts";
import { parameterRunSummaries } from "./parameters_of_run.ts";
import { shortNumberText } from "../../trace/format.ts";
import { statementTree } from "../../syntax/tree.ts";
import type { WholeRunFacts } from "./call_site_facts.ts";
import type { CallSite } from "../net_call_sites.ts";
import type { Translate } from "../../words/sentences.ts";
import type { Step } from "../../trace/wire.ts";
import type { Invocation } from "../net_calls.ts";

/** Of a call site without parameters; empty where there is nothing to say but its code. */
export function callSiteSummaryText(run: WholeRunFacts, callSite: CallSite, say: Translate): string {
  const trained = run.trainedElsewhere(callSite);
  if (trained) return say("whole_trained_elsewhere", { line: trained.line });
  if (callSite.kind === "module") {
    if (!callSite.invocations.some(({ uid }) => uid)) return "–";
    return say(run.ofCallSite(callSite).hasNodes ? "whole_no_parameters" : "whole_no_nodes");
  }
  return (
    optimizerWords(run, callSite, say) ||
    backwardWords(run, callSite, say) ||
    gradientWords(run, callSite, say) ||
    lossWords(run, callSite) ||
    cutWords(run, callSite, say)
  );
}

/** By run of a call site, the steps of its statement. */
function stepsOfInvocations({ facts }: WholeRunFacts, { invocations }: CallSite): Step[][] {
  const { steps } = facts.opened.trace;
  return invocations.map(({ begins, ends, stmt }) =>
    steps.slice(begins, ends + 1).filter((step) => step.stmt === stmt),
  );
}

/** `lr .01, holds all 30 parameters, moves 28 of them`. */
function optimizerWords(run: WholeRunFacts, callSite: CallSite, say: Translate): string {
  const { opened } = run.facts;
  const stepped = stepsOfInvocations(run, callSite)
    .flat()
    .flatMap(({ log, i }) =>
      (log ?? []).flatMap((entry) =>
        entry.kind === "event" && entry.event === "optimizer_stepped" ? [{ uid: entry.optimizer ?? "", i }] : [],
      ),
    );
  const last = stepped.at(-1);
  if (!last) return "";
  const { account, moments } = parameterRunSummaries(opened);
  const held = [...moments.values()].filter(({ uid }) =>
    account.table.holders.get(uid)?.some(({ optimizer }) => optimizer === last.uid),
  );
  if (!held.length) return "";
  const rates = held
    .flatMap(({ uid }) => account.table.holders.get(uid) ?? [])
    .flatMap(({ optimizer, lr }) => (optimizer === last.uid ? [lr] : []));
  const known = [...new Set(rates)].filter((lr): lr is number => lr !== null);
  const lr = known.map((rate) => shortNumberText(rate, 8)).join(", ");
  const moved = held.filter(({ learns }) => learns === "updated").length;
  const args = { lr, n: held.length, moved, of: moments.size };
  const holds = say(held.length === moments.size ? "whole_step_all" : "whole_step_some", args);
  return [lr && say("whole_lr", args), holds, moved < held.length && say("whole_step_moves", args)]
    .filter(Boolean)
    .join(say("whole_comma"));
}

/** `141 nodes a round`. */
function backwardWords(run: WholeRunFacts, callSite: CallSite, say: Translate): string {
  const counts = stepsOfInvocations(run, callSite).map((steps) => steps.filter(({ visit }) => visit).length);
  const present = counts.filter((count) => count > 0);
  if (!present.length) return "";
  const [least, most] = [Math.min(...present), Math.max(...present)];
  return say(least === most ? "whole_nodes" : "whole_nodes_range", { n: most, least, most });
}

/** What a statement did to gradients: took them away, or changed their numbers. */
function gradientWords(run: WholeRunFacts, callSite: CallSite, say: Translate): string {
  const { opened } = run.facts;
  const tree = statementTree(opened.trace.program, callSite.invocations[0].stmt);
  const names = callsIn(tree).map(calleeName);
  const invocations = stepsOfInvocations(run, callSite);
  const { moments } = parameterRunSummaries(opened);
  const taken = invocations.map((steps) => new Set(steps.flatMap((step) => takenGradients(step, moments))));
  const most = Math.max(...taken.map(({ size }) => size));
  const isEvery = taken.every(({ size }, k) => size === countGradients(run, callSite.invocations[k].begins - 1));
  if (most) return say(isEvery ? "whole_grads_none_all" : "whole_grads_none", { n: most });
  const changes = invocations.map((steps) => steps.flatMap((step) => changesOfGradients(run, step)));
  if (names.includes("zero_grad")) return say(changes.flat().length ? "whole_grads_zero" : "whole_grads_nothing");
  const isKnown = changes.flat().every((changed) => changed !== null);
  const times = changes.filter((ofUnit) => ofUnit.some((changed) => changed !== 0)).length;
  const isClip = names.some((name) => name.startsWith("clip_grad_"));
  return isClip && isKnown ? say("whole_clips", { k: times, n: invocations.length }) : "";
}

/** How many parameters have a gradient after a step. */
function countGradients({ facts }: WholeRunFacts, step: number): number {
  const { moments, account } = parameterRunSummaries(facts.opened);
  const history = account.table.facts.history;
  return [...moments.keys()].filter((uid) => history.valueAt(uid, "grad", step)).length;
}

function takenGradients({ set }: Step, moments: ReadonlyMap<string, unknown>): string[] {
  return Object.entries(set ?? {}).flatMap(([uid, fields]) =>
    fields.kind === undefined && fields.grad === null && moments.has(uid) ? [uid] : [],
  );
}

/** What a step wrote into the memory of gradients: how many numbers became others, null where that is not known. */
function changesOfGradients({ facts }: WholeRunFacts, { log }: Step): (number | null)[] {
  const { gradOwners } = facts.opened.index;
  return (log ?? []).flatMap((entry) =>
    entry.kind === "event" && entry.event === "written" && gradOwners.has(entry.storage) ? [entry.changed] : [],
  );
}

/** `3.66 → 2.10`, of the line that made what a backward began at. */
function lossWords(run: WholeRunFacts, callSite: CallSite): string {
  const values = lossesOfCallSite(run, callSite);
  if (!values.length) return "";
  const [first, last] = [values[0], values[values.length - 1]].map(normText);
  return values.length > 1 ? `${first} → ${last}` : first;
}

/** By round, the losses that a call site made, as backwards began at them. */
function lossesOfCallSite({ facts }: WholeRunFacts, callSite: CallSite): number[] {
  const { index, trace } = facts.opened;
  const invocations = new Set<Invocation>(callSite.invocations);
  for (const { fields } of index.backwardChanges) {
    const loss = (trace.rounds?.losses ?? []).find(
      ({ stmt, root }) =>
        stmt === fields.stmt &&
        invocations.has(
          facts.net.invocationByNode.get(facts.gradFn.get(fields.roots?.[root] ?? "") ?? "") as Invocation,
        ),
    );
    if (loss) return loss.values.flatMap((value) => decodeRealNumber(value) ?? []);
  }
  return [];
}

/** `under no_grad: the history ends here`. */
function cutWords(run: WholeRunFacts, callSite: CallSite, say: Translate): string {
  const [cut] = run.ofCallSite(callSite).isCutOff ? run.cutsAt(callSite) : [];
  return cut ? say("whole_cut", { what: cut.reason }) : "";
}
