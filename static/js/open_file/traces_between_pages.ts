/**
 * Traces on their way from one page of this browser to the next: kept until that page takes them, and then no longer.
 */

const DATABASE_NAME = "gradbox-opened";
const OBJECT_STORE_NAME = "traces";

export interface TracesFromPreviousPage {
  name: string;
  texts: string[];
  /** which of the texts */
  shown: number;
}

/** Rejects where the browser keeps nothing. */
export async function storeTracesForNextPage(traces: TracesFromPreviousPage): Promise<void> {
  const database = await openDatabase();
  await resultOfDatabaseRequest(
    database.transaction(OBJECT_STORE_NAME, "readwrite").objectStore(OBJECT_STORE_NAME).put(traces, "handed"),
  );
  database.close();
}

/** What was handed over, which is forgotten with that; null where there is nothing. */
export async function takeTracesFromPreviousPage(): Promise<TracesFromPreviousPage | null> {
  try {
    const database = await openDatabase();
    const store = database.transaction(OBJECT_STORE_NAME, "readwrite").objectStore(OBJECT_STORE_NAME);
    const traces = await resultOfDatabaseRequest(store.get("handed"));
    await resultOfDatabaseRequest(store.delete("handed"));
    database.close();
    return traces ?? null;
  } catch {
    return null;
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE_NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(OBJECT_STORE_NAME);
  return resultOfDatabaseRequest(request);
}

function resultOfDatabaseRequest<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
