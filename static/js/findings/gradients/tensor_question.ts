/**
 * What a reader asks of a tensor at a step: why it has no gradient, or where its gradient comes from. Facts, no words.
 */

import { codeFact, completeDiagnosis, gradNameOf, phrase } from "../diagnosis.ts";
import type { Fact, Phrase, RunFacts } from "../diagnosis.ts";
import type { Finding } from "../finding.ts";
import { findEntity, findHandle } from "../../trace/entities.ts";
import { diagnosisOfNoneGrad } from "./grad_none.ts";
import { gradientFlowOfBackward, nodeReceivingGradient } from "./gradient_flow.ts";
import type { GradientArrival, GradientFlow as Flow } from "./gradient_flow.ts";
import { gradientChangesSinceNone, gradValueAt, type GradChange } from "./gradient_history.ts";
import { hookThatChangedGradient, GradientRows, type AnswerRow } from "./gradient_rows.ts";
import { gradientValuesFact, gradAttributeFact, type Gradient } from "./gradient_values.ts";
import type { OpenTrace } from "../../trace/state.ts";

/** why there is none; where `.grad` comes from; where the gradient comes from that passed through and was not kept */
type TensorQuestion = "none" | "gradient" | "passed";

export interface TensorAnswer {
  uid: string;
  step: number;
  question: TensorQuestion;
  title: Phrase;
  what: Phrase | null;
  why: Phrase | null;
  rows: AnswerRow[];
  /** why there is no `.grad` */
  finding: Finding | null;
  /** of the gradient */
  value: Gradient | null;
}

const MAX_SHOWN_CHANGES = 12;

/**
 * The tensor that a selection of the picture (`handle:t3`, `node:n2`, `name:x`) is about; null where it is about none.
 */
export function selectedTensor(opened: OpenTrace, key: string | null, step: number) {
  const [, kind, value] = /^([a-z-]+):(.*)$/s.exec(key ?? "") ?? [];
  const entities = opened.state(step);
  const uid =
    kind === "handle" || kind === "ref" || kind === "bead"
      ? (value.match(/^t\d+/)?.[0] ?? "")
      : kind === "node"
        ? (findEntity(entities, value, "node")?.variable ?? opened.index.outputsOfNode(value, step)[0] ?? "")
        : kind === "name" || kind === "path"
          ? tensorByName(opened, value, step)
          : "";
  const tensor = findHandle(entities, uid);
  if (tensor?.kind !== "tensor") return null;
  return opened.index.tensorsWithGrad(uid, step)[0] ?? uid;
}

function tensorByName(opened: OpenTrace, text: string, step: number) {
  for (const [uid, tags] of opened.names(step).tags)
    if (uid[0] === "t" && tags.some((tag) => tag.text === text || tag.name === text)) return uid;
  return "";
}

export function questionAboutTensor(facts: RunFacts, uid: string, step: number): TensorQuestion {
  if (facts.tensor(uid, step)?.grad) return "gradient";
  return lastGradientArrival(facts, uid, step) ? "passed" : "none";
}

export function answerAboutTensor(facts: RunFacts, uid: string, step: number): TensorAnswer {
  const question = questionAboutTensor(facts, uid, step);
  const x = facts.nameFact(uid, step);
  const title = phrase(`answer.title.${question}`, { x, grad: gradNameOf(x) });
  const emptyAnswer = { uid, step, question, title, what: null, why: null, rows: [], finding: null, value: null };
  const finding = question === "gradient" ? null : findingOfNoneGrad(facts, uid, step);
  if (question === "none")
    return { ...emptyAnswer, finding, what: finding ? null : phrase("answer.unknown", { grad: gradNameOf(x) }) };
  const answerParts =
    question === "gradient" ? answerForStoredGrad(facts, uid, step, x) : answerForPassedGradient(facts, uid, step, x);
  return { ...emptyAnswer, ...answerParts, finding };
}

/**
 * The last backward, or `torch.autograd.grad`, that the program called until a step, to check its gradients: `number`
 * says which call, from 0, and is null where some calls may not have been recorded. Null where none was called.
 */
export function backwardToCheck(facts: RunFacts, step: number): { number: number | null } | null {
  const calls = facts.backwardCalls.filter(({ parent, step: at }) => !parent && at <= step);
  const last = calls.at(-1);
  if (!last) return null;
  const isWhole = !facts.steps.slice(0, last.step + 1).some(({ skipped }) => skipped);
  return { number: isWhole ? calls.length - 1 : null };
}

function findingOfNoneGrad(facts: RunFacts, uid: string, step: number): Finding | null {
  const diagnosis = diagnosisOfNoneGrad(facts, uid, step);
  return (
    diagnosis && { severity: "note", explainsError: false, ...completeDiagnosis(facts, diagnosis), kind: "grad_none" }
  );
}

/** The last backward in which a gradient came to a tensor whose `.grad` is None. */
function lastGradientArrival(
  facts: RunFacts,
  uid: string,
  step: number,
): { flow: Flow; arrival: GradientArrival } | null {
  const nodeUid = nodeReceivingGradient(facts, uid, step);
  if (!nodeUid) return null;
  const outputNr = facts.tensor(uid, step)?.output_nr ?? 0;
  const wasReset = facts.tensor(uid, step)?.leaf;
  for (const call of facts.backwardCalls.filter((call) => call.step <= step).reverse()) {
    if (wasReset && call.api === "backward") continue;
    const arrival = gradientFlowOfBackward(facts, call).arrivalForOutput(nodeUid, outputNr);
    const hasIncoming = arrival.incoming.some((part) => part.grad && (part.step ?? step) <= step);
    const isVisited = arrival.grad && arrival.step !== null && arrival.step <= step;
    if (isVisited || (arrival.step === null && hasIncoming))
      return { flow: gradientFlowOfBackward(facts, call), arrival };
  }
  return null;
}

function answerForPassedGradient(facts: RunFacts, uid: string, step: number, x: Fact) {
  const { flow, arrival } = lastGradientArrival(facts, uid, step) as { flow: Flow; arrival: GradientArrival };
  const rows = new GradientRows(facts);
  rows.addArrivalRows(flow, arrival);
  const onlyGrad = arrival.incoming.length === 1 ? arrival.incoming[0].grad : null;
  const value = arrival.grad ?? onlyGrad;
  const phraseFacts = {
    x,
    value: gradientValuesFact(value),
    line: facts.steps[flow.call.step].line,
    sum: sumPhrase(facts, [], arrival, flow),
  };
  const key = value ? (isSumPhrase(phraseFacts.sum) ? "answer.passed_sum" : "answer.passed") : "answer.passed_unknown";
  return { what: phrase(key, phraseFacts), why: null, value, rows: rowsWithLeftOutCount(facts, rows, step) };
}

function answerForStoredGrad(facts: RunFacts, uid: string, step: number, x: Fact) {
  const changes = gradientChangesSinceNone(facts, uid, step);
  const value = gradValueAt(facts, uid, step);
  const shownChanges = changes.slice(-MAX_SHOWN_CHANGES);
  const rows = new GradientRows(facts);
  const parts = [] as Phrase[];
  if (changes.length > shownChanges.length) addEarlierGradRow(rows, shownChanges[0], x);
  shownChanges.forEach((change, k) => addGradChangeRows(rows, change, x, uid, shownChanges.length > 1 || k > 0));
  const last = shownChanges.at(-1);
  const phraseFacts = { x, grad: gradNameOf(x), value: gradientValuesFact(value), n: changes.length };
  if (last?.kind !== "backward")
    return {
      what: phrase("answer.holds", phraseFacts),
      why: null,
      value,
      rows: rowsWithLeftOutCount(facts, rows, step),
    };
  if (last.before) parts.push(phrase("answer.part.held", { value: gradientValuesFact(last.before) }));
  const partsPhrase = sumPhrase(facts, parts, last.arrival, last.flow);
  return {
    what: phrase(isSumPhrase(partsPhrase) ? "answer.sum" : "answer.single", { ...phraseFacts, sum: partsPhrase }),
    why: changes.length > 1 ? phrase("answer.why.accumulated", phraseFacts) : null,
    value,
    rows: rowsWithLeftOutCount(facts, rows, step),
  };
}

/** What it held before the first change that is shown. */
function addEarlierGradRow(rows: GradientRows, { before, step }: GradChange, x: Fact) {
  const phraseFacts = { grad: gradNameOf(x), value: gradientValuesFact(before) };
  rows.addRow({ key: "answer.earlier", role: "gradient", facts: phraseFacts, step, value: before });
}

function addGradChangeRows(rows: GradientRows, change: GradChange, x: Fact, uid: string, isOneOfSeveral: boolean) {
  const { facts } = rows;
  const { before, after, step } = change;
  const phraseFacts = { x, grad: gradNameOf(x), before: gradAttributeFact(before), after: gradAttributeFact(after) };
  if (change.kind !== "backward") {
    const role = change.kind === "unseen" ? "none" : "written";
    rows.addRow({
      key: `answer.${change.kind}`,
      role,
      facts: { ...phraseFacts, code: facts.statementFact(step) },
      step,
      uids: [uid],
      value: after,
    });
    return;
  }
  const { flow, arrival } = change;
  const { call } = flow;
  const source = facts.placeOfBackward(call);
  const key = before ? "answer.added" : "answer.stored";
  if (isOneOfSeveral || hookThatChangedGradient(facts, arrival))
    rows.addRow({
      key,
      role: "gradient",
      facts: {
        ...phraseFacts,
        value: gradientValuesFact(arrival.grad),
        code: facts.backwardStatementFact(call),
      },
      step,
      uids: [uid, arrival.node],
      value: arrival.grad,
      source,
    });
  rows.addArrivalRows(flow, arrival, isOneOfSeveral ? 1 : 0);
}

/** The parts that make up what came, as a phrase that adds them. */
function sumPhrase(facts: RunFacts, partsBefore: Phrase[], arrival: GradientArrival, flow: Flow): Phrase {
  const parts = [...partsBefore];
  if (hookThatChangedGradient(facts, arrival))
    parts.push(phrase("answer.part.hooked", { value: gradientValuesFact(arrival.grad) }));
  else {
    if (arrival.root && arrival.incoming.length) parts.push(phrase("answer.part.start_unknown"));
    else if (arrival.root)
      parts.push(
        phrase("answer.part.start", {
          value: gradientValuesFact(arrival.grad),
          line: facts.steps[flow.call.step].line,
        }),
      );
    for (const { node, grad } of arrival.incoming) {
      const partFacts = {
        value: gradientValuesFact(grad),
        op: codeFact(facts.nodeOperationName(node)),
        line: facts.lineOf(facts.birthStep(node)),
      };
      parts.push(phrase("answer.part.way", partFacts));
    }
  }
  const [first, ...rest] = parts.slice(0, 4);
  const more = parts.length > 4 ? [phrase("answer.part.more", { n: parts.length - 4 })] : [];
  return [...rest, ...more].reduce((a, b) => phrase("answer.plus", { a, b }), first ?? phrase("answer.no_value"));
}

function isSumPhrase(partsPhrase: Phrase) {
  return partsPhrase.phrase === "answer.plus";
}

/** The rows, with one that says how many were left out. */
function rowsWithLeftOutCount(facts: RunFacts, rows: GradientRows, step: number) {
  if (!rows.leftOutCount) return rows.rows;
  const leftOutRow = {
    key: "answer.left_out",
    role: "counted" as const,
    facts: { n: rows.leftOutCount },
    line: facts.steps[step].line,
  };
  return [...rows.rows, { ...leftOutRow, step, uids: [], depth: 0, own: false, value: null, source: null }];
}
