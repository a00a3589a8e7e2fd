/** What makes the panel that checks gradients: it is fetched when there is something to check. */

import type { GradientCheckSubject } from "./gradient_check_panel.ts";

export type CreateCheckPanel = (question: Omit<GradientCheckSubject, "check">) => HTMLElement;
export type CheckPanelLoader = () => Promise<CreateCheckPanel>;
