/** The ways in which a reader gives the page a file: a button, and dropping it anywhere on the page. */

/** `field` is of the type file, and hidden; `button` opens it. */
export function startFileButtonAndDrop(
  { button, field }: { button: HTMLElement; field: HTMLInputElement },
  onFiles: (files: File[]) => unknown,
) {
  button.addEventListener("click", () => field.click());
  field.addEventListener("change", () => {
    const files = [...(field.files ?? [])];
    field.value = ""; // so that the same file can be chosen again
    if (files.length) onFiles(files);
  });

  /** A file is dragged; what is dragged within the page is none of ours. */
  const hasFiles = ({ dataTransfer }: DragEvent) => Boolean(dataTransfer?.types.includes("Files"));
  const markDropTarget = (on: boolean) => document.body.classList.toggle("file-over", on);
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
