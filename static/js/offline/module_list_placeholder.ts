/** In the place of the list, in a file of a run that is drawn on the stage. */

export function createNet(): never {
  throw new Error("this run is drawn on the stage");
}

export const moduleListPictureWithin = createNet;
