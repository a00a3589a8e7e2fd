/** The ways in which a reader gives the page a file: a button, and dropping it anywhere on the page. */

/**
 * @param {{button: HTMLElement, field: HTMLInputElement}} parts field: of the type file, hidden; button: opens it
 * @param {(files: File[]) => unknown} onFiles
 */
export function startFileOpening({ button, field }, onFiles) {
  button.addEventListener("click", () => field.click());
  field.addEventListener("change", () => {
    const files = [...(field.files ?? [])];
    field.value = ""; // so that the same file can be chosen again
    if (files.length) onFiles(files);
  });

  /** A file is dragged; what is dragged within the page is none of ours. @param {DragEvent} event */
  const hasFiles = ({ dataTransfer }) => Boolean(dataTransfer?.types.includes("Files"));
  /** @param {boolean} on */
  const markDropTarget = (on) => document.body.classList.toggle("file-over", on);
  // before the editor sees them, which would insert the text at the place of the drop
  addEventListener(
    "dragover",
    (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.stopPropagation();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
      markDropTarget(true);
    },
    true,
  );
  addEventListener("dragleave", (event) => event.relatedTarget === null && markDropTarget(false), true);
  addEventListener(
    "drop",
    (event) => {
      markDropTarget(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      event.stopPropagation();
      onFiles([...(event.dataTransfer?.files ?? [])]);
    },
    true,
  );
}
