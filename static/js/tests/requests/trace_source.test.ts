/** Fetching a trace, from a server that answers, fails, or is away. */

import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import { test } from "node:test";
import { loadTrace, problemOfResponse, problemInResponseText, TraceRequestError } from "../../requests/trace_source.ts";
import type { AddressInfo } from "node:net";

/** Serves one answer for each request, in order. */
async function served(
  answers: ((response: ServerResponse) => void)[],
  work: (url: string, requests: () => number) => Promise<void>,
) {
  let requests = 0;
  const server = createServer((_, response) => answers[requests++](response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  const { port } = server.address() as AddressInfo;
  try {
    await work(`http://127.0.0.1:${port}/trace`, () => requests);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

// on a busy machine a connection that stays open may be closed just as it is used again
const answer = (status: number, body: string) => (response: ServerResponse) =>
  response.writeHead(status, { Connection: "close" }).end(body);
const cut = (response: ServerResponse) => response.destroy();
const trace = answer(200, '{"steps":[]}');

test("a trace is fetched once", () =>
  served([trace], async (url, requests) => {
    assert.deepEqual(await loadTrace(url), { steps: [] });
    assert.equal(requests(), 1);
  }));

test("a connection that breaks and a server that fails are tried again", async () => {
  for (const failed of [cut, answer(503, "<html>")])
    await served([failed, trace], async (url) => assert.deepEqual(await loadTrace(url), { steps: [] }));
});

test("a page in place of a trace is tried again, then an error", async () => {
  const page = answer(200, "<html>");
  await served([page, trace], async (url) => assert.deepEqual(await loadTrace(url), { steps: [] }));
  await served([page, page], (url) => assert.rejects(loadTrace(url), TraceRequestError));
});

test("what stays away is an error without a status", () =>
  served([cut, cut], async (url) => {
    await assert.rejects(loadTrace(url), (error) => error instanceof TraceRequestError && error.status === 0);
  }));

test("an answer that is no trace is not asked for again", () =>
  served([answer(404, '{"error":{"code":"no_run","message":"there is no such run"}}')], async (url, requests) => {
    await assert.rejects(
      loadTrace(url),
      (error) => error instanceof TraceRequestError && error.status === 404 && error.problem.code === "no_run",
    );
    assert.equal(requests(), 1);
  }));

test("nobody waits for a fetch that was given up", () =>
  served([() => {}], async (url) => {
    const giveUp = new AbortController();
    const loading = loadTrace(url, giveUp.signal);
    giveUp.abort();
    await assert.rejects(loading, { name: "AbortError" });
  }));

test("each failure has its sentence", () => {
  const problem = { code: "limited", message: "no", retry_after: 2.2 };
  assert.deepEqual(problemOfResponse(0, problem), { key: "error_network" });
  assert.deepEqual(problemOfResponse(401, problem), { key: "error_signed_out" });
  assert.deepEqual(problemOfResponse(429, problem), { key: "error_limited", args: { seconds: 3 } });
  assert.deepEqual(problemOfResponse(429, { ...problem, code: "busy" }), { key: "error_busy", args: { seconds: 3 } });
  assert.deepEqual(problemOfResponse(500, problem), { key: "error_server", args: { message: "no" } });
});

test("a proxy's page says nothing but its status", () => {
  assert.deepEqual(problemInResponseText(502, "<html>"), { code: "", message: "502" });
  assert.deepEqual(problemInResponseText(502, "{}"), { code: "", message: "502" });
});
