/** A text as its room allows: smaller, in a shorter form, with its letters closer; cut only where none of that fits. */

import { truncateText } from "../../trace/format.ts";
import { CHARACTER_WIDTH_EM, FONT_SIZES, textWidth } from "./metrics.ts";

export interface FittedText {
  text: string;
  size: number;
  /** between letters, in pixels; null as usual */
  spacing: number | null;
}

/** Letters that are closer than this run into each other. */
const MAX_SQUEEZE_EM = 0.1;

/** `forms` say the same, the shortest last; `largest` is the size of letters where there is room. */
export function fittedText(forms: string[], room: number, largest: number = FONT_SIZES.small): FittedText {
  const fitted = forms.map((text) => {
    const size = Math.max(FONT_SIZES.small, Math.min(largest, Math.floor((room / textWidth(text, 1)) * 10) / 10));
    const excess = textWidth(text, size) - room;
    return { text, size, spacing: excess > 0 ? -Math.ceil((excess / Math.max(1, text.length - 1)) * 100) / 100 : null };
  });
  const isReadable = ({ size, spacing }: FittedText) => -(spacing ?? 0) <= MAX_SQUEEZE_EM * size;
  const found = fitted.find(({ spacing }) => spacing === null) ?? fitted.find(isReadable);
  if (found) return found;
  const most = Math.max(2, Math.floor(room / (CHARACTER_WIDTH_EM * FONT_SIZES.small) + 0.02));
  return { text: truncateText(forms[forms.length - 1] ?? "", most), size: FONT_SIZES.small, spacing: null };
}
