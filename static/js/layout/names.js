/** By which names and paths the program reaches a thing at a step: `a`, `xs[0]`, `net.0.weight`, `a.grad`. */

/**
 * @typedef {{kind: "var" | "item" | "grad", text: string, frame: string | null, name: string, of: string}} Tag
 *   `of`: the frame's function for a name of an inner frame, else empty
 * @typedef {{tags: Map<string, Tag[]>, paths: Map<string, string>}} Names
 */

const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const ITEMS_SHOWN = 3;

/** @param {any} value @returns {string | null} */
export function refOf(value) {
  return value && typeof value === "object" && typeof value.ref === "string" ? value.ref : null;
}

/** The parts of an object that the program reaches, with the suffix that reaches each.
 * @param {any} object @param {Map<string, string>} paths what is reached already @returns {[string, any][]} */
function parts(object, paths) {
  /** @type {[string, any][]} */
  const out = [];
  const items = object.items ?? [];
  const dict = keyed(object);
  items.forEach((/** @type {any} */ item, /** @type {number} */ i) => {
    if (dict) out.push([keyText(item[0], paths), item[1]]);
    else out.push([`[${i}]`, item]);
  });
  for (const [name, value] of Object.entries(object.attrs ?? {}))
    out.push([IDENTIFIER.test(name) || /^[\w.]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`, value]);
  return out;
}

/** Whether items are pairs. @param {any} object */
export function keyed(object) {
  const items = object.items ?? [];
  return items.length > 0 && items.every((/** @type {any} */ x) => Array.isArray(x) && x.length === 2);
}

/** @param {any} key @param {Map<string, string>} paths */
function keyText(key, paths) {
  if (typeof key === "string") return `['${key}']`;
  const ref = refOf(key);
  if (ref) return `[${paths.get(ref) ?? ref}]`;
  return `[${typeof key === "object" && key !== null ? (key.py ?? key.$i ?? "…") : String(key)}]`;
}

/**
 * @param {import("../state.js").Entities} entities
 * @returns {Names}
 */
export function names(entities) {
  /** @type {Map<string, Tag[]>} */
  const tags = new Map();
  /** @type {Map<string, string>} */
  const paths = new Map();
  /** @type {string[]} */
  const queue = [];
  /** @param {string} uid @param {Tag} tag */
  const add = (uid, tag) => {
    const list = tags.get(uid);
    if (list) list.push(tag);
    else tags.set(uid, [tag]);
    if (paths.has(uid)) return;
    paths.set(uid, tag.text);
    if (uid[0] === "o") queue.push(uid);
  };
  for (const [uid, frame] of entities) {
    if (frame.kind !== "frame") continue;
    const of = frame.caller ? `${frame.name}` : "";
    for (const [name, value] of frame.vars) {
      const ref = refOf(value);
      if (ref && entities.has(ref)) add(ref, { kind: "var", text: name, frame: uid, name, of });
    }
  }
  const visit = () => {
    for (let at = 0; at < queue.length; at++) {
      const uid = queue[at];
      const path = paths.get(uid) ?? "";
      for (const [suffix, value] of parts(entities.get(uid) ?? {}, paths)) {
        const ref = refOf(value);
        if (!ref || !entities.has(ref)) continue;
        const shown = (tags.get(ref) ?? []).filter((t) => t.kind === "item").length;
        if (shown < ITEMS_SHOWN) add(ref, { kind: "item", text: path + suffix, frame: null, name: path + suffix, of: "" });
      }
    }
  };
  visit();
  // What a tensor is made of or carries: `s.values`, `d.tangent`, and under a transform the tensor that it wraps.
  for (const [uid, tensor] of entities) {
    if (tensor.kind !== "tensor") continue;
    const carried = Object.entries(tensor.parts ?? {});
    if (tensor.tangent) carried.push(["tangent", tensor.tangent]);
    const inner = refOf(tensor.wraps?.value);
    if (inner) carried.push(["value", inner]);
    for (const [part, ref] of carried) {
      const text = `${paths.get(uid) ?? ""}.${part}`;
      if (paths.has(uid) && entities.has(ref) && !paths.has(ref)) add(ref, { kind: "item", text, frame: null, name: text, of: "" });
    }
  }
  for (const [uid, tensor] of entities) {
    if (tensor.kind !== "tensor" || !tensor.grad || !entities.has(tensor.grad)) continue;
    const owner = paths.get(uid);
    const text = `${owner ?? ""}.grad`;
    add(tensor.grad, { kind: "grad", text, frame: null, name: text, of: "" });
  }
  return { tags, paths };
}
