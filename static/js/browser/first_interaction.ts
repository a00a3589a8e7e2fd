/** Whether somebody is at the page: a frame that is scrolled past, or a page that a machine fetches, needs less. */

const INTERACTIONS = ["pointermove", "pointerdown", "keydown"];

/** Do it once, at the reader's first sign. */
export function onFirstInteraction(onInteraction: () => void) {
  function begin() {
    for (const eventType of INTERACTIONS) removeEventListener(eventType, begin, true);
    onInteraction();
  }
  for (const eventType of INTERACTIONS) addEventListener(eventType, begin, { capture: true, passive: true });
}
