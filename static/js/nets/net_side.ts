/**
 * What stands beside a net: the node of the step with the gradients that came and went, what it kept, and the
 * parameters of its module.
 */

import { element } from "../browser/elements.ts";
import { cellAsNumber, cellsReadBy } from "../findings/facts/cell_values.ts";
import { findEntity } from "../trace/entities.ts";
import { bytesLabel } from "../trace/memory_totals.ts";
import { referencedUid } from "../trace/names.ts";
import { h, patchHost, SVG_NAMESPACE, type VNode } from "../browser/svg.ts";
import { gradNorm, type NetFacts } from "./net_state.ts";
import { normText, shapeText } from "./net_texts.ts";
import { operationWord } from "./net_words.ts";
import { unqualifiedDtype } from "../trace/reads.ts";
import type { NetPlace } from "./net_places.ts";
import type { Cell } from "../trace/entities.ts";
import type { Grad } from "../trace/wire.ts";
import type { Say } from "../words/sentences.ts";

const MAX_LISTED = 12;
const MAX_CELLS = 64;

interface ParameterFact {
  name: string;
  shape: number[];
  /** absent: none; null: the trace does not tell */
  norm?: number | null;
  waits: boolean;
}

/** The place that the step is about; null: none. */
export function netSideElements(facts: NetFacts, i: number, place: NetPlace | null, say: Say): Element[] {
  const { visit } = facts.opened.trace.steps[i];
  const node = visit?.node ?? null;
  const parts = node && !visit?.accumulates ? visitParts(facts, i, node, say) : madeParts(facts, i, place, say);
  return [...parts, ...parameterParts(facts, i, place, say)];
}

function heading(text: string, more = "") {
  const title = element("h3", "", text);
  if (more) title.append(" ", element("span", "", more));
  return title;
}

function visitParts(facts: NetFacts, i: number, node: string, say: Say): Element[] {
  const { trace, index, state } = facts.opened;
  const { visit } = trace.steps[i];
  const known = index.nodes.get(node);
  const line = trace.steps[index.lifetimes.get(node)?.birth ?? -1]?.line;
  const word = (uid: string) => {
    const variable = index.nodes.get(uid)?.variable;
    return variable
      ? (facts.leafName(variable, i) ?? say("net_a_leaf"))
      : operationWord(index.nodes.get(uid)?.name ?? "");
  };
  const title = element("h2", "", operationWord(known?.name ?? ""));
  title.append(" ", element("span", "", line ? say("net_made_on", { line }) : ""));
  title.title = known?.name ?? "";
  const parts: Element[] = [title];
  for (const grad of visit?.grad_outputs ?? [])
    if (grad) parts.push(heading(say("net_grad_in")), ...gradParts(grad, say));
  const outgoing = (visit?.grad_inputs ?? []).flatMap((grad, k) => {
    const next = known?.next[k]?.[0];
    return grad && next ? [{ grad, name: word(next) }] : [];
  });
  for (const { grad, name } of outgoing.slice(0, 3))
    parts.push(heading(say("net_grad_out", { name })), ...gradParts(grad, say));
  if (outgoing.length > 3) parts.push(element("p", "", say("net_more", { n: outgoing.length - 3 })));
  const saved = Object.entries(findEntity(state(i - 1), node, "node")?.saved ?? {}).filter(([, slot]) => slot.storage);
  if (saved.length) {
    const isGone = findEntity(state(i), node, "node")?.released;
    parts.push(heading(say(isGone ? "net_kept_gone" : "net_kept_still")));
    parts.push(list(saved.map(([slot, { shape }]) => [slot.replace(/^_saved_/, ""), shape ? shapeText(shape) : ""])));
  }
  return parts;
}

function gradParts(grad: Grad, say: Say): Element[] {
  const norm = gradNorm(grad);
  const text = [shapeText(grad.shape), norm === null ? "" : say("net_norm_is", { norm: normText(norm) })]
    .filter(Boolean)
    .join("  ");
  const cells = grad.cells ?? grad.summary?.heat ?? [];
  return [...(cells.length ? [strip(cells)] : []), element("p", "net-facts", text)];
}

/** The elements as colours, means of neighbours where they are many. */
function strip(cells: Cell[]) {
  const values = cells.map(cellAsNumber);
  const count = Math.min(values.length, MAX_CELLS);
  const means = Array.from({ length: count }, (_, k) => {
    const part = values.slice(Math.floor((k * values.length) / count), Math.floor(((k + 1) * values.length) / count));
    return part.reduce((sum, value) => sum + value, 0) / Math.max(1, part.length);
  });
  const largest = Math.max(...means.filter(Number.isFinite).map(Math.abs), 0) || 1;
  const marks: VNode[] = means.map((mean, k) => {
    const share = Number.isFinite(mean) ? Math.abs(mean) / largest : 1;
    const kind = Number.isFinite(mean) ? (mean < 0 ? "neg" : "pos") : "bad";
    return h("rect", {
      class: `net-cell ${kind}`,
      x: (k * 240) / count,
      width: 240 / count + 0.3,
      height: 20,
      opacity: 0.1 + 0.8 * share,
    });
  });
  const svg = document.createElementNS(SVG_NAMESPACE, "svg");
  svg.setAttribute("viewBox", "0 0 240 20");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "net-strip");
  patchHost(document, svg, marks);
  return svg;
}

/** A list of names with what is said of each. */
function list(rows: string[][], onRow?: (row: HTMLElement, k: number) => void) {
  const table = element("dl", "net-list");
  for (const [k, [name, ...more]] of rows.entries()) {
    const row = element("div", "");
    row.append(element("dt", "", name), ...more.map((text) => element("dd", "", text)));
    onRow?.(row, k);
    table.append(row);
  }
  return table;
}

/** What the step made for backward; nothing where it made nothing. */
function madeParts(facts: NetFacts, i: number, place: NetPlace | null, say: Say): Element[] {
  const { trace, index } = facts.opened;
  const made = facts
    .touchedAt(i)
    .flatMap((unit) => unit.nodes)
    .filter((uid) => index.lifetimes.get(uid)?.birth === i);
  const parts: Element[] = [];
  if (made.length && !trace.steps[i].visit) {
    parts.push(heading(say("net_made_here")));
    parts.push(
      list(
        made.slice(0, MAX_LISTED).map((uid) => {
          const shape = facts.shapeOf(facts.resultOfNode.get(uid));
          return [operationWord(index.nodes.get(uid)?.name ?? ""), shape ? shapeText(shape) : ""];
        }),
      ),
    );
    if (made.length > MAX_LISTED) parts.push(element("p", "", say("net_more", { n: made.length - MAX_LISTED })));
    const kept = made.flatMap((uid) => facts.keptByNode.get(uid) ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
    if (kept) parts.push(element("p", "net-facts", say("net_keeps", { size: bytesLabel(kept) })));
  }
  if (!parts.length && place === null) parts.push(...totalParts(facts, i, say));
  return parts;
}

/** How many parameters of the nets have a gradient. */
function totalParts(facts: NetFacts, i: number, say: Say): Element[] {
  const parameters = new Map<string, ParameterFact>();
  for (const place of facts.net.top) {
    const uid = moduleAround(place, facts);
    if (!uid) continue;
    for (const [key, fact] of parametersOf(facts, i, uid, place.isBare ? "" : place.name))
      if (!parameters.has(key)) parameters.set(key, fact);
  }
  const all = [...parameters.values()];
  const having = all.filter(({ norm }) => norm !== undefined);
  if (!all.length) return [];
  const title = element("h2", "", say("net_have_gradient", { k: having.length, n: all.length }));
  const sorted = having
    .filter((fact): fact is ParameterFact & { norm: number } => typeof fact.norm === "number")
    .sort((a, b) => b.norm - a.norm);
  const rowsOf = (facts: (ParameterFact & { norm: number })[]) =>
    list(facts.map(({ name, norm }) => [name, normText(norm)]));
  const parts: Element[] = [title];
  if (sorted.length > 6)
    parts.push(
      heading(say("net_largest")),
      rowsOf(sorted.slice(0, 5)),
      heading(say("net_smallest")),
      rowsOf(sorted.slice(-5)),
    );
  else if (sorted.length) parts.push(heading(say("net_gradients")), rowsOf(sorted));
  return parts;
}

function moduleAround(place: NetPlace | null, { net }: NetFacts): string | null {
  for (let outer = place; outer; outer = outer.parent) {
    const uid = outer.kind === "module" ? outer.units[0].uid : null;
    if (uid && net.top.length) return uid;
  }
  return null;
}

/** The parameters of the innermost module around a place that has any. */
function parameterParts(facts: NetFacts, i: number, place: NetPlace | null, say: Say): Element[] {
  for (let outer = place; outer; outer = outer.parent) {
    if (outer.kind !== "module" || !outer.units[0].uid) continue;
    const parameters = [...parametersOf(facts, i, outer.units[0].uid, "").values()];
    if (!parameters.length) continue;
    const texts = parameters.slice(0, MAX_LISTED).map(({ name, shape, norm, waits }) => {
      const text = norm === null ? "–" : norm !== undefined ? normText(norm) : waits ? say("net_grad_waits") : "None";
      return [name, shapeText(shape), text];
    });
    const parts: Element[] = [heading(say("net_parameters_of", { name: outer.path ?? outer.name }), ".grad")];
    parts.push(list(texts, (row, k) => row.classList.toggle("has", parameters[k].norm !== undefined)));
    if (parameters.length > MAX_LISTED)
      parts.push(element("p", "", say("net_more", { n: parameters.length - MAX_LISTED })));
    return parts;
  }
  return [];
}

/** By the parameter's tensor. */
function parametersOf(facts: NetFacts, i: number, module: string, prefix: string): Map<string, ParameterFact> {
  const found = new Map<string, ParameterFact>();
  const entities = facts.opened.state(i);
  const seen = new Set<string>();
  const visit = (uid: string, path: string) => {
    const object = findEntity(entities, uid, "object");
    if (!object || typeof object.training !== "boolean" || seen.has(uid)) return;
    seen.add(uid);
    for (const [name, value] of Object.entries(object.attrs ?? {})) {
      const ref = referencedUid(value);
      if (!ref) continue;
      const full = path ? `${path}.${name}` : name;
      const tensor = findEntity(entities, ref, "tensor");
      if (tensor?.type === "Parameter" && !found.has(ref))
        found.set(ref, {
          name: full,
          shape: tensor.shape ?? [],
          waits: facts.willArrive(ref, i),
          ...gradientOf(facts, i, tensor.grad),
        });
      else if (ref[0] === "o") visit(ref, full);
    }
  };
  visit(module, prefix);
  return found;
}

function gradientOf(facts: NetFacts, i: number, grad: string | undefined): { norm?: number | null } {
  if (!grad) return {};
  const entities = facts.opened.state(i);
  const tensor = findEntity(entities, grad, "tensor");
  if (!tensor) return { norm: null };
  const cells = cellsReadBy(entities, tensor);
  if (cells) return { norm: gradNorm({ shape: [], dtype: "", layout: "", cells }) };
  const summary = findEntity(entities, tensor.storage, "storage")?.summary?.[unqualifiedDtype(tensor.dtype ?? "")];
  return { norm: summary?.norm == null ? null : cellAsNumber(summary.norm) };
}
