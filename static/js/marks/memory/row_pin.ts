/** The pins of a row: what nodes saved of its storage, the versions that they expect, and what broke them. */

import { lineLabel } from "../../trace/program_files.ts";
import { findEntity } from "../../trace/entities.ts";
import { shortNumberText, truncateText } from "../../trace/format.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { cellExtentOfHandle } from "../../trace/reads.ts";
import { ROW_SIZES } from "../../layout/memory/row_lines.ts";
import { cellRect, bandOfDtype } from "../../layout/cells/row_strip.ts";
import { classNames, h } from "../../browser/svg.ts";
import { focusable, pathMark, textMark, titleMark } from "../../browser/shapes.ts";
import type { MemoryColumns } from "../../layout/memory/memory_columns.ts";
import type { Slot } from "../../trace/wire.ts";
import type { RenderContext } from "../render_context.ts";
import type { RowDrawing } from "./row_drawing.ts";
import type { PlacedPins, PlacedPin, RowLayout } from "../../layout/memory/memory_parts.ts";

/** Beside the words of a pin. */
const PIN_PADDING = 6;
/** Fewer characters of a statement say nothing. */
const MIN_STATEMENT_LENGTH = 8;

export function rowPinMarks(row: RowDrawing, flow: PlacedPins) {
  const { facts, layout } = row;
  const out = flow.pins.map((placed) => rowPinMark(row, placed));
  const brokenPin = flow.pins.find(({ pin }) => pin.broken);
  if (flow.more.length) {
    const y = ROW_SIZES.inset + (brokenPin?.dot || flow.pins[0]?.dot ? layout.top + 12 : layout.top - 6);
    const hiddenPins = flow.more.map(({ node, slot }) => `${facts.nodeName(node)}.${slot}`).join(", ");
    out.push(
      textMark("pin-more", flow.moreX + 1, y, `+${flow.more.length}`, {
        key: "more pins",
        size: FONT_SIZES.small,
        title: hiddenPins,
      }),
    );
  }
  if (!brokenPin || brokenPin.dot) return out;
  return [...out, breakingWriteMark(row, flow)];
}

function rowPinMark({ facts, layout, columns }: RowDrawing, placed: PlacedPin) {
  const { pin, x, y, h: height, dot } = placed;
  const { node, slot, saved } = pin;
  const key = `${node}:${slot}`;
  const top = ROW_SIZES.inset + y;
  const expected = saved.expected ?? null;
  const span = dot ? null : savedCellsSpan(layout, saved, columns);
  const stripTop = ROW_SIZES.inset + layout.top;
  const description = pinDescription(facts, pin);
  const text = dot ? "" : pinText(facts, placed);
  const w = dot ? placed.w : Math.min(placed.w, textWidth(text, FONT_SIZES.small) + 2 * PIN_PADDING);
  return h(
    "g",
    {
      key: `pin ${key}`,
      class: classNames("pin", saved.state, dot && "dot", facts.events.has(key) && "news"),
      "data-pin": key,
      "data-state": saved.state,
      "data-expected": expected,
      "data-storage": saved.storage,
      ...focusable({ kind: "pin", node, slot, broken: pin.broken }, "img", description),
    },
    span && pathMark("pin-line", `M${span[0]} ${stripTop - 0.5}v${pin.broken ? -1.5 : -1.5}H${span[1]}v1.5`, "bracket"),
    h("g", { key: "head", class: "pin-head" }, [
      h("rect", { x, y: top, width: w, height, rx: saved.state === "changed" ? 2 : height / 2 }),
      !dot &&
        textMark(pin.broken && placed.textLength !== "tiny" ? "alarm" : null, x + w / 2, top + 12.6, text, {
          size: FONT_SIZES.small,
        }),
    ]),
    titleMark(description),
  );
}

/** Who keeps the cells for backward, or what is wrong with them. */
function pinText({ labels, nodeName, snap }: RenderContext, { pin, slot, textLength: words, w }: PlacedPin) {
  const { node, saved, broken } = pin;
  const name = nodeName(node);
  const version = `${saved.expected ?? "?"}`;
  const most = Math.max(4, Math.floor((w - 2 * PIN_PADDING) / (CHARACTER_WIDTH_EM * FONT_SIZES.small) + 0.02));
  if (words === "tiny" || (words === "short" && !broken)) return truncateText(`${name} v${version}`, most);
  if (!broken) return truncateText(`${labels.keptBy.replace("{name}", name + slot)} · v${version}`, most);
  const now = findEntity(snap.entities, saved.counter, "counter")?.value;
  const isSilent = saved.state === "changed" || now === undefined || `${now}` === version;
  const state = isSilent ? labels.pinChanged : labels.pinStale.replace("{now}", `${now}`);
  const said = state.replace("{v}", version);
  return truncateText(words === "short" ? said : `${name}${slot} ${said}`, most);
}

/** Who saved the cells, at which version, and what has become of them. */
function pinDescription({ labels, nodeName }: RenderContext, { node, slot, saved }: PlacedPin["pin"]) {
  const { savedIntact: ok, savedStale: stale, savedChanged: changed } = labels;
  const state = new Map(Object.entries({ ok, stale, changed })).get(saved.state) ?? saved.state;
  const words = labels.savedBy.replace("{node}", nodeName(node)).replace("{slot}", slot);
  return `${words.replace("{v}", `${saved.expected ?? "?"}`)}\n${state}`;
}

/** From where to where the saved cells lie. */
function savedCellsSpan(layout: RowLayout, saved: Slot, columns: MemoryColumns): [number, number] | null {
  const band = bandOfDtype(layout.strip, saved.dtype);
  const span = cellExtentOfHandle({ kind: "tensor", ...saved });
  if (!band || !span) return null;
  if (band.lines > 1 || band.mode !== "numbers" || span[1] >= band.n)
    return [columns.strip + 1, columns.strip + layout.strip.w - 1];
  const [from, to] = [cellRect(band, span[0]), cellRect(band, span[1])];
  return [columns.strip + from.x + 1, columns.strip + to.x + to.w - 1];
}

/** What wrote over the value that the most alarming pin needs. */
function breakingWriteMark({ facts, layout, columns }: RowDrawing, flow: PlacedPins) {
  if (!flow.cause) return null;
  const { labels } = facts;
  const { line, text: statement, was, cell } = flow.cause;
  const maxWidth = columns.w - 8 - flow.end;
  const value = was === undefined ? "" : ` · ${labels.was} ${shortNumberText(was, 7)}`;
  const label = lineLabel(labels.line, line);
  const maxChars = Math.floor(maxWidth / (CHARACTER_WIDTH_EM * FONT_SIZES.small));
  const shown = breakingStatementText(label, statement, value, maxChars);
  if (!shown) return null;
  return textMark("cause", flow.end + 2, ROW_SIZES.inset + layout.top - 6.4, shown, {
    key: "cause",
    size: FONT_SIZES.small,
    title: `${label}: ${statement}${cell < 0 ? "" : ` · [${cell}]${value}`}`,
  });
}

/**
 * The statement that wrote, and the value before it, as many characters as there is room for: its line, as `label`,
 * comes first.
 */
function breakingStatementText(label: string, statement: string, value: string, maxChars: number) {
  const prefix = `${label}: `;
  const fullText = `${prefix}${statement}`;
  if (fullText.length + value.length <= maxChars) return fullText + value;
  if (fullText.length <= maxChars) return fullText;
  if (maxChars > prefix.length + MIN_STATEMENT_LENGTH)
    return `${prefix}${truncateText(statement, maxChars - prefix.length)}`;
  if (label.length + value.length <= maxChars) return label + value;
  return label.length <= maxChars ? label : "";
}
