/** Holds a state that changes through its reducer alone, and tells its listeners of each change. */

/** An action that a listener dispatches is reduced when all listeners have heard of the change before. */
export function createStore<S, A>(
  reduce: (state: S, action: A) => S,
  state: S,
): { state: () => S; dispatch: (action: A) => void; subscribe: (listener: (state: S, before: S) => void) => void } {
  const listeners: ((state: S, before: S) => void)[] = [];
  const queue: A[] = [];
  let isReducing = false;

  function reduceQueued() {
    for (let action = queue.shift(); action !== undefined; action = queue.shift()) {
      const before = state;
      state = reduce(before, action);
      if (state !== before) for (const listener of listeners) listener(state, before);
    }
  }

  return {
    state: () => state,
    dispatch(action) {
      queue.push(action);
      if (isReducing) return;
      isReducing = true;
      try {
        reduceQueued();
      } finally {
        isReducing = false;
      }
    },
    subscribe(listener) {
      listeners.push(listener);
    },
  };
}

/** Whether any of these fields is another value than before. */
export function hasChangedField<S extends object>(state: S, before: S | null, ...fields: (keyof S)[]) {
  return before === null || fields.some((field) => state[field] !== before[field]);
}
