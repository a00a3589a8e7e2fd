/** Light descriptions of SVG elements, and the one function that makes a document agree with them. */

export const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {{tag: string, key: string | null, attrs: Record<string, string>, text: string | null, title: string | null,
 *   children: VNode[]}} VNode   title: what is said of it where it is pointed at
 * @typedef {string | number | boolean | null | undefined} Attr
 * @typedef {VNode | null | undefined | false | string} One
 * @typedef {One | One[] | One[][] | (One | One[])[]} Child
 */

/**
 * Describe an element. `key` names it among its siblings; null, undefined and false attributes are left out.
 * A child `title` without attributes becomes the element's title; what has a role is called so where it has neither label nor text.
 * @param {string} tag
 * @param {Record<string, Attr>} [attrs]
 * @param {...Child} children a string becomes the element's text
 * @returns {VNode}
 */
export function h(tag, attrs = {}, ...children) {
  /** @type {Record<string, string>} */
  const present = {};
  let key = null;
  for (const name in attrs) {
    const value = attrs[name];
    if (name === "key") key = String(value);
    else if (value !== null && value !== undefined && value !== false)
      present[name] = typeof value === "number" ? shortCoordinate(value) : String(value);
  }
  /** @type {VNode} */
  const node = { tag, key, attrs: present, text: null, title: null, children: [] };
  add(node, children);
  if (node.title !== null && present.role && !present["aria-label"] && !hasText(node))
    present["aria-label"] = node.title;
  return node;
}

/** @param {VNode} node @param {(Child | Child[])[]} children */
function add(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(node, child);
    else if (typeof child === "string") node.text = (node.text ?? "") + child;
    else if (child && child.tag === "title" && isPlain(child)) node.title = child.text;
    else if (child) node.children.push(child);
  }
}

/** @param {VNode} node @returns {boolean} */
function hasText({ text, children }) {
  return text !== null || children.some(hasText);
}

/** @param {VNode} node */
function isPlain({ attrs }) {
  for (const _ in attrs) return false;
  return true;
}

/** A coordinate without noise digits. @param {number} value */
function shortCoordinate(value) {
  return String(Number.isInteger(value) ? value : Math.round(value * 100) / 100);
}

/** Join class names, leaving out what is falsy. @param {...(string | false | null | undefined)} names */
export function cls(...names) {
  return names.filter(Boolean).join(" ");
}

/** How far a `transform` moves. @param {string | undefined} transform like `translate(3 4)` @returns {[number, number]} */
export function translation(transform) {
  const [x = 0, y = 0] = (transform?.match(/^translate\(([^)]*)\)/)?.[1].match(/-?[\d.]+/g) ?? []).map(Number);
  return [x, y];
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);
}

/** The same description as text, for tests and files. @param {VNode} node @returns {string} */
export function render(node) {
  const attrs = Object.entries(node.attrs).map(([k, v]) => ` ${k}="${escaped(v)}"`);
  const title = node.title === null ? "" : `<title>${escaped(node.title)}</title>`;
  const inner = (node.text === null ? "" : escaped(node.text)) + node.children.map(render).join("") + title;
  return `<${node.tag}${attrs.join("")}>${inner}</${node.tag}>`;
}

/** @typedef {{vnode: VNode, el: Element, inner: Drawn[]}} Drawn   an element, with the description that it agrees with, and what is in it */

/** What stands in the elements that were patched. @type {WeakMap<Element, Drawn[]>} */
const drawnChildren = new WeakMap();

/** @type {Drawn[]} */
const NO_CHILDREN = [];

/** Rows that left their host and may come back, by name, the longest gone first. @type {WeakMap<Element, Map<string, Drawn>>} */
const detachedRows = new WeakMap();
/** So many of them are kept. */
const MAX_DETACHED = 32;

/**
 * Make the children of `host` agree with `vnodes`. Elements keep their identity by key, or by tag and position, so
 * that a transition runs only on what is new. The document is written where descriptions differ, and never read: a
 * description that is the same object as before costs nothing. Titles become elements where they are pointed at.
 * @param {Document} document
 * @param {Element} host to which nobody else adds children
 * @param {VNode[]} vnodes
 */
export function patch(document, host, vnodes) {
  if (!drawnChildren.has(host)) host.addEventListener("mouseover", (event) => showTitle(document, event));
  drawnChildren.set(host, patchChildren(document, host, drawnChildren.get(host) ?? NO_CHILDREN, vnodes));
}

/** @param {Document} document @param {Element} host @param {Drawn[]} before @param {VNode[]} vnodes @returns {Drawn[]} */
function patchChildren(document, host, before, vnodes) {
  if (!before.length && !vnodes.length) return NO_CHILDREN;
  const after = /** @type {Drawn[]} */ (new Array(vnodes.length));
  let at = 0;
  while (at < vnodes.length && at < before.length && isSame(before[at].vnode, vnodes[at])) {
    after[at] = update(document, before[at], vnodes[at]);
    at += 1;
  }
  if (at === vnodes.length && at === before.length) return after;
  const names = vnodes.map(identityOf);
  const old = removeAbsent(host, before, at, new Set(names));
  let next = old.values().next().value?.el ?? null;
  for (let k = at; k < vnodes.length; k++) {
    const existing = old.get(names[k]);
    if (existing) {
      old.delete(names[k]);
      if (existing.el === next) next = next.nextElementSibling;
      else host.insertBefore(existing.el, next);
      after[k] = update(document, existing, vnodes[k]);
    } else {
      after[k] = takeDetached(document, host, vnodes[k]) ?? create(document, vnodes[k]);
      host.insertBefore(after[k].el, next);
    }
  }
  return after;
}

/** A row that left its host before, brought up to date. @param {Document} document @param {Element} host @param {VNode} vnode */
function takeDetached(document, host, vnode) {
  if (!isCacheable(vnode)) return null;
  const left = detachedRows.get(host);
  const name = identityOf(vnode, 0);
  const drawn = left?.get(name);
  if (!drawn) return null;
  left?.delete(name);
  return update(document, drawn, vnode);
}

/** Whether it is big enough to be kept where it leaves. @param {VNode} vnode */
function isCacheable({ key, attrs }) {
  return key !== null && attrs["data-row"] !== undefined;
}

/** @param {Element} host @param {string} name @param {Drawn} drawn */
function cacheDetached(host, name, drawn) {
  const left = detachedRows.get(host) ?? new Map();
  detachedRows.set(host, left);
  left.delete(name);
  left.set(name, drawn);
  if (left.size > MAX_DETACHED) left.delete(left.keys().next().value);
}

/** Removes the elements that have no description any more, from the first that may have none on.
 * @param {Element} host @param {Drawn[]} before @param {number} from @param {Set<string>} names of those that stay
 * @returns {Map<string, Drawn>} those that stay, in order, by name */
function removeAbsent(host, before, from, names) {
  /** @type {Map<string, Drawn>} */
  const stay = new Map();
  for (let k = from; k < before.length; k++) {
    const name = identityOf(before[k].vnode, k);
    if (names.has(name) && !stay.has(name)) stay.set(name, before[k]);
    else {
      before[k].el.remove();
      if (isCacheable(before[k].vnode)) cacheDetached(host, name, before[k]);
    }
  }
  return stay;
}

/** Whether two descriptions at the same place are of one element. @param {VNode} a @param {VNode} b */
function isSame(a, b) {
  return a === b || (a.key === b.key && a.tag === b.tag);
}

/** @param {VNode} vnode @param {number} index */
function identityOf(vnode, index) {
  return `${vnode.tag}#${vnode.key ?? `@${index}`}`;
}

/** @param {Document} document @param {VNode} vnode @returns {Drawn} */
function create(document, vnode) {
  const el = document.createElementNS(SVG, vnode.tag);
  for (const name in vnode.attrs) el.setAttribute(name, vnode.attrs[name]);
  if (vnode.title !== null) el.setAttribute("data-title", vnode.title);
  if (vnode.text !== null) el.textContent = vnode.text;
  const inner = vnode.children.map((child) => create(document, child));
  for (const child of inner) el.appendChild(child.el);
  return { vnode, el, inner };
}

/** @param {Document} document @param {Drawn} drawn @param {VNode} vnode @returns {Drawn} */
function update(document, drawn, vnode) {
  const { el, vnode: was } = drawn;
  if (was === vnode) return drawn;
  for (const name in was.attrs) if (!(name in vnode.attrs)) el.removeAttribute(name);
  for (const name in vnode.attrs) if (was.attrs[name] !== vnode.attrs[name]) el.setAttribute(name, vnode.attrs[name]);
  if (was.title !== vnode.title) writeTitle(el, vnode.title);
  if (was.text !== vnode.text) writeText(document, el, was.text, vnode.text ?? "");
  drawn.inner = patchChildren(document, el, drawn.inner, vnode.children);
  drawn.vnode = vnode;
  return drawn;
}

/** Write an element's text, which stands before its children. @param {Document} document @param {Element} el
 * @param {string | null} was @param {string} text */
function writeText(document, el, was, text) {
  if (was && el.firstChild && text) el.firstChild.nodeValue = text;
  else if (was) el.firstChild?.remove();
  else if (text) el.insertBefore(document.createTextNode(text), el.firstChild);
}

/** The title of what is pointed at. @type {Element | null} */
let shownTitle = null;

/** The browser shows the title of what is pointed at: an element for each would cost every step a quarter of its time.
 * @param {Document} document @param {Event} event */
function showTitle(document, { target }) {
  const el = target instanceof Element ? target.closest("[data-title]") : null;
  if (shownTitle?.parentNode === el && el) return;
  shownTitle?.remove();
  shownTitle = el && document.createElementNS(SVG, "title");
  if (!el || !shownTitle) return;
  shownTitle.textContent = el.getAttribute("data-title");
  el.append(shownTitle);
}

/** @param {Element} el @param {string | null} title */
function writeTitle(el, title) {
  if (title === null) el.removeAttribute("data-title");
  else el.setAttribute("data-title", title);
  if (shownTitle?.parentNode === el) shownTitle.textContent = title;
}
