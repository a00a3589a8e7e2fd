/** What the program calls a thing at a step, for whoever writes a sentence: a name that leads to it now, as the running
 * function reads it; a name that meant it before the step only as that; names of functions that have returned never. */

import { canBeNamePrefix, collectNamesAndPaths, type NameTag } from "./names.ts";
import type { Entity, EntityLookup, Frame } from "./entities.ts";
import type { OpenTrace } from "./state.ts";

/** A name of a thing. `scope`: the function whose variable it begins with, where the running function does not see that
 * variable; else empty. `frame`: that of the variable. */
export interface ObjectName {
  text: string;
  scope: string;
  frame: string | null;
}

type Lookup = EntityLookup & { has: (uid: string) => boolean };

/** a frame as the running one sees it: its own variables, those of functions around it, the module's, or nothing */
interface SeenFrame {
  uid: string;
  frame: Frame;
  isSeen: boolean;
}

/** A path's first variable. */
const ROOT = /^[^.[]+/;

/** What leads to each thing in one state of the run, as one frame reads it. */
export class ObjectNames {
  private readonly names = new Map<string, ObjectName[]>();
  private readonly frames: SeenFrame[];

  /**
   * `sources` are the frames and the tensors that carry others; `frameUid` is the frame that reads, null for the
   * module's.
   */
  constructor(entities: Lookup, sources: Iterable<[string, Entity]>, frameUid: string | null) {
    const all = [...sources];
    const frames = framesInOrder(all, frameUid);
    this.frames = frames;
    const carriers = all.filter(([, entity]) => entity.kind !== "frame" && canBeNamePrefix(entity));
    const scopeOf = scopesOfVariables(frames);
    // a path goes on from the first name of its object: once from the reader's, once from the module's
    const orders = frames.length > 1 ? [frames, [frames[1], frames[0], ...frames.slice(2)]] : [frames];
    for (const order of orders) {
      const { tags } = collectNamesAndPaths(entities, [...order.map(frameSource), ...carriers]);
      for (const [uid, list] of tags)
        this.addNames(
          uid,
          list.flatMap((tag) => nameOfTag(tag, scopeOf) ?? []),
        );
    }
    for (const names of this.names.values()) sortNames(names);
  }

  /** Whether the reader sees a variable with which a path begins. */
  isBound(path: string) {
    const variable = ROOT.exec(path)?.[0] ?? "";
    return this.frames.slice(0, 2).some(({ frame, isSeen }) => isSeen && frame.vars.has(variable));
  }

  private addNames(uid: string, names: ObjectName[]) {
    const known = this.names.get(uid) ?? [];
    for (const name of names)
      if (!known.some(({ text, frame }) => text === name.text && frame === name.frame)) known.push(name);
    if (known.length) this.names.set(uid, known);
  }

  /** Every name of a thing, the best first: one that the running function sees, a short one. */
  namesOf(uid: string | null | undefined): readonly ObjectName[] {
    return this.names.get(uid ?? "") ?? [];
  }

  /** The best name of a thing that the running function sees; null where there is none. */
  nameOf(uid: string | null | undefined): string | null {
    const [best] = this.namesOf(uid);
    return best && !best.scope ? best.text : null;
  }
}

function frameSource({ uid, frame }: SeenFrame): [string, Entity] {
  return [uid, frame];
}

/** The reading frame first, then the module's, then the others, the innermost first. */
function framesInOrder(sources: [string, Entity][], frameUid: string | null): SeenFrame[] {
  const frames = sources.flatMap(([uid, frame]) => (frame.kind === "frame" ? [{ uid, frame }] : []));
  const reader = frames.find(({ uid, frame }) => (frameUid ? uid === frameUid : !frame.caller));
  const rankOf = ({ uid, frame }: { uid: string; frame: Frame }) => (uid === reader?.uid ? 0 : frame.caller ? 2 : 1);
  const isSeen = (each: { uid: string; frame: Frame }) => rankOf(each) < 2;
  return frames
    .map((each, order) => ({ ...each, isSeen: isSeen(each), rank: rankOf(each), order }))
    .sort((a, b) => a.rank - b.rank || b.order - a.order);
}

/**
 * By frame and variable, the function that has to be named with it: none for a variable that the reader sees. null for
 * the same variable once more: a closure's, which its frame lists as free.
 */
function scopesOfVariables(frames: SeenFrame[]) {
  const [reader] = frames;
  return (frameUid: string | null, variable: string): string | null => {
    const owner = frames.find(({ uid }) => uid === frameUid);
    if (!owner || owner === reader) return "";
    const isReadersFree = reader?.frame.free?.includes(variable) && isSameVariable(reader, owner, variable);
    if (isReadersFree) return null;
    if (
      owner.frame.free?.includes(variable) &&
      frames.some((other) => other !== owner && isSameVariable(owner, other, variable))
    )
      return null;
    if (owner.isSeen) return reader.frame.vars.has(variable) ? "module" : "";
    return owner.frame.name ?? "";
  };
}

/** Whether two frames have one variable between them, as far as its value tells. */
function isSameVariable(a: SeenFrame, b: SeenFrame, variable: string) {
  return JSON.stringify(a.frame.vars.get(variable)) === JSON.stringify(b.frame.vars.get(variable));
}

function nameOfTag({ text, root }: NameTag, scopeOf: (frame: string | null, variable: string) => string | null) {
  const variable = ROOT.exec(text)?.[0];
  if (!variable) return null; // a gradient of a tensor without a name
  const scope = scopeOf(root, variable);
  return scope === null ? null : { text, scope, frame: root };
}

function sortNames(names: ObjectName[]) {
  const isPath = ({ text }: ObjectName) => Number(/[.[]/.test(text));
  return names.sort(
    (a, b) => Number(a.scope !== "") - Number(b.scope !== "") || isPath(a) - isPath(b) || a.text.length - b.text.length,
  );
}

const namesOfRuns = new WeakMap<OpenTrace, Map<string, ObjectNames>>();
const MAX_KEPT = 8;

/** The names after a step, as its frame reads them; `frameUid`, where another frame reads. */
export function objectNamesAt(opened: OpenTrace, step: number, frameUid?: string | null): ObjectNames {
  const kept = namesOfRuns.get(opened) ?? new Map<string, ObjectNames>();
  namesOfRuns.set(opened, kept);
  const frame = frameUid ?? opened.trace.steps[step]?.frame ?? null;
  const key = `${step} ${frame}`;
  let names = kept.get(key);
  if (!names) {
    const state = opened.state(step);
    names = new ObjectNames(state, state, frame);
    kept.set(key, names);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value as string);
  }
  return names;
}
