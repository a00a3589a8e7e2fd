/**
 * On a small screen the code is folded to three lines around the step's: a tap or the focus opens it, a run folds it.
 */

/**
 * `host` of the code wears `folded`, which a narrow screen's styles heed. `onChange` is called after it has another
 * height.
 */
export function startCodeFold(
  host: HTMLElement,
  button: HTMLElement,
  onChange: () => void,
): { fold: () => void; unfold: () => void } {
  const narrowQuery = matchMedia("(max-width: 860px)");
  let isTouchPress = false;

  function setFolded(folded: boolean) {
    if (host.classList.contains("folded") === folded) return;
    host.classList.toggle("folded", folded);
    button.setAttribute("aria-expanded", String(!folded));
    onChange();
  }

  button.addEventListener("click", () => setFolded(!host.classList.contains("folded")));
  host.addEventListener("focusin", () => isTouchPress || setFolded(false));
  host.addEventListener(
    "pointerdown",
    ({ pointerType }) => {
      isTouchPress = pointerType === "touch" && host.classList.contains("folded") && narrowQuery.matches;
    },
    { capture: true },
  );
  host.addEventListener(
    "mousedown",
    (event) => {
      if (!isTouchPress) return; // a mouse's click opens it by the focus that it gives
      isTouchPress = false;
      event.preventDefault(); // the first tap is for reading: no keyboard comes up
      event.stopPropagation();
      setFolded(false);
    },
    { capture: true },
  );
  return { fold: () => setFolded(true), unfold: () => setFolded(false) };
}
