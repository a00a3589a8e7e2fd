/** What may be done about a place where the history of a tensor ends, by why it ends there. */

/** Kinds of fixes, the best first. */
export function fixKindsForGraphCut(reason: string): string[] {
  if (reason === "constant" || reason === "own_backward") return [];
  if (reason === "dtype") return ["use_probability", "cross_entropy"];
  if (reason === "checkpoint") return ["not_reentrant"];
  return [reason === "create_graph" ? "create_graph" : `cut_${reason}`];
}
