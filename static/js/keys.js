/** The keys of the workbench, where no field has them for itself. */

/**
 * @param {{focused: () => boolean}} editor
 * @param {Record<string, () => void>} deeds by key
 * @param {{run: () => void, key: (name: string, shift: boolean) => boolean}} others run: Ctrl or Command with Enter; key: told of what is in no deed, and says whether it was for it
 */
export function startKeys(editor, deeds, { run, key }) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) {
      if (event.key === "Enter" && !event.defaultPrevented) {
        event.preventDefault();
        run();
      }
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
    if (deeds[event.key]) deeds[event.key]();
    else if (key(event.key, event.shiftKey)) event.preventDefault();
  });
}
