/** Light descriptions of SVG elements, and the one function that makes a document agree with them. */

import { setTarget, type Target } from "./targets.ts";

export const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

export interface VNode {
  tag: string;
  key: string | null;
  attrs: Record<string, string>;
  text: string | null;
  /** what is said of it where it is pointed at */
  title: string | null;
  /** what it stands for, for those who point at it; a picture as text leaves it out */
  target: Target | null;
  children: VNode[];
}

type Attr = string | number | boolean | null | undefined;

export type Attributes = Record<string, Attr | Target>;

type ChildNode = VNode | null | undefined | false | string;

type Child = ChildNode | ChildNode[] | ChildNode[][] | (ChildNode | ChildNode[])[];

/**
 * Describe an element. `key` names it among its siblings, `target` is what it stands for; null, undefined and false
 * attributes are left out. A child `title` without attributes becomes the element's title; what has a role is called so
 * where it has neither label nor text. A string among the children becomes the element's text.
 */
export function h(tag: string, attrs: Attributes = {}, ...children: Child[]): VNode {
  const presentAttrs: Record<string, string> = {};
  let key = null;
  let target: Target | null = null;
  for (const name in attrs) {
    const value = attrs[name];
    if (name === "key") key = String(value);
    else if (value === null || value === undefined || value === false) continue;
    else if (typeof value === "object") target = value;
    else presentAttrs[name] = typeof value === "number" ? roundCoordinate(value) : String(value);
  }
  const node: VNode = { tag, key, attrs: presentAttrs, text: null, title: null, target, children: [] };
  addChildren(node, children);
  if (node.title !== null && presentAttrs.role && !presentAttrs["aria-label"] && !hasOwnOrInnerText(node))
    presentAttrs["aria-label"] = node.title;
  return node;
}

function addChildren(node: VNode, children: (Child | Child[])[]) {
  for (const child of children) {
    if (Array.isArray(child)) addChildren(node, child);
    else if (typeof child === "string") node.text = (node.text ?? "") + child;
    else if (child && child.tag === "title" && isWithoutAttributes(child)) node.title = child.text;
    else if (child) node.children.push(child);
  }
}

function hasOwnOrInnerText({ text, children }: VNode): boolean {
  return text !== null || children.some(hasOwnOrInnerText);
}

function isWithoutAttributes({ attrs }: VNode) {
  for (const _ in attrs) return false;
  return true;
}

/** A coordinate without noise digits. */
function roundCoordinate(value: number) {
  return String(Number.isInteger(value) ? value : Math.round(value * 100) / 100);
}

/** Join class names, leaving out what is falsy. */
export function classNames(...names: (string | false | null | undefined)[]) {
  return names.filter(Boolean).join(" ");
}

/** How far a `transform` like `translate(3 4)` moves. */
export function parseTranslate(transform: string | undefined): [number, number] {
  const [x = 0, y = 0] = (transform?.match(/^translate\(([^)]*)\)/)?.[1].match(/-?[\d.]+/g) ?? []).map(Number);
  return [x, y];
}

function escapeXml(text: string) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c] ?? c);
}

/** The same description as text, for tests and files. */
export function vnodeToSvg(node: VNode): string {
  const attrs = Object.entries(node.attrs).map(([k, v]) => ` ${k}="${escapeXml(v)}"`);
  const title = node.title === null ? "" : `<title>${escapeXml(node.title)}</title>`;
  const innerText = (node.text === null ? "" : escapeXml(node.text)) + node.children.map(vnodeToSvg).join("") + title;
  return `<${node.tag}${attrs.join("")}>${innerText}</${node.tag}>`;
}

/** an element, with the description that it agrees with, and what is in it */
interface Drawn {
  vnode: VNode;
  el: Element;
  inner: Drawn[];
}

/** What stands in the elements that were patched. */
const drawnByHost = new WeakMap<Element, Drawn[]>();

const NO_DRAWN_CHILDREN: Drawn[] = [];

/** Rows that left their host and may come back, by name, the longest gone first. */
const detachedRowsByHost = new WeakMap<Element, Map<string, Drawn>>();
/** So many of them are kept. */
const MAX_DETACHED_ROWS = 32;

/**
 * Make the children of `host` agree with `vnodes`. Elements keep their identity by key, or by tag and position, so that
 * a transition runs only on what is new. The document is written where descriptions differ, and never read: a
 * description that is the same object as before costs nothing. Titles become elements where they are pointed at. Nobody
 * else adds children to `host`.
 */
export function patchHost(document: Document, host: Element, vnodes: VNode[]) {
  if (!drawnByHost.has(host)) host.addEventListener("mouseover", (event) => showTitleOnHover(document, event));
  drawnByHost.set(host, patchChildren(document, host, drawnByHost.get(host) ?? NO_DRAWN_CHILDREN, vnodes));
}

function patchChildren(document: Document, host: Element, before: Drawn[], vnodes: VNode[]): Drawn[] {
  if (!before.length && !vnodes.length) return NO_DRAWN_CHILDREN;
  const after = new Array(vnodes.length) as Drawn[];
  let sameCount = 0;
  while (
    sameCount < vnodes.length &&
    sameCount < before.length &&
    isSameElement(before[sameCount].vnode, vnodes[sameCount])
  ) {
    after[sameCount] = updateDrawnElement(document, before[sameCount], vnodes[sameCount]);
    sameCount += 1;
  }
  if (sameCount === vnodes.length && sameCount === before.length) return after;
  const endCount = countSameElementsAtEnd(before, vnodes, sameCount);
  const [endBefore, end] = [before.length - endCount, vnodes.length - endCount];
  const identities = vnodes.slice(sameCount, end).map((vnode, k) => elementIdentity(vnode, sameCount + k));
  const drawnByName = removeAbsentElements(host, before, sameCount, endBefore, new Set(identities));
  const firstOfEnd: Element | null = before[endBefore]?.el ?? null;
  let nextElement: Element | null = drawnByName.values().next().value?.el ?? firstOfEnd;
  for (let k = sameCount; k < end; k++) {
    const existing = drawnByName.get(identities[k - sameCount]);
    if (existing) {
      drawnByName.delete(identities[k - sameCount]);
      if (existing.el === nextElement) nextElement = nextElement.nextElementSibling;
      else host.insertBefore(existing.el, nextElement);
      after[k] = updateDrawnElement(document, existing, vnodes[k]);
    } else {
      after[k] = takeDetachedRow(document, host, vnodes[k]) ?? createDrawnElement(document, vnodes[k]);
      host.insertBefore(after[k].el, nextElement);
    }
  }
  for (let k = end; k < vnodes.length; k++)
    after[k] = updateDrawnElement(document, before[endBefore + k - end], vnodes[k]);
  return after;
}

/** How many of the last are the same elements, by their keys. `sameCount` elements at the beginning are the same. */
function countSameElementsAtEnd(before: Drawn[], vnodes: VNode[], sameCount: number) {
  const longest = Math.min(before.length, vnodes.length) - sameCount;
  let count = 0;
  while (count < longest) {
    const vnode = vnodes[vnodes.length - 1 - count];
    if (vnode.key === null || !isSameElement(before[before.length - 1 - count].vnode, vnode)) break;
    count += 1;
  }
  return count;
}

/** A row that left its host before, brought up to date. */
function takeDetachedRow(document: Document, host: Element, vnode: VNode) {
  if (!isKeptWhenDetached(vnode)) return null;
  const detached = detachedRowsByHost.get(host);
  const identity = elementIdentity(vnode, 0);
  const drawn = detached?.get(identity);
  if (!drawn) return null;
  detached?.delete(identity);
  return updateDrawnElement(document, drawn, vnode);
}

/** Whether it is big enough to be kept where it leaves. */
function isKeptWhenDetached({ key, attrs }: VNode) {
  return key !== null && attrs["data-row"] !== undefined;
}

function cacheDetachedRow(host: Element, name: string, drawn: Drawn) {
  const detached = detachedRowsByHost.get(host) ?? new Map();
  detachedRowsByHost.set(host, detached);
  detached.delete(name);
  detached.set(name, drawn);
  if (detached.size > MAX_DETACHED_ROWS) detached.delete(detached.keys().next().value);
}

/**
 * Removes the elements between `from` and `to` that have no description any more. `names` are those of the elements
 * that stay; these are returned in order, by name.
 */
function removeAbsentElements(
  host: Element,
  before: Drawn[],
  from: number,
  to: number,
  names: Set<string>,
): Map<string, Drawn> {
  const keptByName = new Map<string, Drawn>();
  for (let k = from; k < to; k++) {
    const name = elementIdentity(before[k].vnode, k);
    if (names.has(name) && !keptByName.has(name)) keptByName.set(name, before[k]);
    else {
      before[k].el.remove();
      if (isKeptWhenDetached(before[k].vnode)) cacheDetachedRow(host, name, before[k]);
    }
  }
  return keptByName;
}

/** Whether two descriptions at the same place are of one element. */
function isSameElement(a: VNode, b: VNode) {
  return a === b || (a.key === b.key && a.tag === b.tag);
}

function elementIdentity(vnode: VNode, index: number) {
  return `${vnode.tag}#${vnode.key ?? `@${index}`}`;
}

function createDrawnElement(document: Document, vnode: VNode): Drawn {
  const el = document.createElementNS(SVG_NAMESPACE, vnode.tag);
  for (const name in vnode.attrs) el.setAttribute(name, vnode.attrs[name]);
  if (vnode.title !== null) el.setAttribute("data-title", vnode.title);
  if (vnode.target) setTarget(el, vnode.target);
  if (vnode.text !== null) el.textContent = vnode.text;
  const children = vnode.children.map((child) => createDrawnElement(document, child));
  for (const child of children) el.appendChild(child.el);
  return { vnode, el, inner: children };
}

function updateDrawnElement(document: Document, drawn: Drawn, vnode: VNode): Drawn {
  const { el, vnode: vnodeBefore } = drawn;
  if (vnodeBefore === vnode) return drawn;
  for (const name in vnodeBefore.attrs) if (!(name in vnode.attrs)) el.removeAttribute(name);
  for (const name in vnode.attrs)
    if (vnodeBefore.attrs[name] !== vnode.attrs[name]) el.setAttribute(name, vnode.attrs[name]);
  if (vnodeBefore.target !== vnode.target) setTarget(el, vnode.target);
  if (vnodeBefore.title !== vnode.title) writeElementTitle(el, vnode.title);
  if (vnodeBefore.text !== vnode.text) writeElementText(document, el, vnodeBefore.text, vnode.text ?? "");
  if (vnodeBefore.children !== vnode.children) drawn.inner = patchChildren(document, el, drawn.inner, vnode.children);
  drawn.vnode = vnode;
  return drawn;
}

/** Write an element's text, which stands before its children. */
function writeElementText(document: Document, el: Element, textBefore: string | null, text: string) {
  if (textBefore && el.firstChild && text) el.firstChild.nodeValue = text;
  else if (textBefore) el.firstChild?.remove();
  else if (text) el.insertBefore(document.createTextNode(text), el.firstChild);
}

/** The title of what is pointed at. */
let shownTitleElement: Element | null = null;

/** The browser shows the title of what is pointed at: an element for each would cost every step a quarter of its
 * time. */
function showTitleOnHover(document: Document, { target }: Event) {
  if (target instanceof Element && target.closest("[data-tips]")) return; // a sentence of its own says it there
  const el = target instanceof Element ? target.closest("[data-title]") : null;
  if (shownTitleElement?.parentNode === el && el) return;
  shownTitleElement?.remove();
  shownTitleElement = el && document.createElementNS(SVG_NAMESPACE, "title");
  if (!el || !shownTitleElement) return;
  shownTitleElement.textContent = el.getAttribute("data-title");
  el.append(shownTitleElement);
}

function writeElementTitle(el: Element, title: string | null) {
  if (title === null) el.removeAttribute("data-title");
  else el.setAttribute("data-title", title);
  if (shownTitleElement?.parentNode === el) shownTitleElement.textContent = title;
}

/** Give a picture its size in pixels, one unit each; written where it has another, since all of it is laid out then. */
export function setSvgSize(svg: SVGElement, width: number, height: number) {
  const viewBox = `0 0 ${Math.max(1, width)} ${Math.max(1, height)}`;
  if (svg.getAttribute("viewBox") === viewBox && svg.getAttribute("height") === String(height)) return;
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  svg.setAttribute("viewBox", viewBox);
}
