/** What tooltips say at some steps of what these set, for the referee. */

import { cachedGraphModel } from "../../static/js/layout/graph/graph_model.ts";
import { findEntity, findHandle } from "../../static/js/trace/entities.ts";
import { markSentence } from "../../static/js/tooltips/mark_sentence.ts";
import { createLocale } from "../../static/js/words/sentences.ts";
import en from "../../static/locales/tips.en.json" with { type: "json" };

const TIPS = createLocale({ en })("en");

const MOST_STEPS = 40;
const MOST_AT_A_STEP = 3;

/** Phrases, and sentences that state nothing of this run. */
const PARTS = /^(unnamed|separator|list_more|name_of_\w+|size_\w+|value|memory|node|none|none_why)$/;

export function tooltipSentences(opened) {
  const { steps } = opened.trace;
  const every = Math.max(1, Math.floor(steps.length / MOST_STEPS));
  return steps.flatMap((step, i) => (i % every || step.kind === "end" ? [] : ofStep(opened, step, i)));
}

function ofStep(opened, { set, frame }, step) {
  const entities = opened.state(step);
  const { paths } = opened.names(step);
  const { labels } = cachedGraphModel(opened);
  const some = (list, tell) => list.slice(0, MOST_AT_A_STEP).flatMap(tell);
  const ofMark = (target, args) => said(opened, step, target, args);
  const uids = Object.keys(set).filter((uid) => entities.has(uid));
  const handles = uids.filter((uid) => findHandle(entities, uid) && paths.has(uid));
  const bare = handles.filter((uid) => missesGradient(entities, uid));
  const nodes = uids.filter((uid) => labels.has(uid) && !findEntity(entities, uid, "node")?.variable);
  const values = Object.entries(set[frame]?.vars ?? {}).filter(([, value]) => !value?.ref);
  return [
    ...some(handles, (uid) => ofMark({ kind: "name", frame, name: paths.get(uid), ref: uid }, { x: thing(uid) })),
    ...some(values, ([name]) => ofMark({ kind: "name", frame, name, ref: null }, { x: { name } })),
    ...some(bare, (uid) => ofMark({ kind: "missing gradient", of: uid }, { x: thing(uid) })),
    ...some(nodes, (uid) => ofMark({ kind: "node", uid, variable: null }, { x: { name: labels.get(uid), of: uid } })),
    ...some(handles, (uid) => {
      const { storage } = findHandle(entities, uid);
      const nbytes = findEntity(entities, storage, "storage")?.nbytes;
      return nbytes === undefined ? [] : ofMark({ kind: "strip", storage }, { x: thing(uid), nbytes });
    }),
  ];
}

function missesGradient(entities, uid) {
  const tensor = findEntity(entities, uid, "tensor");
  return tensor?.requires_grad && tensor.leaf && !tensor.grad;
}

/** The sentences of one tooltip. */
function said(opened, step, target, args) {
  const sentences = [];
  let size = { key: "size_unknown", args: {} };
  markSentence(opened, step, target, (key, { names, targets, ...facts } = {}) => {
    const text = TIPS.say(key, { names, targets, ...facts });
    if (key.startsWith("size_")) size = { key, args: facts };
    const own = { ...facts, ...args, size, names: listed(names), targets: listed(targets) };
    if (!PARTS.test(key)) sentences.push({ step, key: `tooltip.${key}`, args: own, text });
    return text;
  });
  return sentences;
}

/** The names of a list, without those that it only counts; some with the function that they are read in. */
function listed(text = "") {
  const names = text.replace(/ and \d+ more$/, "").split(/, (?![^[]*\])/);
  return names.filter(Boolean).map((name) => ({ name }));
}

function thing(uid) {
  return { key: "unnamed_thing", args: {}, of: uid };
}
