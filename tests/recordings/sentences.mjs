/** What is said of a trace, for the referee: each sentence with its step, its key, its arguments and its text. */

import { captionNotesOfStep } from "../../static/js/captions/notes.ts";
import { partsText, sentenceParts } from "../../static/js/captions/sentence.ts";
import { explain } from "../../static/js/findings/explain.ts";
import { EntityNaming } from "../../static/js/findings/facts/naming.ts";
import { lookedForIn } from "../../static/js/findings/looked_for.ts";
import { findingText } from "../../static/js/findings/finding_text.ts";
import { findingLocale } from "../../static/js/findings/locale.ts";
import { NetFacts } from "../../static/js/nets/net_state.ts";
import { netOf } from "../../static/js/nets/net_call_sites.ts";
import { stepHeadline } from "../../static/js/nets/step_headline.ts";
import { normText } from "../../static/js/nets/whole_run/norm_text.ts";
import { factsOfRun } from "../../static/js/nets/whole_run/call_site_facts.ts";
import { parameterRunSummaries } from "../../static/js/nets/whole_run/parameters_of_run.ts";
import { runHeadline } from "../../static/js/nets/whole_run/run_headline.ts";
import { verdictOf } from "../../static/js/verdict/verdict.ts";
import { moduleCallsOf } from "../../static/js/trace/module_calls.ts";
import { pictureOfRun } from "../../static/js/trace/run_picture.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { bundledLocale } from "../../static/js/words/locale.ts";
import { createLocale } from "../../static/js/words/sentences.ts";
import { tooltipSentences } from "./tooltip_sentences.mjs";
import net from "../../static/locales/net.en.json" with { type: "json" };

const NET = createLocale({ en: net })("en");

// a finding's names don't say of what and when: that is noted where they are made
const nameFact = EntityNaming.prototype.nameFact;
EntityNaming.prototype.nameFact = function (uid, step) {
  const fact = nameFact.call(this, uid, step);
  if (!("code" in fact)) return { ...fact, of: uid };
  // of what a function is about to return it is the name that it gets
  const bindings = this.facts.scan.bindingsByUid.get(uid) ?? [];
  const later = this.nameAt(uid, step) ? null : bindings.find((each) => each.step > step && each.name === fact.code);
  return { ...fact, of: uid, at: later?.step ?? step };
};

export default function sentences(trace) {
  const opened = openTrace(trace);
  return [
    ...captions(opened),
    ...ofFindings(opened),
    ...verdictRows(opened),
    ...headlines(opened),
    ...lookedFor(opened),
    ...tooltipSentences(opened),
  ];
}

/** What is said beside the tick: how much ran, and what was found to be in order. */
function lookedFor(opened) {
  const { say } = findingLocale("en");
  const step = opened.trace.steps.findLastIndex(({ kind }) => kind !== "end");
  const found = lookedForIn(opened, explain(opened));
  if (!found) return [];
  const whole = { isWhole: opened.trace.steps.every(({ skipped }) => !skipped) };
  return [found.line, ...found.remarks, ...found.rows].map(({ key, facts }) => ({
    step,
    key,
    args: { ...argumentsOf(facts), ...whole },
    text: say(key, facts),
  }));
}

/** The tensors that the verdict shows, with their numbers. */
function verdictRows(opened) {
  const verdict = verdictOf(opened, findingLocale("en").say);
  return [...(verdict?.rows ?? []), ...(verdict?.rowsAfterCut ?? [])].map(({ uid, step, names, cells, shape, kind }) => ({
    step,
    key: `verdict.row.${kind}`,
    args: { x: thing(uid.replace(/\.grad$/, "")), names: names.map((name) => ({ name })), cells, shape },
    text: `${names.join(", ")}: ${JSON.stringify(cells)}`,
  }));
}

/** What is said above a net, at its steps and of its whole run. */
function headlines(opened) {
  if (pictureOfRun(opened) !== "list") return [];
  const facts = new NetFacts(opened, netOf(opened));
  const { steps } = opened.trace;
  const last = steps.findLastIndex(({ kind }) => kind !== "end");
  const ofSteps = steps.flatMap((_, i) => saidBy((say) => stepHeadline(facts, i, say), i).slice(-1));
  const ofRun = saidBy((say) => runHeadline(opened, say), last).filter(({ key }) => !PARTS.test(key));
  return [...ofSteps, ...cells(facts, last), ...ofRun.map((said) => ({ ...said, args: { ...said.args, ...meant(opened, said) } }))];
}

/** The parameters and modules that a sentence of a whole run counts. */
function meant(opened, { key, args: { name } }) {
  const moments = [...parameterRunSummaries(opened).moments.values()];
  const things = (fits) => moments.filter(fits).map(({ uid }) => thing(uid));
  const [, problem] = /^whole_problem_(never_learns|never_moved|not_updated)/.exec(key) ?? [];
  const calls = [...moduleCallsOf(opened).calls.values()].filter(({ within, path }) => within === null && path === name);
  const modules = [...new Set(calls.map(({ module }) => module))];
  return {
    parameters: things(({ learns }) => learns === problem),
    learning: things(({ learns }) => learns === "updated"),
    others: things(({ learns }) => learns !== "updated"),
    modules: modules.map(thing),
    counts: modules.map((uid) => calls.filter(({ module }) => module === uid).length),
  };
}

/** The cells of the table of a whole run, of modules. */
function cells(facts, step) {
  const run = factsOfRun(facts);
  const { isWhole } = parameterRunSummaries(facts.opened).account.table;
  const callSites = [...facts.net.callSiteOfInvocation.values()].filter(({ kind, path, isTransparent }) => kind === "module" && path && !isTransparent);
  return [...new Set(callSites)].flatMap((callSite) => {
    const { parameters, calls } = run.ofCallSite(callSite);
    const { uid } = callSite.invocations.findLast((invocation) => invocation.uid) ?? {};
    const module = uid ? thing(uid) : callSite.path;
    const said = [{ key: "cell.called", value: calls, text: `${calls}` }];
    if (parameters) {
      const { start, end, gradients, learning, uids } = parameters;
      const last = gradients.at(-1);
      said.push({ key: "cell.learns", value: learning, isWhole, parameters: uids.map(thing), text: NET.say(isWhole || learning === uids.length ? "whole_learn" : "whole_learn_seen", { k: learning, n: uids.length }) });
      for (const [key, norm] of Object.entries({ start, end, gradient: last }))
        if (typeof norm === "number" && !Number.isNaN(norm))
          said.push({ key: `cell.${key}`, value: normText(norm), parameters: uids.map(thing), text: `${key} ${normText(norm)}` });
    }
    return said.map(({ key, text, ...args }) => ({ step, key, args: { module, ...args }, text: `${callSite.path}: ${text}` }));
  });
}

/** Sentences with others in them, and parts of sentences that state nothing. */
const PARTS = /^whole_(join|both|and|list|loss|comma|count|is_\w+|calls|calls_recorded)$/;

function saidBy(tell, step) {
  const said = [];
  tell((key, args = {}) => {
    const text = NET.say(key, args);
    said.push({ step, key, args, text });
    return text;
  });
  return said;
}

function captions(opened) {
  const { say } = bundledLocale("en");
  return opened.trace.steps.flatMap((_, step) => {
    const said = new Map();
    for (const { key, args } of captionNotesOfStep(opened, step)) {
      const text = partsText(sentenceParts({ key, args }, say));
      if (!said.has(text)) said.set(text, { step, key, args, text });
    }
    return [...said.values()];
  });
}

/** The sentences of findings that have facts of the run, and each name in them, at the step for which it was chosen. */
function ofFindings(opened) {
  const { say } = findingLocale("en");
  const { steps } = opened.trace;
  const variables = new Set(steps.flatMap(({ set }) => Object.values(set).flatMap(({ vars }) => Object.keys(vars ?? {}))));
  return explain(opened).flatMap((finding) => {
    const text = findingText(finding, say);
    const moments = { cause: finding.cause.step, end: steps.findLastIndex(({ kind }) => kind !== "end") };
    if (finding.explainsError) moments.raised = steps.findLastIndex(({ kind }) => kind === "raise");
    for (const { role, step } of finding.chain) {
      moments[role] = step;
      const isAfter = ({ kind, frame }, k) => k > step && kind !== "visit" && frame === steps[step].frame;
      if (steps[step].visit) moments[`${role}_over`] = steps.findIndex(isAfter);
    }
    const ofPart = (part) => ({ keys: keysOf(finding, part), facts: finding.facts, step: finding.cause.step });
    const ofLink = (link, k) => ({
      keys: [...keysOf(link.words ?? finding, `chain.${link.role}`), `finding.chain.${link.role}`],
      facts: { ...finding.facts, ...link.facts, line: link.line },
      own: link.facts,
      step: link.step,
      text: text.chain[k],
      things: link.uids.map(thing),
      node: link.slot ? { name: "", of: link.slot.split(":")[0] } : null,
    });
    const rows = [
      { ...ofPart("what"), text: text.what },
      { ...ofPart("why"), text: text.why },
      ...finding.chain.map(ofLink),
    ].map((row) => ({ ...row, key: row.keys.find((key) => say(key) !== key) ?? row.keys[0] }));
    return rows.filter(({ key, text }) => text && say(key).includes("{")).flatMap((row) => [
      {
        step: row.step,
        key: row.key,
        args: { ...argumentsOf({ line: finding.cause.line, ...row.facts }), things: row.things ?? [], node: row.node },
        text: row.text,
        moments,
        hasCode: say(row.key).includes("{code}"),
      },
      ...(row.key.endsWith(".why") ? [] : namesIn(row, finding.kind, moments, variables)),
    ]);
  });
}

function keysOf({ kind, variant }, part) {
  return [`finding.${kind}.${variant}.${part}`, `finding.${kind}.${part}`];
}

/** The names that a text quotes: each with what it means where the finding says that, else at all its moments. What no
 * variable was called is torch's word. */
function namesIn({ own, facts, text, step }, kind, moments, variables) {
  return codeFacts(own ?? facts)
    .filter(({ code, of, isEarlier }) => !isEarlier && text.includes(`\`${code}\``) && (of || (PATH.test(code) && variables.has(/^[^.[]+/.exec(code)[0]))))
    .map(({ code, of, at }) =>
      of
        ? { step: at, key: `name.${kind}`, args: { x: { name: code, of } }, text }
        : { step, key: `name.bare.${kind}`, args: { x: { name: code } }, text, moments: { ...moments, own: step } },
    );
}

const PATH = /^[\p{L}_][\p{L}\p{N}_]*(\.[\p{L}\p{N}_]+|\[('[^']*'|[^\][']+)\])*$/u;

function codeFacts(fact) {
  if (Array.isArray(fact)) return fact.flatMap(codeFacts);
  if (fact === null || typeof fact !== "object") return [];
  return typeof fact.code === "string" ? [fact] : Object.values(fact).flatMap(codeFacts);
}

/** Facts as the arguments of a sentence: a thing of the run by its uid, whatever it is called at the step. */
function argumentsOf(facts) {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, argumentOf(fact)]));
}

function argumentOf(fact) {
  if (Array.isArray(fact)) return fact.map(argumentOf);
  if (fact === null || typeof fact !== "object") return fact;
  if (fact.of) return thing(fact.of);
  if ("code" in fact) return { name: fact.code };
  if ("phrase" in fact) return { key: fact.phrase, args: argumentsOf(fact.facts ?? {}) };
  return { key: "unnamed_thing", args: argumentsOf(fact) };
}

function thing(uid) {
  return { key: "unnamed_thing", args: {}, of: uid };
}
