/** What a step did, as facts: keys with arguments, in the order that a teacher would tell them. No text here. */

import { graphModelOf } from "../layout/graph_model.ts";
import { shortNodeName } from "../layout/node_labels.ts";
import { find } from "../trace/entities.ts";
import { mentionsAt } from "../findings/program_text.ts";
import { resolvePath } from "../findings/resolve.ts";
import { RunFacts } from "../findings/run_facts.ts";
import { refOf } from "../trace/names.ts";
import { hookNotes, visitNotes } from "./note_backward.ts";
import { bindingNotes, containerNotes, modeNotes } from "./note_bindings.ts";
import { eventNotes } from "./note_events.ts";
import { firstLine, plainText, shortName } from "./note_texts.ts";
import type { OpenTrace, Snapshot } from "../trace/state.ts";
import type { Step } from "../trace/wire.ts";
import type { Note, Context } from "./note.ts";

/** The notes of a step; at least one. Where recording begins that is all there is to say. */
export function notes(opened: OpenTrace, i: number): Note[] {
  const snap = opened.at(i);
  const { step } = snap;
  if (!step) return [];
  if (step.kind === "begin") return [fallbackNote(step)]; // it made nothing of what it found
  const context = contextOf(opened, snap, step);
  const out = [
    ...visitNotes(context),
    ...hookNotes(context),
    ...exceptionNotes(context),
    ...step.log.flatMap((entry) => (entry.kind === "event" ? eventNotes(context, entry) : [])),
    ...bindingNotes(context),
    ...(step.visit ? [] : [...modeNotes(context), ...missingGradientNotes(context)]),
  ];
  if (step.value !== undefined && step.value !== null && !refOf(step.value))
    out.push({ key: "value", args: { value: plainText(step.value) } });
  if (!out.length) out.push(...containerNotes(context));
  if (!out.length) out.push(...printNotes(step));
  if (!out.length) out.push(fallbackNote(step));
  return out;
}

/** What a step that does nothing else prints. */
function printNotes({ log }: Step): Note[] {
  const texts = log.flatMap((entry) => (entry.kind === "out" ? [entry.text] : []));
  if (!texts.length) return [];
  const lines = texts.join("").replace(/\n$/, "").split("\n");
  const text = firstLine(lines[0]).trimEnd();
  if (lines.length > 1) return [{ key: "prints_lines", args: { text, n: lines.length - 1 } }];
  return [text ? { key: "prints", args: { text } } : { key: "prints_blank", args: {} }];
}

function contextOf(opened: OpenTrace, snap: Snapshot, traceStep: Step): Context {
  const before = opened.state(snap.index - 1);
  const pathsNow = opened.names(snap.index).paths;
  const pathsBefore = opened.names(snap.index - 1).paths;
  return {
    ...snap,
    opened,
    step: traceStep,
    before,
    nameOf: (uid) => (uid ? (pathsNow.get(uid) ?? pathsBefore.get(uid) ?? uid) : ""),
    hasName: (uid) => Boolean(uid && (pathsNow.get(uid) ?? pathsBefore.get(uid))),
    nodeName(uid) {
      const node = find(snap.entities, uid, "node") ?? find(before, uid, "node");
      return graphModelOf(opened).labels.get(uid) ?? shortNodeName(shortName(node?.name ?? uid));
    },
  };
}

/** A `.grad` that the statement reads and that is None. */
function missingGradientNotes({ opened, index, step, before }: Context): Note[] {
  if (step.kind !== "statement" && step.kind !== "raise") return [];
  const facts = new RunFacts(opened);
  return mentionsAt(facts, index).gradReads.flatMap((path) => {
    const tensor = find(before, resolvePath(facts, path, index, index - 1), "tensor");
    return tensor && !tensor.grad ? [{ key: "grad_is_none", args: { tensor: path } }] : [];
  });
}

/** What there is to say of a step of which nothing else is said. */
function fallbackNote(traceStep: Step): Note {
  if (traceStep.kind === "end") return { key: "ended", args: {} };
  if (traceStep.kind === "begin")
    return { key: "begun", args: { n: Object.keys(traceStep.set).filter((uid) => uid[0] === "t").length } };
  const freed = traceStep.log.filter((entry) => entry.kind === "event" && entry.event === "storage_freed").length;
  if (freed) return { key: "freed", args: { n: freed } };
  return { key: changesNothing(traceStep) ? "quiet" : "other", args: {} };
}

/** Whether a step left everything but its frame's line as it was. */
function changesNothing(traceStep: Step) {
  const setEntries = Object.entries(traceStep.set);
  return (
    !traceStep.gone.length &&
    setEntries.every(
      ([uid, fields]) => uid[0] === "f" && Object.keys(fields).every((field) => field === "kind" || field === "line"),
    )
  );
}

function exceptionNotes({ opened, step, index }: Context): Note[] {
  if (step.kind !== "raise") return [];
  const error = opened.trace.outcome?.error;
  if (error?.step !== index) return [{ key: "caught", args: {}, tone: "bad" }];
  return [{ key: "raised", args: { type: error.type, message: firstLine(error.message) }, tone: "bad" }];
}
