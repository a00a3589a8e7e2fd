/** Traces on their way from one page of this browser to the next: kept until that page takes them, and then no longer. */

const DATABASE = "gradbox-opened";
const OBJECT_STORE = "traces";

export interface HandedTraces {
  name: string;
  texts: string[];
  /** which of the texts */
  shown: number;
}

/** @returns rejects where the browser keeps nothing */
export async function storeForNextPage(traces: HandedTraces): Promise<void> {
  const database = await openDatabase();
  await resultOf(database.transaction(OBJECT_STORE, "readwrite").objectStore(OBJECT_STORE).put(traces, "handed"));
  database.close();
}

/** What was handed over, which is forgotten with that. @returns null where there is nothing */
export async function takeHandedTraces(): Promise<HandedTraces | null> {
  try {
    const database = await openDatabase();
    const store = database.transaction(OBJECT_STORE, "readwrite").objectStore(OBJECT_STORE);
    const traces = await resultOf(store.get("handed"));
    await resultOf(store.delete("handed"));
    database.close();
    return traces ?? null;
  } catch {
    return null;
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(OBJECT_STORE);
  return resultOf(request);
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
