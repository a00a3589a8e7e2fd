/** The marks of a loom, to look for what is drawn. */

import { layoutLoom } from "../../../layout/loom/loom.ts";
import { loomMarks } from "../../../marks/loom/loom.ts";
import { openTrace } from "../../../trace/state.ts";
import type { VNode } from "../../../browser/svg.ts";

export function flat(nodes: VNode[]): VNode[] {
  return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

export function drawn(document: any, i?: number, options: any = {}) {
  const opened = openTrace(document);
  const plan = layoutLoom(opened, options);
  const { head, code, body } = loomMarks(plan, opened, i ?? opened.count - 1, {}, options.band);
  return { opened, plan, head: flat(head), code: flat(code), body: flat(body) };
}

export const having = (list: VNode[], name: string, value?: string) =>
  list.filter((v) => name in v.attrs && (value === undefined || v.attrs[name] === value));

export const texts = (mark: VNode, name: RegExp) =>
  mark.children.filter((c) => c.tag === "text" && name.test(c.attrs.class)).map((c) => c.text);
