/** What there is to say of a named tensor, array or number at a step, so that two runs can be compared by names. */

import { findEntity, findHandle, type Container, type Handle } from "../trace/entities.ts";
import { cellsReadBy, numbersText } from "../findings/facts/cell_values.ts";
import { dtypeText, tupleText, shortValueText, encodedValueJson } from "../trace/format.ts";
import { shortNodeName } from "../layout/text/node_labels.ts";
import { addToList } from "../trace/multimap.ts";
import type { Entities, OpenTrace } from "../trace/state.ts";
import type { Value } from "../trace/wire.ts";

/** as a reader sees it; equal keys mean the same */
export interface TensorFact {
  text: string;
  key: string;
}

export type TensorProperty =
  | "type"
  | "values"
  | "shape"
  | "dtype"
  | "device"
  | "stride"
  | "requires_grad"
  | "leaf"
  | "node"
  | "version"
  | "memory"
  | "counter"
  | "grad"
  | "base";

export type TensorFacts = Partial<Record<TensorProperty, TensorFact>>;

export interface FactsOfName {
  /** the same object as long as nothing of it changes */
  own: TensorFacts;
  /** with which other names */
  shared: TensorFacts;
  /** of what it names, null for a plain value */
  uid: string | null;
}

/** In the order in which they are told. */
export const TENSOR_PROPERTIES: TensorProperty[] = [
  "type",
  "shape",
  "dtype",
  "device",
  "memory",
  "counter",
  "base",
  "stride",
  "values",
  "version",
  "requires_grad",
  "leaf",
  "node",
  "grad",
];

/** What the names of a run mean after a step, by name; a name of a function has the function before it. */
export function factsByName(opened: OpenTrace, step: number): Map<string, FactsOfName> {
  const entities = opened.state(step);
  const { tags } = opened.names(step);
  /** names of handles, by name */
  const handles = new Map<string, string>();
  for (const [uid, list] of tags)
    for (const { text, scope, kind } of list)
      if (kind !== "grad" && findHandle(entities, uid)) setIfAbsent(handles, scope ? `${scope}: ${text}` : text, uid);
  const named = new Map<string, FactsOfName>();
  const sharing = {
    memory: namesBySharedId(handles, (uid) => findHandle(entities, uid)?.storage),
    counter: namesBySharedId(handles, (uid) => findHandle(entities, uid)?.counter),
    firstByUid: new Map<string, string>(),
  };
  for (const [name, uid] of handles) setIfAbsent(sharing.firstByUid, uid, name);
  for (const [name, uid] of handles) {
    const handle = findHandle(entities, uid) as Handle;
    named.set(name, { uid, own: ownFactsOfHandle(entities, handle), shared: sharingFacts(name, handle, sharing) });
  }
  for (const entity of entities.values())
    if (entity.kind === "frame")
      for (const [name, value] of entity.vars)
        addValueFacts(named, entity.caller ? `${entity.name}: ${name}` : name, value, entities);
  return named;
}

/** The first of equal names stays. */
function setIfAbsent(map: Map<string, string>, key: string, value: string) {
  if (!map.has(key)) map.set(key, value);
}

/** A variable that is no tensor: its value, or the type of the object. */
function addValueFacts(named: Map<string, FactsOfName>, name: string, value: Value, entities: Entities) {
  if (named.has(name)) return;
  if (value !== null && typeof value === "object" && "ref" in value) {
    const object = findEntity(entities, value.ref, "object");
    if (object)
      named.set(name, { uid: value.ref, own: { type: factWithText(containerTypeText(object)) }, shared: NO_FACTS });
  } else if (value !== null && typeof value === "object" && "py" in value) {
    named.set(name, { uid: null, own: { type: factWithText(value.py) }, shared: NO_FACTS });
  } else {
    const values = { text: shortValueText(value, 40), key: encodedValueJson(value) };
    named.set(name, { uid: null, own: { values }, shared: NO_FACTS });
  }
}

function containerTypeText({ type = "object", len }: Container) {
  return len === undefined ? type : `${type} (${len})`;
}

/** Names that a fact about sharing tells; of more, an ellipsis. */
const MAX_SHARING_NAMES = 20;

/**
 * With which other names something is shared. All facts of a group have one key: each with its own text of thousands of
 * names would take memory with the square of their number.
 */
export interface SharingFact extends TensorFact {
  /** all names that share it, this one too; none where nobody else does */
  group: NameGroup;
}

export interface NameGroup {
  names: string[];
  has(name: string): boolean;
  key: string;
}

const NO_GROUP: NameGroup = { names: [], has: () => false, key: "" };

function createNameGroup(names: string[]): NameGroup {
  if (names.length < 2) return NO_GROUP;
  const members = new Set(names);
  return { names, has: (name) => members.has(name), key: names.join(", ") };
}

const NO_FACTS: TensorFacts = {};
/** nobody else */
const SHARED_WITH_NONE: SharingFact = { text: "", key: "", group: NO_GROUP };

function factWithText(text: string): TensorFact {
  return { text, key: text };
}

/** The names of the same thing, by the thing. `handles` has uids by name. */
function namesBySharedId(
  handles: Map<string, string>,
  idOf: (uid: string) => string | null | undefined,
): Map<string, NameGroup> {
  const members = new Map<string, string[]>();
  for (const [name, uid] of handles) {
    const key = idOf(uid);
    if (key) addToList(members, key, name);
  }
  return new Map([...members].map(([key, names]) => [key, createNameGroup(names)]));
}

const ownFactsCache = new WeakMap<Handle, { storage: unknown; counter: unknown; grad: unknown; facts: TensorFacts }>();

/** What a handle says of itself. */
function ownFactsOfHandle(entities: Entities, handle: Handle): TensorFacts {
  const storage = entities.get(handle.storage ?? "");
  const counter = entities.get(handle.counter ?? "");
  const grad = findHandle(entities, handle.grad);
  const gradMemory = grad && entities.get(grad.storage ?? "");
  const cached = ownFactsCache.get(handle);
  if (cached && cached.storage === storage && cached.counter === counter && cached.grad === gradMemory)
    return cached.facts;
  const facts: TensorFacts = {
    type: factWithText(handle.type ?? handle.kind),
    shape: factWithText(tupleText(handle.shape ?? [])),
    dtype: factWithText(dtypeText(handle.dtype ?? "")),
    values: valuesFact(entities, handle),
  };
  if (handle.kind === "tensor") {
    const node = findEntity(entities, handle.grad_fn, "node");
    Object.assign(facts, {
      device: factWithText(handle.device ?? "cpu"),
      stride: factWithText(tupleText(handle.stride ?? [])),
      version: counter?.kind === "counter" ? factWithText(String(counter.value ?? 0)) : undefined,
      requires_grad: factWithText(handle.requires_grad ? "True" : "False"),
      leaf: factWithText(handle.leaf ? "True" : "False"),
      node: factWithText(node ? shortNodeName(node.name ?? "") : "None"),
      grad: grad ? valuesFact(entities, grad) : factWithText("None"),
    });
  }
  ownFactsCache.set(handle, { storage, counter, grad: gradMemory, facts });
  return facts;
}

/** The elements where the trace lists them; of a big one its numbers in short. */
function valuesFact(entities: Entities, handle: Handle): TensorFact | undefined {
  const cells = cellsReadBy(entities, handle);
  if (cells)
    return {
      key: encodedValueJson(cells),
      get text() {
        return numbersText(cells, !handle.shape?.length);
      },
    };
  const summary = findEntity(entities, handle.storage, "storage")?.summary?.[dtypeText(handle.dtype ?? "")];
  if (!summary) return undefined;
  const { min = null, mean = null, max = null } = summary;
  const text = `min ${shortValueText(min, 8)}, mean ${shortValueText(mean, 8)}, max ${shortValueText(max, 8)}`;
  return { text, key: encodedValueJson(summary) };
}

interface NamesSharingMemory {
  memory: Map<string, NameGroup>;
  counter: Map<string, NameGroup>;
  firstByUid: Map<string, string>;
}

/** With which other names a handle shares its memory and its counter, and of what it is a view. */
function sharingFacts(name: string, handle: Handle, { memory, counter, firstByUid }: NamesSharingMemory): TensorFacts {
  const facts: TensorFacts = {};
  if (handle.storage) facts.memory = sharingFact(name, memory.get(handle.storage));
  if (handle.counter) facts.counter = sharingFact(name, counter.get(handle.counter));
  if (handle.kind === "tensor")
    facts.base = handle.base ? factWithText(firstByUid.get(handle.base) ?? "…") : SHARED_WITH_NONE;
  return facts;
}

function sharingFact(name: string, group: NameGroup | undefined): SharingFact {
  if (!group?.names.length) return SHARED_WITH_NONE;
  return {
    group,
    key: group.key,
    get text() {
      const others = group.names.slice(0, MAX_SHARING_NAMES + 2).filter((other) => other !== name);
      return (others.length > MAX_SHARING_NAMES ? [...others.slice(0, MAX_SHARING_NAMES), "…"] : others).join(", ");
    },
  };
}
