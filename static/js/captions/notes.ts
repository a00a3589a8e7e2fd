/** What a step did, as facts: keys with arguments, in the order that a teacher would tell them. No text here. */

import { cachedGraphModel } from "../layout/graph/graph_model.ts";
import { shortNodeName } from "../layout/text/node_labels.ts";
import { findEntity } from "../trace/entities.ts";

import { pathText } from "../syntax/expressions.ts";
import { RunFacts } from "../findings/facts/run_facts.ts";
import { referencedUid } from "../trace/names.ts";
import { skippedNodes, skippedStatements } from "../trace/steps/skipped_iterations.ts";
import { objectNamesAt } from "../trace/object_names.ts";
import { backwardEndNotes, backwardVisitNotes, gradientHookNotes } from "./note_backward.ts";
import { bindingNotes } from "./note_bindings.ts";
import { changedContainerNotes, modeAndFlagNotes } from "./note_changes.ts";
import { eventNotes } from "./note_events.ts";
import { optimizerNotes } from "./note_optimizer.ts";
import { savedNotes } from "./note_saved.ts";
import { writeToUnsavedMemoryNotes } from "./note_writes.ts";
import { firstLine, nameArgument, pythonValueText, nodeNameWithoutNamespace } from "./note_arguments.ts";
import type { OpenTrace, Snapshot } from "../trace/state.ts";
import type { Step } from "../trace/wire.ts";
import type { CaptionNote, CaptionContext } from "./note.ts";

/** The notes of a step; at least one. Where recording begins that is all there is to say. */
export function captionNotesOfStep(opened: OpenTrace, i: number): CaptionNote[] {
  const snap = opened.at(i);
  const { step } = snap;
  if (!step) return [];
  if (step.kind === "begin") return [noteOfUneventfulStep(step)]; // it made nothing of what it found
  const context = createNoteContext(opened, snap, step);
  const optimizer = optimizerNotes(context);
  const out = [
    ...backwardVisitNotes(context),
    ...gradientHookNotes(context),
    ...exceptionNotes(context),
    ...optimizer.notes,
    ...step.log.flatMap((entry) =>
      entry.kind !== "event" || (entry.event === "written" && optimizer.storages.has(entry.storage))
        ? []
        : eventNotes(context, entry),
    ),
    ...bindingNotes(context),
    ...(step.visit ? [] : [...modeAndFlagNotes(context), ...missingGradientNotes(context)]),
    ...savedNotes(context),
    ...(optimizer.notes.length ? [] : writeToUnsavedMemoryNotes(context)),
  ];
  if (step.value !== undefined && step.value !== null && !referencedUid(step.value) && step.kind !== "return")
    out.push({ key: "value", args: { value: pythonValueText(step.value) } });
  if (!out.length) out.push(...backwardEndNotes(context));
  if (!out.length) out.push(...changedContainerNotes(context));
  if (!out.length) out.push(...printedTextNotes(step));
  if (!out.length) out.push(noteOfUneventfulStep(step));
  const passed = { skipped_before: skippedStatements(step), skipped_nodes: skippedNodes(step) };
  for (const [key, n] of Object.entries(passed)) if (n) out.push({ key, args: { n }, minor: true });
  return out;
}

/** What a step that does nothing else prints. */
function printedTextNotes({ log }: Step): CaptionNote[] {
  const texts = log.flatMap((entry) => (entry.kind === "out" ? [entry.text] : []));
  if (!texts.length) return [];
  const lines = texts.join("").replace(/\n$/, "").split("\n");
  const text = firstLine(lines[0]).trimEnd();
  if (lines.length > 1) return [{ key: "prints_lines", args: { text: { name: text }, n: lines.length - 1 } }];
  return [text ? { key: "prints", args: { text: { name: text } } } : { key: "prints_blank", args: {} }];
}

function createNoteContext(opened: OpenTrace, snap: Snapshot, traceStep: Step): CaptionContext {
  const before = opened.state(snap.index - 1);
  const names = objectNamesAt(opened, snap.index);
  const pathOf = (uid: string | null | undefined) => names.nameOf(uid);
  /** A name that a thing had before the step, in a function that has not returned. */
  const nameBefore = (uid: string | null | undefined) => {
    const [best] = objectNamesAt(opened, snap.index - 1, traceStep.frame).namesOf(uid);
    return best && !best.scope && snap.entities.has(best.frame ?? "") ? best.text : null;
  };
  return {
    ...snap,
    opened,
    step: traceStep,
    before,
    pathOf,
    hasName: (uid) => names.namesOf(uid).length > 0 || nameBefore(uid) !== null,
    named(uid) {
      const [best] = names.namesOf(uid);
      if (best) return nameArgument(best, uid ?? "");
      const old = nameBefore(uid);
      if (old) return { key: "meant_before", args: { name: { name: old, wasOf: uid ?? "" } } };
      const kind = (snap.entities.get(uid ?? "") ?? before.get(uid ?? ""))?.kind;
      return {
        key: kind === "array" ? "unnamed_array" : kind === "object" ? "unnamed_object" : "unnamed_tensor",
        args: {},
        of: uid ?? undefined,
      };
    },
    node(uid) {
      const node = findEntity(snap.entities, uid, "node") ?? findEntity(before, uid, "node");
      const label = cachedGraphModel(opened).labels.get(uid);
      if (label) return { name: label, of: uid };
      return node?.name
        ? { name: shortNodeName(nodeNameWithoutNamespace(node.name)), of: uid }
        : { key: "unnamed_node", args: {} };
    },
  };
}

/** A `.grad` that the statement reads and that is None. */
function missingGradientNotes({ opened, index, step, before }: CaptionContext): CaptionNote[] {
  if (step.kind !== "statement" && step.kind !== "raise") return [];
  const facts = new RunFacts(opened);
  return facts.mentionsAt(index).gradReads.flatMap((node) => {
    const tensor = findEntity(before, facts.resolve(node, index, index - 1), "tensor");
    return tensor && !tensor.grad
      ? [{ key: "grad_is_none", args: { grad: { name: `${pathText(node) ?? node.text}.grad` } } }]
      : [];
  });
}

/** What there is to say of a step of which nothing else is said. */
function noteOfUneventfulStep(traceStep: Step): CaptionNote {
  if (traceStep.kind === "end") return { key: endNoteKey(traceStep), args: {} };
  if (traceStep.kind === "begin")
    return { key: "begun", args: { n: Object.keys(traceStep.set).filter((uid) => uid[0] === "t").length } };
  const freed = traceStep.log.filter((entry) => entry.kind === "event" && entry.event === "storage_freed").length;
  if (freed) return { key: "freed", args: { n: freed } };
  return { key: changesNoEntity(traceStep) ? "quiet" : "other", args: {} };
}

function endNoteKey({ i, gone }: Step) {
  if (i === 0) return "ended_empty";
  return gone.length ? "ended" : "ended_quiet";
}

/** Fields in which a frame without names says nothing of the program. */
const PLAIN_FRAME_FIELDS = ["kind", "name", "line", "state", "caller", "shared"];

/**
 * Whether a step changed nothing but its frame's line, and ended frames; what the first step finds was there before.
 */
function changesNoEntity(traceStep: Step) {
  return (
    traceStep.gone.every((uid) => uid[0] === "f") &&
    Object.entries(traceStep.set).every(([, fields]) => isUneventfulDelta(fields))
  );
}

function isUneventfulDelta(fields: Step["set"][string]) {
  if (!("kind" in fields)) return Object.keys(fields).every((field) => field === "line");
  if (fields.kind === "mode" || fields.kind === "device") return true;
  return fields.kind === "frame" && Object.entries(fields).every(isPlainFrameField);
}

function isPlainFrameField([field, value]: [string, unknown]) {
  return PLAIN_FRAME_FIELDS.includes(field) || (field === "vars" && Object.keys(value as object).length === 0);
}

function exceptionNotes({ opened, step, index }: CaptionContext): CaptionNote[] {
  if (step.kind !== "raise") return [];
  const error = opened.trace.outcome?.error;
  if (error?.step !== index) return [{ key: "caught", args: {}, tone: "bad" }];
  return [{ key: "raised", args: { type: error.type, message: firstLine(error.message) }, tone: "bad" }];
}
