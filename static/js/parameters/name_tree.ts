/** Things with dotted names as a tree, and which of its parts are open at first: as many levels as fit. */

export interface NameNode<T> {
  /** the whole name from the root on, unique */
  path: string;
  /** what is shown: the name behind the part around it */
  label: string;
  depth: number;
  /** what it stands for; null of a part that only holds others */
  item: T | null;
  children: NameNode<T>[];
}

interface Named<T> {
  name: string;
  item: T;
}

/** Parts of a name: `net.0.weight` and `layers[0].weight`. */
function partsOf(name: string) {
  return name.split(/\.|(?=\[)/);
}

function joined(outer: string, part: string) {
  return outer && !part.startsWith("[") ? `${outer}.${part}` : outer + part;
}

/**
 * The outermost nodes, in the order of the first thing of each. A part that holds only one other is one with it, and a
 * part of a single thing is that thing.
 */
export function nameTree<T>(things: Named<T>[]): NameNode<T>[] {
  const root: NameNode<T> = { path: "", label: "", depth: -1, item: null, children: [] };
  const groups = new Map<string, NameNode<T>>([["", root]]);
  things.forEach(({ name, item }, k) => {
    const parts = partsOf(name);
    let outer = root;
    for (const part of parts.slice(0, -1)) {
      const path = joined(outer.path, part);
      let group = groups.get(path);
      if (!group) {
        group = { path, label: part, depth: 0, item: null, children: [] };
        groups.set(path, group);
        outer.children.push(group);
      }
      outer = group;
    }
    const label = parts[parts.length - 1];
    outer.children.push({ path: `${joined(outer.path, label)}\n${k}`, label, depth: 0, item, children: [] });
  });
  return withDepths(root.children.map(mergeSingle), 0);
}

function mergeSingle<T>(node: NameNode<T>): NameNode<T> {
  const children = node.children.map(mergeSingle);
  if (children.length !== 1) return { ...node, children };
  return { ...children[0], label: joined(node.label, children[0].label) };
}

function withDepths<T>(nodes: NameNode<T>[], depth: number): NameNode<T>[] {
  return nodes.map((node) => ({ ...node, depth, children: withDepths(node.children, depth + 1) }));
}

/** The things in a node, in order. */
export function itemsUnderNode<T>(node: NameNode<T>): T[] {
  const own = node.item === null ? [] : [node.item];
  return [...own, ...node.children.flatMap(itemsUnderNode)];
}

/**
 * The paths of the nodes that are open at first: level by level from outside, while no more rows than there is room
 * for. A node that stands alone is open in any case, as long as what it holds fits.
 */
export function initiallyOpenPaths<T>(nodes: NameNode<T>[], maxRows: number): Set<string> {
  const open = new Set<string>();
  let level = nodes;
  let rows = nodes.length;
  while (level.length) {
    const groups = level.filter(({ children }) => children.length);
    const inner = groups.flatMap(({ children }) => children);
    if (!groups.length || rows + inner.length > maxRows) break;
    for (const { path } of groups) open.add(path);
    rows += inner.length;
    level = inner;
  }
  return open;
}
