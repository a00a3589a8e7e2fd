/** A menu that opens without a script, a `<details>`: what the script adds is how it closes, and its arrow keys. */

const PRESSABLE = "a[href], button:not(:disabled), input:not([hidden]), label";

/** The summary opens the menu; pressing something in it closes it, except what has `data-stays`. */
export function startMenu(menu: HTMLDetailsElement) {
  const summary = menu.querySelector("summary") as HTMLElement;

  function close(givesFocusBack: boolean) {
    if (!menu.open) return;
    const hadFocus = menu.contains(document.activeElement);
    menu.open = false;
    if (givesFocusBack && hadFocus) summary.focus();
  }

  /** What can be pressed in the open menu, in order. */
  const items = () =>
    ([...menu.querySelectorAll(":is(a[href], button, input)")] as HTMLElement[]).filter(
      (item) => item !== summary && !item.matches(":disabled") && item.offsetParent !== null,
    );

  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      event.preventDefault();
      event.stopPropagation();
      close(true);
      return;
    }
    const offset = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (offset === undefined || (event.target instanceof HTMLInputElement && event.target.type === "number")) return;
    event.preventDefault();
    event.stopPropagation(); // the arrows are the menu's while the focus is in it
    if (!menu.open) menu.open = true;
    const list = items();
    const at = list.indexOf(event.target as HTMLElement);
    (at + offset < 0 ? summary : list[Math.min(at + offset, list.length - 1)])?.focus();
  });
  // before what is pressed acts: a dialog that it opens gives the focus back to the summary
  menu.addEventListener(
    "click",
    (event) => {
      const pressed = event.target instanceof Element ? event.target.closest(PRESSABLE) : null;
      if (pressed && !pressed.matches("[data-stays], label")) close(true);
    },
    { capture: true },
  );
  document.addEventListener("pointerdown", (event) => {
    const isInside =
      event.target instanceof Element && (menu.contains(event.target) || event.target.closest("[popover]"));
    if (!isInside) close(false);
  });
  menu.addEventListener("focusout", ({ relatedTarget }) => {
    const next = relatedTarget instanceof Element ? relatedTarget : null;
    if (next && !menu.contains(next) && !next.closest("[popover]")) close(false);
  });
  return {
    /** Its summary takes the focus that was in it. */
    close: () => close(true),
  };
}
