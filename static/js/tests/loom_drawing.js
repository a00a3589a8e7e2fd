/** The marks of a loom, to look for what is drawn. */

import { loomLayout } from "../layout/loom.js";
import { loomMarks } from "../marks/loom.js";
import { openTrace } from "../trace/state.js";

/** @typedef {import("../browser/svg.js").VNode} VNode */

/** @param {VNode[]} nodes @returns {VNode[]} */
export function flat(nodes) {
  return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

/** @param {any} document @param {number} [i] @param {any} [options] */
export function drawn(document, i, options = {}) {
  const opened = openTrace(document);
  const plan = loomLayout(opened, options);
  const { head, code, body } = loomMarks(plan, opened, i ?? opened.count - 1, {}, options.band);
  return { opened, plan, head: flat(head), code: flat(code), body: flat(body) };
}

/** @param {VNode[]} list @param {string} name @param {string} [value] */
export const having = (list, name, value) =>
  list.filter((v) => name in v.attrs && (value === undefined || v.attrs[name] === value));

/** @param {VNode} mark @param {RegExp} name */
export const texts = (mark, name) =>
  mark.children.filter((c) => c.tag === "text" && name.test(c.attrs.class)).map((c) => c.text);
