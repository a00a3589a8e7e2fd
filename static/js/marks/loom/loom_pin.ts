/** A saved value in the loom: a pin held on its counter's rail until backward lets go or a write breaks it. */

import { savedSlotStateAt } from "../../layout/loom/run_rows.ts";
import { isInVisibleBand, type HeightBand } from "../../layout/view.ts";
import { classNames, h } from "../../browser/svg.ts";
import { circleMark, pathMark, textMark, titleMark } from "../../browser/shapes.ts";
import { clampToBand, type LoomScene } from "./loom_scene.ts";
import type { PinLine } from "../../layout/loom/loom_plan.ts";

/** A saved value: a pin from the node's row to the rail, held until backward lets go. */
export function loomPinMark({ plan, i, band }: LoomScene, line: PinLine) {
  const { pin, x, rail, y, slotX, headed: hasHead, holds, hit: struckAt } = line;
  const holdsInBand = holds.filter(({ from, to }) => isInVisibleBand(band, from - 10, to + 10));
  if (!holdsInBand.length) return null;
  const state = savedSlotStateAt(pin, i);
  const parts = [];
  if (hasHead && x !== rail) parts.push(pathMark("loom-stub", `M${rail} ${y}H${x}`, "to"));
  if (hasHead && isInVisibleBand(band, y, y))
    parts.push(pathMark("loom-pin-line", `M${x + 8} ${y}H${slotX - 3}`, "line"));
  for (const hold of holdsInBand) parts.push(...pinHoldMarks(line, hold, band));
  if (struckAt && pin.broken !== null)
    parts.push(pathMark("loom-snap", `M${struckAt.x - 6} ${struckAt.y - 23}l12 12m0 -12l-12 12`, "snap"));
  else if (struckAt && pin.silent !== null)
    parts.push(
      pathMark("loom-warn", `M${struckAt.x} ${struckAt.y - 13}l11 20h-22z`, "warn"),
      pathMark("loom-warn-mark", `M${struckAt.x} ${struckAt.y - 6}v6m0 2.500v1.500`, "mark"),
    );
  if (hasHead)
    parts.push(
      circleMark("loom-pin-head", x, y, 7.5, "head"),
      textMark("loom-pin-text mid", x, y + 3.5, pin.expected === null ? "?" : String(pin.expected), "expected"),
    );
  return h(
    "g",
    {
      key: `pin ${pin.key}`,
      class: classNames("loom-pin", state),
      "data-loom-pin": pin.key,
      "data-state": state,
      "data-expected": pin.expected,
    },
    parts,
    titleMark(
      `${plan.dots.get(pin.node)?.name ?? pin.node}.${pin.slot}: ${pin.storage} v${pin.expected ?? "?"} · ${state}`,
    ),
  );
}

/** One stretch of a hold, dashed from where a write broke it. */
function pinHoldMarks(
  { pin, holds, hit: struckAt }: PinLine,
  { x, from, to }: { x: number; from: number; to: number },
  band: HeightBand,
) {
  const breakY = pin.broken !== null && struckAt ? struckAt.y : Infinity;
  const out = [];
  const endY = Math.max(from, Math.min(to, breakY - 12));
  if (breakY - 12 > from)
    out.push(pathMark("loom-hold", `M${x} ${clampToBand(band, from)}V${clampToBand(band, endY)}`, `hold ${from}`));
  const resumeY = Math.max(from, breakY + 12);
  if (resumeY < to)
    out.push(pathMark("loom-after", `M${x} ${clampToBand(band, resumeY)}V${clampToBand(band, to)}`, `after ${from}`));
  if (pin.released && pin.broken === null && to === holds[holds.length - 1].to)
    out.push(pathMark("loom-hold-cap", `M${x - 6} ${to}h12`, "cap"));
  return out;
}
