/** Maps to lists. */

/** Add a value to a key's list. @template K, T @param {Map<K, T[]>} map @param {K} key @param {T} value */
export function addToList(map, key, value) {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
