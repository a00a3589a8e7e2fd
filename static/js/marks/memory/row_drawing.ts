/** What every part of a row of the memory pane is drawn from. */

import type { MemoryColumns } from "../../layout/memory/memory_columns.ts";
import type { RowItem, RowLayout } from "../../layout/memory/memory_parts.ts";
import type { RenderContext } from "../render_context.ts";

export interface RowDrawing {
  facts: RenderContext;
  item: RowItem;
  layout: RowLayout;
  columns: MemoryColumns;
  /** with cards */
  open: boolean;
}
