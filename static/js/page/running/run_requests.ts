/** What the cards over the picture ask the server of the run that is shown: to check its gradients, to try fixes. */

import { comparisonAddress } from "../../page_state/comparison_address.ts";
import { checkGradients, type CheckGradients } from "../../requests/gradient_check.ts";
import { tryFixes } from "../../requests/fixes.ts";
import { textAfterFix } from "../../program/repair.ts";
import type { PageHost } from "../page_host.ts";
import type { FixActions } from "../../explain/fix_list.ts";
import type { CheckPanelLoader } from "../../explain/check_panel.ts";

export function createRunRequests({ state, dispatch }: Pick<PageHost, "state" | "dispatch">): {
  loadCheckPanel: CheckPanelLoader;
  fixes: FixActions;
} {
  /** The program as it was run. */
  function shownProgram() {
    const { opened, settings } = state();
    const { source, pasted } = opened?.trace.program ?? { source: "" };
    return { source: pasted ?? source, ...settings };
  }

  return {
    async loadCheckPanel() {
      const { gradientCheckPanel } = await import("../../explain/gradient_check_panel.ts");
      const check: CheckGradients = (backward, choice) => checkGradients(shownProgram(), backward, choice);
      return (question) => gradientCheckPanel({ ...question, check });
    },
    fixes: {
      attempt: (finding, signal) =>
        tryFixes({ ...shownProgram(), language: document.documentElement.lang }, finding, signal),
      apply: (edits) => dispatch({ type: "fixApplied", edits }),
      compareAddress(edits) {
        const source = state().opened?.trace.program.source ?? "";
        return comparisonAddress(source, textAfterFix({ source }, edits));
      },
    },
  };
}
