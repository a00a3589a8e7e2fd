/** Whether somebody is at the page: a frame that is scrolled past, or a page that a machine fetches, needs less. */

const INTERACTIONS = ["pointermove", "pointerdown", "keydown"];

/** Do it once, at the reader's first sign. @param {() => void} work */
export function onFirstInteraction(work) {
  function begin() {
    for (const sign of INTERACTIONS) removeEventListener(sign, begin, true);
    work();
  }
  for (const sign of INTERACTIONS) addEventListener(sign, begin, { capture: true, passive: true });
}
