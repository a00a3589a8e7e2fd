/** What a reader asks of a tensor at a step: why it has no gradient, or where its gradient comes from. Facts, no words. */

import { find, findHandle } from "../trace/entities.js";
import { code, phrase } from "./finding.js";
import { gradName } from "./gradient_name.js";
import { diagnosisOfNone } from "./grad_none.js";
import { gradientFlow, gradNode } from "./gradient_flow.js";
import { gradientHistory, gradValueAt } from "./gradient_history.js";
import { changedByHook, GradientRows } from "./gradient_rows.js";
import { gradientFact, heldFact } from "./gradient_values.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Fact} Fact */
/** @typedef {import("./finding.js").Phrase} Phrase */
/** @typedef {import("./finding.js").Finding} Finding */
/** @typedef {import("./gradient_rows.js").AnswerRow} AnswerRow */
/** @typedef {import("./gradient_history.js").GradChange} GradChange */
/** @typedef {import("./gradient_flow.js").GradientFlow} Flow */
/** @typedef {import("./gradient_flow.js").Arrival} Arrival */
/**
 * @typedef {"none" | "gradient" | "passed"} Question   why there is none; where `.grad` comes from; where the gradient comes
 *   from that passed through and was not kept
 * @typedef {{uid: string, step: number, question: Question, title: Phrase, what: Phrase | null, why: Phrase | null,
 *   rows: AnswerRow[], finding: Finding | null, value: import("./gradient_values.js").Gradient | null}} Answer
 *   finding: why there is no `.grad`; value: of the gradient
 */

const MAX_CHANGES = 12;

/** The tensor that a selection of the picture is about; null where it is about none.
 * @param {import("../trace/state.js").OpenTrace} opened @param {string | null} key like `handle:t3`, `node:n2`, `name:x` @param {number} step */
export function selectedTensor(opened, key, step) {
  const [, kind, value] = /^([a-z-]+):(.*)$/s.exec(key ?? "") ?? [];
  const entities = opened.state(step);
  const uid =
    kind === "handle" || kind === "ref" || kind === "bead"
      ? (value.match(/^t\d+/)?.[0] ?? "")
      : kind === "node"
        ? (find(entities, value, "node")?.variable ?? opened.index.outputsOf(value, step)[0] ?? "")
        : kind === "name" || kind === "path"
          ? tensorByName(opened, value, step)
          : "";
  const tensor = findHandle(entities, uid);
  if (tensor?.kind !== "tensor") return null;
  return opened.index.gradOwnersOf(uid, step)[0] ?? uid;
}

/** @param {import("../trace/state.js").OpenTrace} opened @param {string} text @param {number} step */
function tensorByName(opened, text, step) {
  for (const [uid, tags] of opened.names(step).tags)
    if (uid[0] === "t" && tags.some((tag) => tag.text === text || tag.name === text)) return uid;
  return "";
}

/** @param {RunFacts} facts @param {string} uid of a tensor @param {number} step @returns {Question} */
export function questionOf(facts, uid, step) {
  if (facts.tensor(uid, step)?.grad) return "gradient";
  return lastArrival(facts, uid, step) ? "passed" : "none";
}

/** @param {RunFacts} facts @param {string} uid of a tensor @param {number} step @returns {Answer} */
export function answerOf(facts, uid, step) {
  const question = questionOf(facts, uid, step);
  const x = facts.nameFact(uid, step);
  const title = phrase(`answer.title.${question}`, { x, grad: gradName(x) });
  const emptyAnswer = { uid, step, question, title, what: null, why: null, rows: [], finding: null, value: null };
  const finding = question === "gradient" ? null : findingOfNone(facts, uid, step);
  if (question === "none")
    return { ...emptyAnswer, finding, what: finding ? null : phrase("answer.unknown", { grad: gradName(x) }) };
  const answerParts =
    question === "gradient" ? answerOfStored(facts, uid, step, x) : answerOfPassed(facts, uid, step, x);
  return { ...emptyAnswer, ...answerParts, finding };
}

/**
 * The last backward, or `torch.autograd.grad`, that the program called until a step, to check its gradients.
 * @param {RunFacts} facts @param {number} step
 * @returns {{number: number | null} | null} number: which call, from 0; null where some may not have been recorded; null
 *   where none was called
 */
export function checkableBackward(facts, step) {
  const calls = facts.backwards.filter(({ parent, step: at }) => !parent && at <= step);
  const last = calls.at(-1);
  if (!last) return null;
  const isWhole = !facts.steps.slice(0, last.step + 1).some(({ skipped }) => skipped);
  return { number: isWhole ? calls.length - 1 : null };
}

/** @param {RunFacts} facts @param {string} uid @param {number} step @returns {Finding | null} */
function findingOfNone(facts, uid, step) {
  const diagnosis = diagnosisOfNone(facts, uid, step);
  return diagnosis && { severity: "note", explainsError: false, ...diagnosis, kind: "grad_none" };
}

/** The last backward in which a gradient came to a tensor whose `.grad` is None. @param {RunFacts} facts @param {string} uid
 * @param {number} step @returns {{flow: Flow, arrival: Arrival} | null} */
function lastArrival(facts, uid, step) {
  const nodeUid = gradNode(facts, uid, step);
  if (!nodeUid) return null;
  const outputNr = facts.tensor(uid, step)?.output_nr ?? 0;
  const wasReset = facts.tensor(uid, step)?.leaf;
  for (const call of facts.backwards.filter((call) => call.step <= step).reverse()) {
    if (wasReset && call.api === "backward") continue;
    const arrival = gradientFlow(facts, call).arrival(nodeUid, outputNr);
    const hasIncoming = arrival.incoming.some((part) => part.grad && (part.step ?? step) <= step);
    const isVisited = arrival.grad && arrival.step !== null && arrival.step <= step;
    if (isVisited || (arrival.step === null && hasIncoming)) return { flow: gradientFlow(facts, call), arrival };
  }
  return null;
}

/** @param {RunFacts} facts @param {string} uid @param {number} step @param {Fact} x */
function answerOfPassed(facts, uid, step, x) {
  const { flow, arrival } = /** @type {{flow: Flow, arrival: Arrival}} */ (lastArrival(facts, uid, step));
  const rows = new GradientRows(facts);
  rows.addArrival(flow, arrival);
  const onlyGrad = arrival.incoming.length === 1 ? arrival.incoming[0].grad : null;
  const value = arrival.grad ?? onlyGrad;
  const phraseFacts = {
    x,
    value: gradientFact(value),
    line: facts.steps[flow.call.step].line,
    sum: sumPhrase(facts, [], arrival, flow),
  };
  const key = value ? (isSum(phraseFacts.sum) ? "answer.passed_sum" : "answer.passed") : "answer.passed_unknown";
  return { what: phrase(key, phraseFacts), why: null, value, rows: rowsWithLeftOut(facts, rows, step) };
}

/** @param {RunFacts} facts @param {string} uid @param {number} step @param {Fact} x */
function answerOfStored(facts, uid, step, x) {
  const changes = gradientHistory(facts, uid, step);
  const value = gradValueAt(facts, uid, step);
  const shownChanges = changes.slice(-MAX_CHANGES);
  const rows = new GradientRows(facts);
  const parts = /** @type {Phrase[]} */ ([]);
  if (changes.length > shownChanges.length) addEarlierRow(rows, shownChanges[0], x);
  shownChanges.forEach((change, k) => addChangeRows(rows, change, x, uid, shownChanges.length > 1 || k > 0));
  const last = shownChanges.at(-1);
  const phraseFacts = { x, grad: gradName(x), value: gradientFact(value), n: changes.length };
  if (last?.kind !== "backward")
    return { what: phrase("answer.holds", phraseFacts), why: null, value, rows: rowsWithLeftOut(facts, rows, step) };
  if (last.before) parts.push(phrase("answer.part.held", { value: gradientFact(last.before) }));
  const partsPhrase = sumPhrase(facts, parts, last.arrival, last.flow);
  return {
    what: phrase(isSum(partsPhrase) ? "answer.sum" : "answer.single", { ...phraseFacts, sum: partsPhrase }),
    why: changes.length > 1 ? phrase("answer.why.accumulated", phraseFacts) : null,
    value,
    rows: rowsWithLeftOut(facts, rows, step),
  };
}

/** What it held before the first change that is shown. @param {GradientRows} rows @param {GradChange} change @param {Fact} x */
function addEarlierRow(rows, { before, step }, x) {
  const phraseFacts = { grad: gradName(x), value: gradientFact(before) };
  rows.addRow({ key: "answer.earlier", role: "gradient", facts: phraseFacts, step, value: before });
}

/** @param {GradientRows} rows @param {GradChange} change @param {Fact} x @param {string} uid @param {boolean} isOneOfSeveral */
function addChangeRows(rows, change, x, uid, isOneOfSeveral) {
  const { facts } = rows;
  const { before, after, step } = change;
  const phraseFacts = { x, grad: gradName(x), before: heldFact(before), after: heldFact(after) };
  if (change.kind !== "backward") {
    const role = change.kind === "unseen" ? "none" : "written";
    rows.addRow({
      key: `answer.${change.kind}`,
      role,
      facts: { ...phraseFacts, code: facts.codeFact(step) },
      step,
      uids: [uid],
      value: after,
    });
    return;
  }
  const { flow, arrival } = change;
  const { call } = flow;
  const headFacts = { ...phraseFacts, value: gradientFact(arrival.grad), code: facts.codeFact(call.step) };
  const source = facts.place(call.step);
  const key = before ? "answer.added" : "answer.stored";
  if (isOneOfSeveral || changedByHook(facts, arrival))
    rows.addRow({
      key,
      role: "gradient",
      facts: headFacts,
      step,
      uids: [uid, arrival.node],
      value: arrival.grad,
      source,
    });
  rows.addArrival(flow, arrival, isOneOfSeveral ? 1 : 0);
}

/** The parts that make up what came, as a phrase that adds them. @param {RunFacts} facts @param {Phrase[]} partsBefore
 * @param {Arrival} arrival @param {Flow} flow @returns {Phrase} */
function sumPhrase(facts, partsBefore, arrival, flow) {
  const parts = [...partsBefore];
  if (changedByHook(facts, arrival)) parts.push(phrase("answer.part.hooked", { value: gradientFact(arrival.grad) }));
  else {
    if (arrival.root && arrival.incoming.length) parts.push(phrase("answer.part.start_unknown"));
    else if (arrival.root)
      parts.push(
        phrase("answer.part.start", { value: gradientFact(arrival.grad), line: facts.steps[flow.call.step].line }),
      );
    for (const { node, grad } of arrival.incoming) {
      const partFacts = {
        value: gradientFact(grad),
        op: code(facts.operation(node)),
        line: facts.lineOf(facts.birth(node)),
      };
      parts.push(phrase("answer.part.way", partFacts));
    }
  }
  const [first, ...rest] = parts.slice(0, 4);
  const more = parts.length > 4 ? [phrase("answer.part.more", { n: parts.length - 4 })] : [];
  return [...rest, ...more].reduce((a, b) => phrase("answer.plus", { a, b }), first ?? phrase("answer.no_value"));
}

/** @param {Phrase} partsPhrase */
function isSum(partsPhrase) {
  return partsPhrase.phrase === "answer.plus";
}

/** The rows, with one that says how many were left out. @param {RunFacts} facts @param {GradientRows} rows @param {number} step */
function rowsWithLeftOut(facts, rows, step) {
  if (!rows.leftOutCount) return rows.rows;
  const leftOutRow = {
    key: "answer.left_out",
    role: /** @type {const} */ ("counted"),
    facts: { n: rows.leftOutCount },
    line: facts.steps[step].line,
  };
  return [...rows.rows, { ...leftOutRow, step, uids: [], depth: 0, own: false, value: null, source: null }];
}
