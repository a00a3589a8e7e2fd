/** Maps to lists. */

/** Add a value to a key's list. */
export function addToList<K, T>(map: Map<K, T[]>, key: K, value: T) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
