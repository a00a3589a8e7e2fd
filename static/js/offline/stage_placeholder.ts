/** In the place of the stage, in a file of a run that is drawn as a list. */

import type { createStage as createDrawnStage } from "../stage/stage.ts";

const nothing = () => {};

export const createStage: typeof createDrawnStage = () => ({
  show: nothing,
  select: nothing,
  tell: nothing,
  highlight: nothing,
  markOutdated: nothing,
  showElements: nothing,
  zoom: nothing,
  toggleFit: nothing,
  toggled: () => new Set(),
});
