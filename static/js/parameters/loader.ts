/** The view of parameters until its script has come. */

import { createLazyView } from "../browser/lazy_view.ts";
import type { ParametersView, createParametersView } from "./parameters_view.ts";

/** `prepare` resolves once the view draws at once. */
export function createLazyParameters(
  viewArguments: Parameters<typeof createParametersView>,
  onLoadFailed: () => void,
): ParametersView & { prepare: () => Promise<void> } {
  const { prepare, show } = createLazyView<Parameters<ParametersView["show"]>, ParametersView>(
    async () => (await import("./parameters_view.ts")).createParametersView(...viewArguments),
    onLoadFailed,
  );
  return { prepare, show };
}
