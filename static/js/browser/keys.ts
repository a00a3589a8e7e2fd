/** The page's keyboard shortcuts; a key that is typed into a field stays the field's. */

interface KeyHandlers {
  /** Ctrl or Command with Enter */
  run: () => void;
  /** called with a key that is no shortcut */
  key: (name: string, shift: boolean) => boolean;
  /** with one that is pressed with Ctrl or Command; both return whether it was handled */
  letter?: (name: string) => boolean;
}

export function startKeyboardShortcuts(
  editor: { focused: () => boolean },
  shortcuts: Record<string, () => void>,
  { run, key, letter }: KeyHandlers,
) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) {
      if (event.key === "Enter" && !event.defaultPrevented) {
        event.preventDefault();
        run();
      } else if (!event.defaultPrevented && !event.altKey && !event.shiftKey && letter?.(event.key.toLowerCase()))
        event.preventDefault();
      return;
    }
    const target = event.target instanceof HTMLElement ? event.target : null;
    if (
      event.altKey ||
      editor.focused() ||
      target?.closest("input:not([type=range]), textarea, [contenteditable=true]")
    )
      return;
    if (target?.closest("button, a") && event.key === " ") return;
    if (target?.id === "slider" && event.key !== " ") return;
    if (shortcuts[event.key]) shortcuts[event.key]();
    else if (key(event.key, event.shiftKey)) event.preventDefault();
  });
}
