/** Traces on their way from one page of this browser to the next: kept until that page takes them, and then no longer. */

const DATABASE = "gradbox-opened";
const STORE = "traces";

/** @typedef {{name: string, texts: string[], shown: number}} Handed   shown: which of the texts */

/** @param {Handed} traces @returns {Promise<void>} rejects where the browser keeps nothing */
export async function handOver(traces) {
  const database = await open();
  await done(database.transaction(STORE, "readwrite").objectStore(STORE).put(traces, "handed"));
  database.close();
}

/** What was handed over, which is forgotten with that. @returns {Promise<Handed | null>} null where there is nothing */
export async function takeOver() {
  try {
    const database = await open();
    const store = database.transaction(STORE, "readwrite").objectStore(STORE);
    const traces = await done(store.get("handed"));
    await done(store.delete("handed"));
    database.close();
    return traces ?? null;
  } catch {
    return null;
  }
}

/** @returns {Promise<IDBDatabase>} */
function open() {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(STORE);
  return done(request);
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
