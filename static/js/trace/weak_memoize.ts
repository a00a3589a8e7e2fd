/** A function that computes each answer once and keeps it for as long as the object lives that it was asked about. */
export function weakMemoize<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const answers = new WeakMap<Key, { value: Value }>();
  return (key) => {
    let answer = answers.get(key);
    if (!answer) {
      answer = { value: compute(key) };
      answers.set(key, answer);
    }
    return answer.value;
  };
}
