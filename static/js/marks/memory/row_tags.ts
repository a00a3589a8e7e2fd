/** The names of a row: filled for a variable, outlined for a path, with the function's name before an inner frame's. */

import { FONT_SIZES, textWidth } from "../../layout/text/metrics.ts";
import { fittedText } from "../../layout/text/fitted_text.ts";
import { cutPathAtStart } from "../../layout/memory/pane_names.ts";
import { classNames, h } from "../../browser/svg.ts";
import { textMark, titleMark } from "../../browser/shapes.ts";
import type { StageLabels } from "../labels.ts";
import type { ShownName } from "../../layout/memory/memory_parts.ts";

/** The name leads to `uid`. */
export function nameTagMark(
  labels: StageLabels,
  uid: string,
  name: ShownName,
  place: { x: number; y: number; w: number; h: number; font: number },
) {
  const { tag, scope, moved } = name;
  const isVariable = tag.kind === "var";
  const halfHeight = place.h / 2;
  const pointWidth = 7;
  const bodyWidth = place.w - pointWidth - 3;
  const d = `M${place.x + 3} ${place.y}h${bodyWidth - 3}l${pointWidth} ${halfHeight}l${-pointWidth} ${halfHeight}h${-(bodyWidth - 3)}a3 3 0 0 1 -3 -3v${-(place.h - 6)}a3 3 0 0 1 3 -3z`;
  const scopeWidth = scope ? textWidth(scope, FONT_SIZES.small) + 5 : 0;
  const room = place.w - scopeWidth - 14;
  const fitted = fittedText([name.text], room, place.font);
  const text = fitted.text === name.text ? name.text : cutPathAtStart(name.text, room, place.font);
  const baseline = place.y + halfHeight + place.font * 0.35;
  return h(
    "g",
    {
      key: `tag ${tag.frame ?? ""} ${tag.kind} ${tag.name}`,
      class: classNames("tag", isVariable && !scope ? "var" : "path", moved && "moved"),
      "data-name": isVariable ? tag.name : null,
      "data-frame": tag.frame,
      "data-ref": uid,
      "data-path": isVariable ? null : tag.text,
      target: isVariable
        ? { kind: "name", frame: tag.frame, name: tag.name, ref: uid }
        : { kind: "path", path: tag.text, ref: uid },
      tabindex: "0",
      role: "img",
      "aria-label": `${scope ? `${scope}: ` : ""}${tag.text}`,
    },
    h("path", { key: "shape", d }),
    scope ? textMark("of", place.x + 6, baseline, scope, { key: "of", size: FONT_SIZES.small }) : null,
    h(
      "text",
      {
        key: "text",
        x: place.x + 6 + scopeWidth,
        y: baseline,
        "font-size": text === name.text ? fitted.size : place.font,
        "letter-spacing": text === name.text ? fitted.spacing : null,
      },
      text,
    ),
    titleMark(`${isVariable ? labels.variable : labels.path} ${scope ? `${scope}: ` : ""}${tag.text} → ${uid}`),
  );
}
