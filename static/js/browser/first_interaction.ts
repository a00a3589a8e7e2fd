/** Whether somebody is at the page: a frame that is scrolled past, or a page that a machine fetches, needs less. */

const INTERACTION_EVENTS = ["pointermove", "pointerdown", "keydown"];

/** Do it once, at the reader's first sign. */
export function onFirstInteraction(onInteraction: () => void) {
  function begin() {
    for (const eventType of INTERACTION_EVENTS) removeEventListener(eventType, begin, true);
    onInteraction();
  }
  for (const eventType of INTERACTION_EVENTS) addEventListener(eventType, begin, { capture: true, passive: true });
}
