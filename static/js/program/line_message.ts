/** A message about a line of the program: what it says, and the repairs that it offers. */

export interface RepairOffer {
  why: string;
  label: string;
  /** what the reader may change before */
  shape?: string;
  shapeLabel: string;
  run: (shape?: string) => void;
}

export interface LineMessage {
  line: number;
  kind: "error" | "notice" | "output";
  text: string;
  offers?: RepairOffer[];
  /** at the end of the line, not under it */
  inline?: boolean;
  /** the line alone is marked */
  lineOnly?: boolean;
  /** draws what `text` stands for */
  render?: () => HTMLElement;
  /** the text in plain words */
  gloss?: string;
}
