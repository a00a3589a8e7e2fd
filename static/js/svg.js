/** Light descriptions of SVG elements, and the one function that makes a document agree with them. */

export const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {{tag: string, key: string | null, attrs: Record<string, string>, text: string | null, children: VNode[]}} VNode
 * @typedef {string | number | boolean | null | undefined} Attr
 * @typedef {VNode | null | undefined | false | string} One
 * @typedef {One | One[] | One[][] | (One | One[])[]} Child
 */

/**
 * Describe an element. `key` names it among its siblings; null, undefined and false attributes are left out.
 * @param {string} tag
 * @param {Record<string, Attr>} [attrs]
 * @param {...Child} children a string becomes the element's text
 * @returns {VNode}
 */
export function h(tag, attrs = {}, ...children) {
  /** @type {Record<string, string>} */
  const present = {};
  let key = null;
  for (const [name, value] of Object.entries(attrs)) {
    if (name === "key") key = String(value);
    else if (value !== null && value !== undefined && value !== false)
      present[name] = typeof value === "number" ? shortCoordinate(value) : String(value);
  }
  /** @type {VNode} */
  const node = { tag, key, attrs: present, text: null, children: [] };
  add(node, children);
  return node;
}

/** @param {VNode} node @param {(Child | Child[])[]} children */
function add(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(node, child);
    else if (typeof child === "string") node.text = (node.text ?? "") + child;
    else if (child) node.children.push(child);
  }
}

/** A coordinate without noise digits. @param {number} value */
function shortCoordinate(value) {
  return String(Math.round(value * 100) / 100);
}

/** Join class names, leaving out what is falsy. @param {...(string | false | null | undefined)} names */
export function cls(...names) {
  return names.filter(Boolean).join(" ");
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);
}

/** The same description as text, for tests and files. @param {VNode} node @returns {string} */
export function render(node) {
  const attrs = Object.entries(node.attrs).map(([k, v]) => ` ${k}="${escaped(v)}"`);
  const inner = (node.text === null ? "" : escaped(node.text)) + node.children.map(render).join("");
  return `<${node.tag}${attrs.join("")}>${inner}</${node.tag}>`;
}

/** @type {WeakMap<Element, VNode>} */
const drawnVNodes = new WeakMap();

/**
 * Make the children of `host` agree with `vnodes`. Elements keep their identity by key, or by tag and position, so
 * that a transition runs only on what is new.
 * @param {Document} document
 * @param {Element} host
 * @param {VNode[]} vnodes
 */
export function patch(document, host, vnodes) {
  /** @type {Map<string, Element>} */
  const old = new Map();
  let at = 0;
  for (const el of Array.from(host.children)) {
    const was = drawnVNodes.get(el);
    old.set(was ? identityOf(was, at) : `?${at}`, el);
    at += 1;
  }
  let next = host.firstElementChild;
  vnodes.forEach((vnode, index) => {
    const name = identityOf(vnode, index);
    let el = old.get(name);
    if (el) old.delete(name);
    else el = document.createElementNS(SVG, vnode.tag);
    if (el === next) next = el.nextElementSibling;
    else host.insertBefore(el, next);
    update(document, el, vnode);
  });
  for (const el of old.values()) el.remove();
}

/** @param {VNode} vnode @param {number} index */
function identityOf(vnode, index) {
  return `${vnode.tag}#${vnode.key ?? `@${index}`}`;
}

/** @param {Document} document @param {Element} el @param {VNode} vnode */
function update(document, el, vnode) {
  const was = drawnVNodes.get(el);
  for (const name of Object.keys(was?.attrs ?? {})) if (!(name in vnode.attrs)) el.removeAttribute(name);
  for (const [name, value] of Object.entries(vnode.attrs)) if (was?.attrs[name] !== value) el.setAttribute(name, value);
  if (vnode.text !== null) {
    if (was?.text !== vnode.text || was.children.length) el.textContent = vnode.text;
    // An element with text has at most element children after it: a <title> of its own.
    if (vnode.children.length) {
      const extra = Array.from(el.children);
      extra.forEach((child) => child.remove());
      patch(document, el, vnode.children);
    }
  } else {
    if (was && was.text !== null) el.textContent = "";
    patch(document, el, vnode.children);
  }
  drawnVNodes.set(el, vnode);
}
