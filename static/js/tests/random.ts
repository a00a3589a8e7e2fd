/** Numbers for tests that try many cases: the same each time. */

/** Returns the function that gives the next number, from 0 to less than 1. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}
