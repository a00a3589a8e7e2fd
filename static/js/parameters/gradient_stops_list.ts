/** Where the gradient stops, as a list: a line down through the modules, cut where the history ends. */

import { button, element } from "../browser/elements.ts";
import { gradientStopsAt, type GradientStops, type GradientStopRow } from "./gradient_stops.ts";
import { normText, shapeText } from "./parameter_texts.ts";
import { gravest, tonesOf } from "../findings/tones.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Say } from "../words/sentences.ts";

/** `go` is called with the step of a row that was chosen. */
export function createGradientStops(say: Say, go: (step: number) => void) {
  const section = element("section", "gradient-stops");
  section.setAttribute("aria-label", say("stops"));
  const heading = element("h3", "", say("stops"));
  const list = element("ol", "");
  section.append(heading, list);

  function rowElement(row: GradientStopRow): HTMLElement {
    const item = element("li", `stop ${row.kind}`);
    const text = { norm: say("stops_norm", { norm: normText(row.norm) }), none: say("stops_none") };
    item.append(
      button("name", row.path, () => go(row.step)),
      element("span", "type", `${row.type}, ${row.line}`),
      element("span", "shape", shapeText(row.shape)),
      element("span", "norm", row.kind === "frozen" ? say("stops_frozen") : text[row.kind]),
    );
    return item;
  }

  function cutElement({ line, code, step }: { line: number | null; code: string; step: number }): HTMLElement {
    const item = element("li", "stop cut");
    const text = line === null ? say("stops_cut_unplaced") : say("stops_cut", { line, code });
    item.append(button("where", text, () => go(step)));
    return item;
  }

  function moreElement(n: number) {
    return element("li", "stop more", `+ ${n}`);
  }

  function items({ rows, cuts, before, after }: GradientStops): HTMLElement[] {
    const own = rows.flatMap((row, k) => {
      const cut = cuts.get(k);
      return [...(cut ? [cutElement(cut)] : []), rowElement(row)];
    });
    return [...(before ? [moreElement(before)] : []), ...own, ...(after ? [moreElement(after)] : [])];
  }

  return {
    element: section,
    show(opened: OpenTrace, step: number) {
      const stops = gradientStopsAt(opened, step);
      section.hidden = !stops;
      const lines = [...(stops?.cuts.values() ?? [])].map(({ line }) => tonesOf(opened).ofCut.get(line ?? 0));
      section.dataset.tone = gravest(lines) ?? "";
      list.replaceChildren(...(stops ? items(stops) : []));
    },
  };
}
