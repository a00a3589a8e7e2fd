/** Calls functions of the page for tests: each line of stdin is JSON of a module of `tests` and arguments, each line of stdout
 * what its default export returns for them, or why it threw. */

let pending = [];

async function answer(request) {
  try {
    const { module, values } = JSON.parse(request);
    const { default: call } = await import(`../${module}.mjs`);
    return { value: call(...values) ?? null };
  } catch (error) {
    return { thrown: error.stack ?? String(error) };
  }
}

for await (const chunk of process.stdin) {
  let rest = chunk;
  for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
    const request = Buffer.concat([...pending, rest.subarray(0, end)]).toString();
    process.stdout.write(`${JSON.stringify(await answer(request))}\n`);
    pending = [];
    rest = rest.subarray(end + 1);
  }
  if (rest.length) pending.push(rest);
}
