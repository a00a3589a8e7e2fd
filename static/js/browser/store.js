/** Holds a state that changes through its reducer alone, and tells its listeners of each change. */

/**
 * @template S, A
 * @param {(state: S, action: A) => S} reduce
 * @param {S} state
 * @returns {{state: () => S, dispatch: (action: A) => void, subscribe: (listener: (state: S, before: S) => void) => void}}
 *   dispatch: an action that a listener dispatches is reduced when all listeners have heard of the change before
 */
export function createStore(reduce, state) {
  /** @type {((state: S, before: S) => void)[]} */
  const listeners = [];
  /** @type {A[]} */
  const queue = [];
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

/** Whether any of these fields is another value than before. @template {object} S @param {S} state @param {S | null} before @param {...(keyof S)} fields */
export function differs(state, before, ...fields) {
  return before === null || fields.some((field) => state[field] !== before[field]);
}
