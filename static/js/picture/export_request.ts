/** What the server asks of a stored trace, or of two that it compares. */

export interface ExportRequest {
  kind:
    | "stage"
    | "loom"
    | "card"
    | "thumbnail"
    | "still"
    | "file"
    | "series_file"
    | "findings"
    | "summary"
    | "looked_for"
    | "reading"
    | "tables"
    | "film"
    | "film_frames"
    | "markdown"
    | ComparisonKind;
  /** null is the one that a reader would be shown first */
  step: number | null;
  title: string;
  /** note, address: of the offline file, empty where there is none */
  note: string;
  address: string;
  theme: "light" | "dark";
  language: string;
  tallest: number;
  /** body, style, script, nonce: the offline file's */
  body: string;
  style: string;
  script: string;
  nonce: string;
}

export type ComparisonKind = "comparison" | "comparison_picture" | "comparison_file";
