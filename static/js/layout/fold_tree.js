/** One graph's nodes in an order in which every stretch can be one fold, and the folds in each other. */

import { namesLabel, opName, shortTitle } from "./fold_names.js";

/** @typedef {import("./lifetimes.js").Lifetimes} Lives */
/** @typedef {import("./lifetimes.js").NodeLifetime} NodeLife */
/** @typedef {import("./fold.js").Fold} Fold */
/** @typedef {import("./fold.js").Part} Part */

/** Parts of a sequence that stand side by side; longer ones are folded once more. */
export const BESIDE = 8;

/** The longest stretch that is looked for again. */
const PERIOD = 64;

/** What only brings a parameter into shape for one operation stands with that operation. */
const SHAPING = /^(T|Transpose|Permute|View|Unsqueeze|Squeeze|Expand|ToCopy|Reshape\w*|UnsafeView|Alias)Backward/;

/**
 * @typedef {{nodes: string[], label: string, inputs: number[], owner: string | null, birth: number, death: number}} Unit
 *   an operation with the leaves that only it reads; inputs: how many units before it each input stands. owner: the
 *   module whose parameters these are
 */

/** One graph's units in an order in which inputs come first, so that every stretch of it can be one card. */
export class FoldTree {
  /** @param {Lives} lives @param {string[]} uids @param {number} graph */
  constructor(lives, uids, graph) {
    this.lives = lives;
    this.uids = uids;
    this.graph = graph;
    this.all = new Set(uids);
  }

  /** @param {string} uid @returns {string[]} */
  inputs(uid) {
    return (this.lives.nodes.get(uid)?.next ?? []).flatMap((edge) => (edge && this.all.has(edge[0]) ? [edge[0]] : []));
  }

  /** @returns {Unit[]} */
  sequence() {
    const order = this.order();
    /** @type {Map<string, Set<string>>} */
    const users = new Map();
    for (const uid of order)
      for (const input of this.inputs(uid)) users.set(input, (users.get(input) ?? new Set()).add(uid));
    /** @type {Map<string, string>} */
    const head = new Map();
    const leaf = (/** @type {string} */ uid) => !this.lives.nodes.get(uid)?.next.some(Boolean);
    for (const uid of [...order].reverse()) {
      const [user] = users.get(uid)?.size === 1 ? /** @type {Set<string>} */ (users.get(uid)) : [];
      const name = this.lives.nodes.get(uid)?.name ?? "";
      const shaping = leaf(uid) || (SHAPING.test(name) && this.inputs(uid).every(leaf));
      head.set(uid, user && shaping ? (head.get(user) ?? user) : uid);
    }
    /** @type {Map<string, number>} */
    const at = new Map();
    for (const uid of order) if (head.get(uid) === uid) at.set(uid, at.size);
    /** @type {Unit[]} */
    const units = [...at.keys()].map(() => ({
      nodes: [],
      label: "",
      inputs: [],
      owner: null,
      birth: -Infinity,
      death: Infinity,
    }));
    for (const uid of order) {
      const own = /** @type {string} */ (head.get(uid));
      const index = /** @type {number} */ (at.get(own));
      const unit = units[index];
      const life = /** @type {NodeLife} */ (this.lives.nodes.get(uid));
      unit.nodes.push(uid);
      unit.owner ??= (life.variable && this.lives.index.moduleOf.get(life.variable)) || null;
      if (life.next.some(Boolean))
        [unit.birth, unit.death] = [Math.max(unit.birth, life.birth), Math.min(unit.death, life.death)];
      if (uid === own) unit.label = opName(life.name);
      for (const input of this.inputs(uid))
        if (head.get(input) !== own) unit.inputs.push(index - /** @type {number} */ (at.get(head.get(input) ?? "")));
    }
    for (const unit of units)
      if (unit.owner && unit.nodes.length > 1)
        unit.label = this.lives.index.modules.get(unit.owner)?.type ?? unit.label;
    return units;
  }

  /** Inputs before what reads them, found without recursion. @returns {string[]} */
  order() {
    const used = new Set(this.uids.flatMap((uid) => this.inputs(uid)));
    /** @type {Set<string>} */
    const out = new Set();
    for (const start of this.uids.filter((uid) => !used.has(uid))) {
      const stack = [start];
      while (stack.length) {
        const uid = stack[stack.length - 1];
        const todo = out.has(uid) ? [] : this.inputs(uid).filter((input) => !out.has(input));
        if (todo.length) {
          stack.push(...todo.reverse());
          continue;
        }
        stack.pop();
        out.add(uid);
      }
    }
    return [...out];
  }

  /** Fold what comes again, and each unit of several nodes. @param {Unit[]} units @param {string} key @returns {Part[]} */
  group(units, key) {
    /** @type {Part[]} */
    const out = [];
    for (let i = 0; i < units.length; ) {
      const { period, times } = repetition(units, i);
      const path = `${key}/${out.length}`;
      if (times > 1) out.push(...this.foldRun(units.slice(i, i + period * times), period, path));
      else out.push(this.unit(units[i], path));
      i += period * times;
    }
    return out;
  }

  /** @param {Unit} unit @param {string} key @returns {Part} */
  unit(unit, key) {
    return unit.nodes.length > 1 ? this.fold(unit.label, 1, unit.nodes, key) : unit.nodes[0];
  }

  /** A stretch that comes several times: one card, in it fewer at a time. @param {Unit[]} units @param {number} period
   * @param {string} key @returns {Part[]} */
  foldRun(units, period, key) {
    const times = units.length / period;
    if (times === 1)
      return period === 1
        ? [this.unit(units[0], key)]
        : [this.fold(this.label(units), 1, this.limitParts(this.group(units, key), key), key)];
    const size = Math.ceil(times / BESIDE) * period;
    /** @type {Part[]} */
    const parts = [];
    for (let i = 0; i < units.length; i += size)
      parts.push(...this.foldRun(units.slice(i, i + size), period, `${key}/${i / size}`));
    return [this.fold(this.label(units.slice(0, period), units), times, parts, key)];
  }

  /** A long sequence in few parts: the smallest neighbours go together. @param {Part[]} parts @param {string} key
   * @param {number} [most] @returns {Part[]} */
  limitParts(parts, key, most = BESIDE) {
    const groups = parts.map((part) => ({ parts: [part], size: typeof part === "string" ? 1 : part.members.length }));
    while (groups.length > most) {
      let least = 0;
      for (let i = 1; i + 1 < groups.length; i++)
        if (groups[i].size + groups[i + 1].size < groups[least].size + groups[least + 1].size) least = i;
      const [a, b] = groups.splice(least, 2);
      groups.splice(least, 0, { parts: [...a.parts, ...b.parts], size: a.size + b.size });
    }
    return groups.map((group, i) => {
      const path = `${key}~${i}`;
      const names = group.parts.map((part) =>
        typeof part === "string" ? opName(this.lives.nodes.get(part)?.name ?? "") : shortTitle(part),
      );
      return group.parts.length > 1
        ? this.fold(namesLabel(names), 1, this.limitParts(group.parts, path), path)
        : group.parts[0];
    });
  }

  /** @param {string} label @param {number} count @param {Part[]} parts @param {string} key @returns {Fold} */
  fold(label, count, parts, key) {
    const members = parts.flatMap((part) => (typeof part === "string" ? [part] : part.members));
    const own = members.map((uid) => /** @type {NodeLife} */ (this.lives.nodes.get(uid)));
    // A leaf lives on between the graphs that it is in.
    const lives = own.some((life) => life.next.some(Boolean)) ? own.filter((life) => life.next.some(Boolean)) : own;
    const first = Math.min(...lives.map((life) => Number(life.uid.slice(1))));
    return {
      uid: `n${first}x${members.length}`,
      key: `${key}:${label}×${count}`,
      label,
      count,
      members,
      parts,
      graph: this.graph,
      birth: Math.min(...lives.map((life) => life.birth)),
      death: Math.max(...lives.map((life) => life.death)),
    };
  }

  /** What a stretch is called: by the module that holds just its parameters, else by its operations.
   * @param {Unit[]} units @param {Unit[]} [all] the stretch as often as it comes */
  label(units, all = units) {
    const own = this.commonModule(units);
    const module =
      own && units.filter((unit) => unit.owner).length > 1 && (all === units || own !== this.commonModule(all))
        ? this.lives.index.modules.get(own)
        : null;
    return module?.type ?? namesLabel(units.map((unit) => unit.label));
  }

  /** The innermost module around all the parameters of these. @param {Unit[]} units @returns {string | null} */
  commonModule(units) {
    /** @type {string[] | null} */
    let common = null;
    for (const unit of units) {
      if (!unit.owner) continue;
      /** @type {string[]} */
      const path = [];
      for (
        let at = /** @type {string | null} */ (unit.owner);
        at && !path.includes(at);
        at = this.lives.index.modules.get(at)?.within ?? null
      )
        path.unshift(at);
      common = common ? common.filter((uid, i) => path[i] === uid) : path;
    }
    return common?.at(-1) ?? null;
  }
}

/** How the units from i on come again, covering the most. @param {Unit[]} units @param {number} i */
function repetition(units, i) {
  let best = { period: 1, times: 1 };
  let covered = 2;
  for (let period = 1; period <= PERIOD && i + 2 * period <= units.length; period++) {
    let [birth, death] = [-Infinity, Infinity];
    let end = i;
    for (; end < units.length; end++) {
      birth = Math.max(birth, units[end].birth);
      death = Math.min(death, units[end].death);
      if (birth > death || (end >= i + period && !sameUnit(units[end], units[end - period], period))) break;
    }
    const times = Math.floor((end - i) / period);
    if (times > 1 && times * period > covered) {
      best = { period, times };
      covered = times * period;
    }
  }
  return best;
}

/** Whether two units do the same to what stands as far before them; inputs from further off may be anywhere.
 * @param {Unit} a @param {Unit} b @param {number} period */
function sameUnit(a, b, period) {
  if (a.label !== b.label || a.nodes.length !== b.nodes.length) return false;
  const near = (/** @type {Unit} */ unit) => unit.inputs.filter((d) => d <= period).join();
  return near(a) === near(b) || a.inputs.length !== b.inputs.length;
}
