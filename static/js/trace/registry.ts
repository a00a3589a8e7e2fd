/** The table of events: `npm run types` writes this from gradbox/wire/events.py, which says what the fields mean. */

interface EventRow {
  severity: "error" | "warning" | "note" | "info";
  observed?: boolean;
  sentence?: string;
  mark?: string;
  state?: string;
  opening?: number;
  in_visits?: boolean;
  implied?: boolean;
  /** the fields that hold a uid */
  refs: string[];
}

/** by the event's name; a newer trace may hold others */
export const EVENTS: Record<string, EventRow | undefined> = {
  storage_allocated: { severity: "info", observed: true, in_visits: true, implied: true, refs: ["storage"] },
  storage_freed: { severity: "info", observed: true, in_visits: true, implied: true, refs: ["storage"] },
  written: { severity: "note", observed: true, sentence: "written", mark: "written", opening: 3, refs: ["storage","by"] },
  version_bumped: { severity: "info", observed: true, sentence: "bumped", refs: ["counter"] },
  saved: { severity: "info", observed: true, sentence: "saved", implied: true, refs: ["node"] },
  saved_stale: { severity: "error", observed: true, sentence: "stale", mark: "broken", state: "stale", opening: 2, in_visits: true, refs: ["node","by"] },
  saved_changed_silently: { severity: "error", observed: true, sentence: "silent", mark: "broken", state: "changed", opening: 1, in_visits: true, refs: ["node","by"] },
  saved_detached: { severity: "error", observed: true, sentence: "detached", mark: "broken", state: "detached", in_visits: true, refs: ["node","by"] },
  path_cut: { severity: "warning", observed: true, sentence: "cut_{reason}", mark: "cut", opening: 4, in_visits: true, refs: ["tensor","result"] },
  graph_released: { severity: "info", observed: true, sentence: "released", in_visits: true, refs: ["node"] },
  grad_accumulated: { severity: "note", in_visits: true, refs: ["tensor","grad"] },
  optimizer_stepped: { severity: "info", in_visits: true, refs: ["optimizer"] },
  module_called: { severity: "info", in_visits: true, refs: ["module","inputs"] },
  module_returned: { severity: "info", in_visits: true, refs: ["outputs"] },
  layer_mode: { severity: "info", in_visits: true, refs: [] },
  hook_ran: { severity: "note", sentence: "hook_{hook}", in_visits: true, refs: ["tensor","node"] },
  hook_left: { severity: "warning", observed: true, sentence: "hook_left", in_visits: true, refs: ["tensor","node"] },
  context_kept: { severity: "info", observed: true, sentence: "context_kept", in_visits: true, refs: ["node","tensor"] },
  index_copy_written: { severity: "warning", sentence: "index_copy_written", in_visits: true, refs: ["tensor","copy"] },
  indices_repeated: { severity: "note", sentence: "indices_repeated", in_visits: true, refs: ["tensor"] },
  function_checked: { severity: "note", in_visits: true, refs: [] },
  uninitialized_read: { severity: "warning", sentence: "uninitialized", in_visits: true, refs: ["tensor"] },
  raised: { severity: "note", sentence: "exception_raised", in_visits: true, refs: [] },
  warning: { severity: "warning", sentence: "warning", in_visits: true, refs: [] },
  replaced: { severity: "note", sentence: "replaced_{what}", in_visits: true, refs: [] },
  tracing_taken: { severity: "warning", sentence: "tracing_taken", in_visits: true, refs: [] },
  limit: { severity: "error", sentence: "limit", in_visits: true, refs: [] },
  contents_summarized: { severity: "note", sentence: "contents_summarized", in_visits: true, refs: [] },
  backward_unrecorded: { severity: "note", sentence: "backward_unrecorded", in_visits: true, refs: [] },
  tracer_fault: { severity: "error", sentence: "fault", in_visits: true, refs: [] },
};
