/** What the server asks of a stored trace, or of two that it compares. */

export interface ExportRequest {
  kind:
    | "stage"
    | "loom"
    | "card"
    | "thumbnail"
    | "still"
    | "file"
    | "answers"
    | "series_file"
    | "findings"
    | "summary"
    | "looked_for"
    | "reading"
    | "tables"
    | "film"
    | "film_frames"
    | "markdown"
    | "headline"
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
  /** body, parts, nonce: the offline file's; script and style for each thing that a file may hold */
  body: string;
  parts: Record<OfflineContent, { script: string; style: string }>;
  nonce: string;
}

/** a run with one picture, several runs, or two beside each other */
export type OfflineContent = "list" | "stage" | "series" | "compare";

export type ComparisonKind = "comparison" | "comparison_picture" | "comparison_file";
