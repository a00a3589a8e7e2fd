/** In the place of the stage, in a file of a run that is drawn as a list. */

import type { createStage as createDrawnStage } from "../stage/stage.ts";

const doNothing = () => {};

export const createStage: typeof createDrawnStage = () => ({
  show: doNothing,
  select: doNothing,
  tell: doNothing,
  highlight: doNothing,
  markOutdated: doNothing,
  showElements: doNothing,
  zoom: doNothing,
  toggleFit: doNothing,
  toggled: () => new Set(),
});
