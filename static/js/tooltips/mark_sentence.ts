/** What a mark of the stage is, in a sentence made from the facts of the step, with the program's own names. */

import { cachedGraphModel } from "../layout/graph/graph_model.ts";
import { bytesText, fullNumberText } from "../trace/format.ts";
import { shortNodeName } from "../layout/text/node_labels.ts";
import { cellReads, numel, unqualifiedDtype } from "../trace/reads.ts";
import { findEntity, findHandle, type Handle } from "../trace/entities.ts";
import { BROKEN_SLOT_STATES } from "../trace/trace_index.ts";
import { objectNamesAt } from "../trace/object_names.ts";
import { pythonValueText } from "../captions/note_arguments.ts";
import type { Target } from "../browser/targets.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Translate } from "../words/sentences.ts";

export interface MarkSentence {
  /** of the mark */
  name: string;
  text: string;
}

const MAX_NAMES = 3;
const MAX_ELEMENTS = 4096;

/** Null where its title has to do. */
export function markSentence(opened: OpenTrace, step: number, target: Target, say: Translate): MarkSentence | null {
  return new MarkDescriber(opened, step, say).sentence(target);
}

class MarkDescriber {
  private readonly opened: OpenTrace;
  private readonly step: number;
  private readonly say: Translate;
  private readonly entities;
  private readonly paths;

  constructor(opened: OpenTrace, step: number, say: Translate) {
    this.opened = opened;
    this.step = step;
    this.say = say;
    this.entities = opened.state(step);
    this.paths = opened.names(step).paths;
  }

  sentence(target: Target): MarkSentence | null {
    const { say } = this;
    switch (target.kind) {
      case "name":
        return this.nameSentence(target.frame, target.name, target.ref);
      case "path":
        return { name: target.path, text: this.thingText(target.ref) };
      case "handle":
        return this.handleSentence(target.uid);
      case "wire":
        return { name: this.nameOf(target.handle), text: say("wire") };
      case "cell":
        return this.cellSentence(target.storage, target.index, target.dtype);
      case "bead":
        return this.beadSentence(target.handle, target.index, target.cell);
      case "counter":
        return {
          name: say("version", { n: findEntity(this.entities, target.uid, "counter")?.value ?? "?" }),
          text: say("version_why"),
        };
      case "pin":
      case "slot":
        return this.slotSentence(target.node, target.slot);
      case "node":
        return this.nodeSentence(target.uid, target.variable);
      case "node again":
        return target.variable
          ? this.leafSentence(target.variable)
          : { name: this.say("unnamed"), text: this.say("leaf_unnamed") };
      case "edge":
        return {
          name: `${this.nodeName(target.from)} → ${this.nodeName(target.to)}`,
          text: say("edge", { from: this.nodeName(target.from), to: this.nodeName(target.to) }),
        };
      case "missing gradient":
        return { name: say("none"), text: `${this.noGradientText(target.of)} ${say("none_why")}` };
      case "gradient elsewhere":
        return { name: this.nameOf(target.ref), text: say("gradient_elsewhere") };
      case "object":
        return { name: this.nameOf(target.uid), text: this.thingText(target.uid) };
      case "item":
        return { name: target.item, text: this.thingText(target.ref) };
      case "strip":
      case "block":
        return this.memorySentence(target.storage);
      case "fold":
        return { name: say("fold"), text: say("fold_why", { n: target.members.length }) };
      case "stretch":
        return { name: say("stretch"), text: say("stretch_why", { from: target.from }) };
      case "out of sight":
        return { name: say("out_of_sight"), text: say("out_of_sight_why") };
      default:
        return null;
    }
  }

  private nameOf(uid: string) {
    return this.paths.get(uid) ?? this.say("unnamed");
  }

  private nodeName(uid: string) {
    const variable = findEntity(this.entities, uid, "node")?.variable;
    if (variable) return this.nameFor(variable) ?? this.say("unnamed");
    const name = findEntity(this.entities, uid, "node")?.name ?? "";
    return cachedGraphModel(this.opened).labels.get(uid) ?? shortNodeName(name.split("::").at(-1) ?? name);
  }

  /** What leads to a thing, as the running function reads it; a name of another function with that. */
  private namesFor(uid: string): string[] {
    return objectNamesAt(this.opened, this.step)
      .namesOf(uid)
      .map(({ text: name, scope }) => {
        if (!scope) return name;
        return scope === "module"
          ? this.say("name_of_module", { name })
          : this.say("name_of_call", { name, call: `${scope}()` });
      });
  }

  /** The best of them; null where nothing leads to it. */
  private nameFor(uid: string): string | null {
    return this.namesFor(uid)[0] ?? null;
  }

  private list(names: string[]) {
    const shown = names.slice(0, MAX_NAMES).join(this.say("separator"));
    return names.length > MAX_NAMES ? this.say("list_more", { names: shown, n: names.length - MAX_NAMES }) : shown;
  }

  private size({ shape }: Handle) {
    if (!shape) return this.say("size_unknown");
    return shape.length < 2
      ? this.say("size_row", { n: numel(shape) })
      : this.say("size_shape", { shape: shape.join(" × ") });
  }

  /** What something is, without its name. */
  private thingText(uid: string | null) {
    const entity = this.entities.get(uid ?? "");
    if (entity?.kind === "tensor") return this.tensorText(uid ?? "", entity);
    if (entity?.kind === "array") return this.say("array", { size: this.size(entity) });
    if (entity?.kind === "object") return this.say("object", { type: entity.type ?? "" });
    if (entity?.kind === "node") return this.say("node_object");
    return this.say("value");
  }

  private nameSentence(frame: string | null, name: string, ref: string | null): MarkSentence {
    if (ref) {
      const others = this.namesFor(ref).filter((text) => text !== name);
      const also = others.length ? ` ${this.say("also_called", { names: this.list(others) })}` : "";
      return { name, text: `${this.thingText(ref)}${also}` };
    }
    const value = findEntity(this.entities, frame, "frame")?.vars.get(name);
    return {
      name,
      text: value === undefined ? this.say("value") : this.say("value_is", { value: pythonValueText(value) }),
    };
  }

  private handleSentence(uid: string): MarkSentence {
    return { name: this.nameOf(uid), text: this.thingText(uid) };
  }

  private tensorText(uid: string, tensor: Handle & { kind: "tensor" }) {
    const { say } = this;
    const dtype = unqualifiedDtype(tensor.dtype);
    const parts = [say(dtype && dtype !== "float32" ? "tensor_dtype" : "tensor", { size: this.size(tensor), dtype })];
    if (tensor.grad_fn) parts.push(say("made_by", { node: this.nodeName(tensor.grad_fn) }));
    else parts.push(say(tensor.requires_grad ? "wants_gradient" : "not_followed"));
    const sharing = this.opened.index
      .handlesOfStorage(tensor.storage, this.step)
      .flatMap((other) => (other !== uid && this.nameFor(other)) || []);
    if (sharing.length) parts.push(say("shares", { names: this.list(sharing) }));
    return parts.slice(0, 3).join(" ");
  }

  private cellSentence(storage: string, index: number, dtype: string): MarkSentence {
    const readers = this.opened.index.handlesOfStorage(storage, this.step).flatMap((uid) => {
      const handle = findHandle(this.entities, uid);
      const path = this.paths.get(uid);
      if (!handle || !path || unqualifiedDtype(handle.dtype) !== unqualifiedDtype(dtype)) return [];
      const read = cellReads(handle, MAX_ELEMENTS).find(({ cell }) => cell === index);
      return read ? [handle.shape?.length ? `${path}[${read.index.join(", ")}]` : path] : [];
    });
    const { cells, windows } = findEntity(this.entities, storage, "storage") ?? {};
    const inWindow = windows?.[dtype]?.find(([from, values]) => from <= index && index < from + values.length);
    const value = cells?.[dtype]?.[index] ?? inWindow?.[1][index - inWindow[0]];
    const holds = value === undefined ? "" : this.say("cell_holds", { value: fullNumberText(value) });
    const others = readers.slice(1);
    const who = !readers.length
      ? this.say("cell_unread")
      : others.length
        ? this.say("cell_also", { names: this.list(others) })
        : "";
    return {
      name: readers[0] ?? this.say("cell"),
      text: [holds, who, this.say("cell_click")].filter(Boolean).join(" "),
    };
  }

  private beadSentence(uid: string, index: number, cell: number): MarkSentence {
    const handle = findHandle(this.entities, uid);
    const read = handle ? cellReads(handle, MAX_ELEMENTS)[index] : undefined;
    const place = read && handle?.shape?.length ? `[${read.index.join(", ")}]` : "";
    return { name: `${this.nameOf(uid)}${place}`, text: this.say("bead", { cell: cell + 1 }) };
  }

  private slotSentence(nodeUid: string, slotName: string): MarkSentence {
    const node = this.nodeName(nodeUid);
    const slot = findEntity(this.entities, nodeUid, "node")?.saved?.[slotName];
    const kept = slot?.tensor ? this.nameFor(slot.tensor) : null;
    const state = {
      ok: "slot_ok",
      stale: "slot_stale",
      changed: "slot_changed",
      detached: "slot_detached",
      freed: "slot_freed",
    }[slot?.state as string];
    const what = kept ? this.say("slot_keeps", { node, kept }) : this.say("slot_keeps_unnamed", { node });
    const now = findEntity(this.entities, slot?.counter, "counter")?.value ?? "?";
    const hasVersion = typeof slot?.expected === "number";
    const then =
      state && (hasVersion || state !== "slot_ok")
        ? this.say(state, { expected: slot?.expected ?? "?", now, node })
        : "";
    return { name: this.say("kept_by", { node }), text: [what, then].filter(Boolean).join(" ") };
  }

  private nodeSentence(uid: string, variable: string | null): MarkSentence {
    const leaf = variable ?? findEntity(this.entities, uid, "node")?.variable;
    if (leaf) return this.leafSentence(leaf);
    const node = findEntity(this.entities, uid, "node");
    const targets = [...new Set((node?.next ?? []).flatMap((edge) => (edge ? [this.nodeName(edge[0])] : [])))];
    const parts = [
      this.say(targets.length ? "node_to" : "node", { targets: this.list(targets) }),
      ...this.nodeStateTexts(uid),
    ];
    return { name: this.nodeName(uid), text: parts.join(" ") };
  }

  /**
   * What a node's looks say: that the step made it or runs it, that backward has run it, that it keeps what was
   * overwritten.
   */
  private nodeStateTexts(uid: string) {
    const node = findEntity(this.entities, uid, "node");
    const { trace, index } = this.opened;
    const said: string[] = [];
    if (trace.steps[this.step]?.visit?.node === uid) said.push("node_run_now");
    else if (node?.released) said.push("node_released");
    else if (index.visitStepsByNode.get(uid)?.some((step) => step < this.step)) said.push("node_run");
    // torch makes that of a Function when its `apply` begins, which may be many steps before
    else if (node?.born === this.step) said.push(node.custom ? "node_applied_now" : "node_made_now");
    const isStale = Object.values(node?.saved ?? {}).some(({ state }) => BROKEN_SLOT_STATES.has(state));
    if (isStale && !node?.released) said.push("node_stale");
    return said.map((key) => this.say(key));
  }

  /** Why a tensor has no gradient at the step, as far as the steps before it say. */
  private noGradientText(uid: string) {
    const tensor = this.nameFor(uid) ?? this.say("unnamed");
    const { trace, index } = this.opened;
    const emptied = trace.steps.findLastIndex(
      ({ set }, i) => i <= this.step && (set[uid] as Partial<Handle> | undefined)?.grad === null,
    );
    const hadOne = trace.steps.slice(0, Math.max(0, emptied)).some(({ set }) => (set[uid] as Partial<Handle>)?.grad);
    if (hadOne) return this.say("none_emptied", { tensor, line: trace.steps[emptied].line });
    const visits = [...index.visitsByBackward.values()].filter(([first]) => first && first.step <= this.step);
    if (!visits.length) return this.say("none_before", { tensor });
    const last = visits.reduce((a, b) => (a[0].step > b[0].step ? a : b));
    const isUnderWay = (last.at(-1)?.step ?? -1) > this.step;
    const willReach = last.some(
      ({ node, step }) => step > this.step && findEntity(this.entities, node, "node")?.variable === uid,
    );
    return this.say(isUnderWay && willReach ? "none_yet" : "none_unreached", { tensor });
  }

  private leafSentence(leaf: string): MarkSentence {
    const path = this.paths.get(leaf);
    return path
      ? { name: `${path}.grad`, text: this.say("leaf", { tensor: path }) }
      : { name: this.say("unnamed"), text: this.say("leaf_unnamed") };
  }

  private memorySentence(uid: string): MarkSentence {
    const storage = findEntity(this.entities, uid, "storage");
    const names = this.opened.index.handlesOfStorage(uid, this.step).flatMap((handle) => this.nameFor(handle) ?? []);
    const nbytes = storage?.nbytes;
    return {
      name: typeof nbytes === "number" ? this.say("memory_size", { size: bytesText(nbytes) }) : this.say("memory"),
      text: names.length
        ? this.say("memory_read", { names: this.list(names), n: names.length })
        : this.say("memory_unnamed"),
    };
  }
}
