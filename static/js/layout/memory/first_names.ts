/**
 * First names: in the memory pane a thing stands at the place of the first name that ever meant it, for the whole
 * run.
 */

import { iterateStates, type Entities, type OpenTrace } from "../../trace/state.ts";
import { FONT_SIZES, textWidth } from "../text/metrics.ts";
import { canBeNamePrefix, collectNamesAndPaths, referencedUid, type NameTag } from "../../trace/names.ts";
import type { Entity, Frame } from "../../trace/entities.ts";
import type { Delta, Step } from "../../trace/wire.ts";

interface FirstName {
  /** the name, with its function's where it is not the module's */
  key: string;
  /** by the names' first appearance in the run */
  rank: number;
  /** the key of the object or the function under whose line it stands, empty for a name of the module */
  section: string;
  /** whether the module's names reach it */
  main: boolean;
  /** as the program writes it */
  path: string;
}

interface Section {
  rank: number;
  kind: "object" | "frame" | "name";
}

const PATH_ROOT_PATTERN = /^[^.[]+/;
const PATH_PARTS_PATTERN = /[^.[]+|\[[^\]]*\]?/g;

/** The name with which a path begins. */
export function pathRoot(path: string) {
  return path.match(PATH_ROOT_PATTERN)?.[0] ?? path;
}

/** Whether an object is an optimizer. */
export function isOptimizer(entity: Entity | undefined) {
  return entity?.kind === "object" && Boolean(entity.attrs?.param_groups);
}

/** The paths of the optimizers, each with what goes on from it. */
export function optimizerPathPrefixes(optimizers: Iterable<string>, paths: Map<string, string>) {
  const out = [];
  for (const uid of optimizers) {
    const path = paths.get(uid);
    if (path !== undefined) out.push(`${path}.`);
  }
  return out;
}

/**
 * The names of a thing that a row wears: those by way of an optimizer only where there are no others, and never that of
 * a `.grad`. `state` is the name in an optimizer of what has no other.
 */
export function namesShownOnRow(
  tags: NameTag[] | undefined,
  optimizerPrefixes: string[],
): { list: NameTag[]; state: NameTag | null } {
  const nonGradTags = (tags ?? []).filter((tag) => tag.kind !== "grad");
  const list = nonGradTags.filter(
    (tag) => tag.kind === "var" || !optimizerPrefixes.some((path) => tag.text.startsWith(path)),
  );
  return { list, state: list.length ? null : (nonGradTags[0] ?? null) };
}

/** The first names of what a run has, and the order of its sections. */
export class FirstNames {
  /** of tensors, arrays and objects */
  byUid = new Map<string, FirstName>();
  /** by storage, its handles that had names, in that order */
  handlesOfStorage = new Map<string, string[]>();
  /** of memory that has several of them at any step, how many cells it has: all memory of that length is drawn alike */
  sharedLengths = new Set<number>();
  /** by storage, once the run is known */
  storageNameCache = new Map<string, FirstName | null>();
  /** by key */
  ranks = new Map<string, number>();
  sectionByKey = new Map<string, Section>();
  /** by frame, the key of its section */
  sectionKeyByFrame = new Map<string, string>();
  optimizers = new Set<string>();
  /** the keys of leaves that get a gradient after they lost their names */
  formerNames = new Set<string>();
  /** whether any tensor ever has a gradient */
  hasGrads = false;
  /** how many cells the largest memory has */
  mostCells = 0;
  /** the widest name */
  widestName = 0;

  /**
   * Where a storage stands: at the first name of the handle that was named first, one of the module's before the
   * others.
   */
  ofStorage(storageUid: string): FirstName | undefined {
    let firstName = this.storageNameCache.get(storageUid);
    if (firstName === undefined) {
      const handleNames = (this.handlesOfStorage.get(storageUid) ?? []).map((uid) => this.byUid.get(uid));
      firstName = handleNames.find((other) => other?.main) ?? handleNames[0] ?? null;
      this.storageNameCache.set(storageUid, firstName);
    }
    return firstName ?? undefined;
  }

  /** The rank of a section. */
  sectionRank(key: string) {
    return this.sectionByKey.get(key)?.rank ?? Infinity;
  }
}

export function findFirstNames(opened: OpenTrace): FirstNames {
  const builder = new FirstNamesBuilder();
  let i = -1;
  for (const entities of iterateStates(opened.trace)) builder.addStep(opened.trace.steps[++i], entities);
  addFormerNames(builder.firstNames, opened);
  return builder.firstNames;
}

function addFormerNames({ formerNames, byUid }: FirstNames, opened: OpenTrace) {
  opened.trace.steps.forEach(({ visit }, i) => {
    const firstName = byUid.get(visit?.accumulates ?? "");
    if (firstName?.main && !opened.names(i).tags.has(visit?.accumulates ?? "")) formerNames.add(firstName.key);
  });
}

/** Follows the names step by step. */
class FirstNamesBuilder {
  firstNames = new FirstNames();
  /** what names go out from */
  nameSources: Entities = new Map();
  mainFrame = "";
  /** frames of functions that are there */
  liveFrames = new Set<string>();

  /** `entities` is the state after the step. */
  addStep(traceStep: Step, entities: Entities) {
    const set = Object.entries(traceStep.set ?? {});
    let mustVisitAll = false;
    for (const [uid, fields] of set) {
      const entity = entities.get(uid);
      if (!entity) continue;
      if (canBeNamePrefix(entity)) this.nameSources.set(uid, entity);
      else this.nameSources.delete(uid);
      if (entity.kind === "storage")
        for (const cells of Object.values(entity.cells ?? {}))
          this.firstNames.mostCells = Math.max(this.firstNames.mostCells, cells.length);
      if (entity.kind === "frame") mustVisitAll = this.addFrame(uid, entity, fields, entities) || mustVisitAll;
      else if (entity.kind === "object") {
        mustVisitAll = true;
        if (isOptimizer(entity)) this.firstNames.optimizers.add(uid);
      } else if (entity.kind === "tensor") {
        if (fields.grad) this.firstNames.hasGrads = true;
        if (fields.storage && this.firstNames.byUid.has(uid)) this.addHandleToStorage(uid, entities);
        mustVisitAll ||= Boolean(fields.parts || fields.tangent || fields.wraps);
      }
    }
    for (const uid of traceStep.gone ?? []) {
      this.nameSources.delete(uid);
      this.liveFrames.delete(uid);
    }
    if (mustVisitAll) this.addAllNamedThings(entities);
    else
      for (const [uid, { vars }] of set)
        for (const [name, value] of Object.entries(vars ?? {}))
          this.addTensorName(uid, name, referencedUid(value), entities);
  }

  /** Returns whether the frame names an object anew. */
  addFrame(uid: string, frame: Frame, fields: Delta, entities: Entities): boolean {
    const { sectionKeyByFrame: frames, sectionByKey: sections } = this.firstNames;
    if (!frame.caller) this.mainFrame ||= uid;
    else if (!frames.has(uid)) {
      this.liveFrames.add(uid);
      const sameNamed = [...this.liveFrames].filter(
        (other) => frameFunctionName(entities, other) === frame.name,
      ).length;
      const key = `${frame.name}()${sameNamed > 1 ? ` ${sameNamed}` : ""}`;
      frames.set(uid, key);
      if (!sections.has(key)) sections.set(key, { rank: this.rankOfKey(key), kind: "frame" });
    }
    return Object.values(fields.vars ?? {}).some((value) => referencedUid(value)?.[0] === "o");
  }

  /** A name that means a tensor or an array. */
  addTensorName(frameUid: string, name: string, uid: string | null, entities: Entities) {
    const owner = entities.get(frameUid);
    if (!uid || !entities.has(uid) || owner?.kind !== "frame") return;
    this.setFirstName(
      uid,
      { kind: "var", text: name, frame: frameUid, name, scope: owner.caller ? `${owner.name}` : "", root: frameUid },
      entities,
    );
  }

  addAllNamedThings(entities: Entities) {
    const { tags, paths } = collectNamesAndPaths(entities, this.nameSources);
    const optimizerPrefixes = optimizerPathPrefixes(this.firstNames.optimizers, paths);
    const namedThings = [...tags].flatMap(([uid, list]) => {
      const wornNames = "tao".includes(uid[0]) ? namesShownOnRow(list, optimizerPrefixes).list : [];
      const tag = wornNames.find((name) => this.isModuleLevelName(name, entities)) ?? wornNames[0];
      return tag ? [{ uid, worn: wornNames, tag }] : [];
    });
    const keepsFirstName = ({ uid, tag }: NamedThing) => {
      const firstName = this.firstNames.byUid.get(uid);
      return firstName !== undefined && (firstName.main || !this.isModuleLevelName(tag, entities));
    };
    const newlyNamed = namedThings.filter((thing) => !keepsFirstName(thing));
    for (const { uid, worn: wornNames, tag } of [
      ...namedThings.filter(keepsFirstName),
      ...sortDepthFirst(newlyNamed),
    ]) {
      this.setFirstName(uid, tag, entities);
      for (const name of wornNames) this.widenForName(name, uid);
    }
  }

  isModuleLevelName(tag: NameTag, entities: Entities) {
    if (tag.kind === "var") return tag.frame === this.mainFrame;
    const main = entities.get(this.mainFrame);
    return main?.kind === "frame" && main.vars.has(pathRoot(tag.text));
  }

  /** Gives a thing its first name, unless it has one. */
  setFirstName(uid: string, tag: NameTag, entities: Entities) {
    this.widenForName(tag, uid);
    const main = this.isModuleLevelName(tag, entities);
    const nameBefore = this.firstNames.byUid.get(uid);
    if (!nameBefore || (main && !nameBefore.main)) {
      const rootName = pathRoot(tag.text);
      const scope = main ? "" : this.functionSectionOf(tag, rootName, entities);
      const key = scope ? `${scope}/${tag.text}` : tag.text;
      const section = scope || (tag.kind === "var" && uid[0] !== "o" ? "" : rootName);
      this.firstNames.byUid.set(uid, { key, rank: this.rankOfKey(key), section, main, path: tag.text });
      if (section && !this.firstNames.sectionByKey.has(section))
        this.firstNames.sectionByKey.set(section, { rank: this.rankOfKey(section), kind: "object" });
    }
    this.addHandleToStorage(uid, entities);
  }

  /** The section of the function whose name begins a path. */
  functionSectionOf(tag: NameTag, rootName: string, entities: Entities) {
    if (tag.frame) return this.firstNames.sectionKeyByFrame.get(tag.frame) ?? "";
    for (const uid of this.liveFrames) {
      const frame = entities.get(uid);
      if (frame?.kind === "frame" && frame.vars.has(rootName)) return this.firstNames.sectionKeyByFrame.get(uid) ?? "";
    }
    return "";
  }

  addHandleToStorage(uid: string, entities: Entities) {
    const handle = entities.get(uid);
    if (handle?.kind !== "tensor" && handle?.kind !== "array") return;
    const storage = handle.storage ?? `none ${uid}`;
    const handles = this.firstNames.handlesOfStorage.get(storage);
    if (!handles) this.firstNames.handlesOfStorage.set(storage, [uid]);
    else if (!handles.includes(uid)) {
      if (handles.some((other) => entities.has(other)))
        this.firstNames.sharedLengths.add(cellCount(entities.get(storage)));
      handles.push(uid);
    }
  }

  rankOfKey(key: string) {
    const { ranks } = this.firstNames;
    const rank = ranks.get(key) ?? ranks.size;
    ranks.set(key, rank);
    return rank;
  }

  widenForName(tag: NameTag, uid: string) {
    if (uid[0] === "o") return;
    const section = this.firstNames.byUid.get(uid)?.section ?? "";
    const text =
      tag.kind === "item" && tag.text.startsWith(`${section}.`) ? tag.text.slice(section.length + 1) : tag.text;
    const scope = tag.scope ? textWidth(tag.scope, FONT_SIZES.small) + 5 : 0;
    this.firstNames.widestName = Math.max(this.firstNames.widestName, textWidth(text, FONT_SIZES.usual) + scope + 18);
  }
}

/** a thing with its names, and that which places it */
interface NamedThing {
  uid: string;
  worn: NameTag[];
  tag: NameTag;
}

/**
 * What is inside of a thing right after it, and in its order: `net.0.weight` before `net.1`, as the program made them.
 * The sections that are nearer to a variable come first.
 */
function sortDepthFirst(sections: NamedThing[]): NamedThing[] {
  interface Branch {
    here: NamedThing[];
    inner: Map<string, Branch>;
  }
  const newBranch = () => ({ here: [], inner: new Map() }) as Branch;
  const rootBranch = newBranch();
  for (const thing of sections) {
    let branch = rootBranch;
    for (const part of thing.tag.text.match(PATH_PARTS_PATTERN) ?? []) {
      const next = branch.inner.get(part) ?? newBranch();
      branch.inner.set(part, next);
      branch = next;
    }
    branch.here.push(thing);
  }
  const ordered = [];
  const pending = [rootBranch];
  for (let branch = pending.pop(); branch; branch = pending.pop()) {
    ordered.push(...branch.here);
    pending.push(...[...branch.inner.values()].reverse());
  }
  return ordered;
}

/** How many cells a storage lists, under its first dtype. */
export function cellCount(storage: Entity | undefined) {
  return storage?.kind === "storage" ? (Object.values(storage.cells ?? {})[0]?.length ?? 0) : 0;
}

function frameFunctionName(entities: Entities, uid: string) {
  const frame = entities.get(uid);
  return frame?.kind === "frame" ? frame.name : undefined;
}
