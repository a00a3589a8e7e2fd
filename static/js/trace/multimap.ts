/** Maps to lists. */

/** Add a value to a key's list. */
export function addToList<K, T>(map: Map<K, T[]>, key: K, value: T) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** The values with one key together, in the order in which the keys came. */
export function groupBy<K, T>(values: Iterable<T>, keyOf: (value: T) => K): T[][] {
  const groups = new Map<K, T[]>();
  for (const value of values) addToList(groups, keyOf(value), value);
  return [...groups.values()];
}
