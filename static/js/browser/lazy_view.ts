/** A view's place on the page until its script has come: fetched when a run opens there, or when it is asked for. */

interface Shown<Shows extends unknown[]> {
  show: (...shown: Shows) => void;
}

/**
 * A view whose script is fetched by `importView` when the view is first shown. `onLoadFailed` is called where the
 * script can't be fetched. `prepare` resolves once the view draws at once; `current` is null until then.
 */
export function createLazyView<Shows extends unknown[], View extends Shown<Shows>>(
  importView: () => Promise<View>,
  onLoadFailed: () => void,
) {
  let view: View | null = null;
  let loading: Promise<void> | null = null;
  /** what to show when it has come */
  let wanted: Shows | null = null;

  async function load() {
    const made = await importView().catch(() => null);
    if (!made) {
      loading = null; // the next one who asks tries again
      if (wanted) onLoadFailed();
      return;
    }
    view = made;
    if (wanted) view.show(...wanted);
  }

  function prepare() {
    loading ??= load();
    return loading;
  }

  return {
    prepare,
    show(...shown: Shows) {
      wanted = shown;
      if (view) view.show(...shown);
      else void prepare();
    },
    current: () => view,
  };
}
