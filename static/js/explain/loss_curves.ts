/**
 * The loss of a training before and after a fix: two small curves of one scale beside each other, with their last
 * values.
 */

import { createElement } from "../browser/elements.ts";
import { patchHost, SVG_NAMESPACE } from "../browser/svg.ts";
import { shortNumberText } from "../trace/format.ts";
import { CURVE_HEIGHT, CURVE_WIDTH, seriesCurveMarks } from "../marks/series_curve.ts";
import type { LossCurves, LossValue } from "../requests/fixes.ts";
import type { Translate } from "../words/sentences.ts";

const DIGITS = 6;

export function lossCurvesElement({ name, before, after }: LossCurves, say: Translate) {
  const box = createElement("div", "fix-losses");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", say("fix_losses"));
  const curves = { before: curvePoints(before), after: curvePoints(after) };
  const both = [...curves.before, ...curves.after];
  for (const when of ["before", "after"] as const) {
    const points = curves[when];
    const drawing = document.createElementNS(SVG_NAMESPACE, "svg");
    drawing.setAttribute("viewBox", `0 0 ${CURVE_WIDTH} ${CURVE_HEIGHT}`);
    drawing.setAttribute("preserveAspectRatio", "none");
    drawing.setAttribute("aria-hidden", "true");
    patchHost(document, drawing, seriesCurveMarks(points, points.length - 1, both));
    const caption = createElement("figcaption", "");
    const last = (when === "before" ? before : after).at(-1) as LossValue;
    caption.append(
      `${say(`fix_loss_${when}`)}: `,
      createElement("code", "", `${name} = ${shortNumberText(last, DIGITS)}`),
    );
    const figure = createElement("figure", "fix-loss");
    figure.append(drawing, caption);
    box.append(figure);
  }
  return box;
}

function curvePoints(values: LossValue[]) {
  return values.map((value, x) => ({ x, value: typeof value === "number" ? value : Number.NaN }));
}
