// SPDX-License-Identifier: MIT
// The official TypeScript SDK's client against the real program. usage: HERMES_REPL=PROGRAM node test.mjs [NAME...]
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ErrorCode, LATEST_PROTOCOL_VERSION, ResultSchema } from "@modelcontextprotocol/sdk/types.js";

const program = process.env.HERMES_REPL;
const slow = Number(process.env.CK_TIMEOUT_MULTIPLIER || "1") || 1; // sanitizers
const limit = 60000 * slow;
// Processes of a kernel: with the guard, or Python alone.
const kernel = fs.existsSync(path.join(path.dirname(program), "hermes-kernel-guard")) ? 2 : 1;
const work = fs.mkdtempSync(path.join(os.tmpdir(), "hermes-mcp-"));

// ---- helpers ----

async function connect() {
  const args = ["--mcp", "--cwd", work];
  if (process.env.TEST_PYTHON) args.push("--python", process.env.TEST_PYTHON);
  const env = { ...process.env, HOME: work, XDG_CONFIG_HOME: path.join(work, "config"), MCP_TEST_SECRET: "s3cret" };
  const transport = new StdioClientTransport({ command: program, args, env, stderr: "pipe" });
  const server = { transport, stderr: "", version: undefined, errors: [] };
  transport.stderr.on("data", (data) => (server.stderr += data));
  transport.setProtocolVersion = (version) => (server.version = version);
  server.client = new Client({ name: "hermes-test", version: "1" });
  server.client.onerror = (error) => server.errors.push(error);
  await server.client.connect(transport);
  server.pid = transport.pid;
  server.run = async (code, more = {}, options = {}) => {
    const answer = await server.client.callTool({ name: "execute_code", arguments: { code, ...more } }, undefined,
      { timeout: limit, ...options });
    assert.equal(answer.content.length, 1);
    assert.deepEqual(JSON.parse(answer.content[0].text), answer.structuredContent);
    assert.equal(answer.isError, answer.structuredContent.status !== "success");
    return answer.structuredContent;
  };
  server.call = (name, args = {}) => server.client.callTool({ name, arguments: args }, undefined, { timeout: limit });
  return server;
}

function stat(pid) { // [state, parent, start time]
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return [fields[0], Number(fields[1]), fields[19]];
  } catch {
    return null;
  }
}

// The process and all that it has started: those that live, by pid and start time.
function tree(pid) {
  const all = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
  const found = [pid];
  for (const one of found) found.push(...all.filter((other) => stat(other)?.[1] === one));
  return found.map((one) => [one, stat(one)?.[2]]).filter(([, start]) => start);
}

const lives = ([pid, start]) => {
  const now = stat(pid);
  return now !== null && now[2] === start && now[0] !== "Z";
};

async function until(condition, what) {
  const end = Date.now() + limit;
  while (!condition()) {
    assert.ok(Date.now() < end, `no ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const file = (name) => path.join(work, name);
// Python that waits for a file, so that a test, not a clock, decides when a cell goes on.
const wait = (name) => `
import os, time
while not os.path.exists(${JSON.stringify(file(name))}):
    time.sleep(0.005)
`;
const text = (answer) => answer.content[0].text;

// ---- tests: each gets a server of its own ----

const tests = {
  async initialize(server) {
    assert.equal(server.version, LATEST_PROTOCOL_VERSION);
    assert.equal(server.client.getServerVersion().name, "hermes-repl");
    assert.match(server.client.getServerVersion().version, /^\d+\.\d+\.\d+/);
    assert.ok(server.client.getServerCapabilities().tools);
    assert.match(server.client.getInstructions(), /execute_code/);
    assert.deepEqual(await server.client.ping(), {});
  },

  async list(server) {
    const { tools } = await server.client.listTools();
    assert.deepEqual(tools.map((tool) => tool.name), ["execute_code", "list_sessions", "clear_session", "interrupt"]);
    assert.match(tools[0].description, /persistent session kernel/);
    assert.deepEqual(Object.keys(tools[0].inputSchema.properties), ["code", "reset", "session", "timeout"]);
    assert.deepEqual(tools[0].inputSchema.required, ["code"]);
    for (const tool of tools) assert.ok(tool.description && tool.title && tool.annotations);
  },

  async state(server) {
    const first = await server.run("import sys\nx = 41\nprint('ä€🐍')");
    assert.equal(first.output, "ä€🐍\n");
    assert.equal(first.kernel.reused, false);
    const second = await server.run("x += 1\nprint(x)");
    assert.equal(second.output, "42\n");
    assert.equal(second.kernel.reused, true);
    assert.equal(second.kernel.execution_count, 2);
    const sessions = JSON.parse(text(await server.call("list_sessions"))).sessions;
    assert.deepEqual(sessions.map((session) => [session.session, session.execution_count]), [["default", 2]]);
    const fresh = await server.run("print('x' in globals())", { reset: true });
    assert.equal(fresh.output, "False\n");
    assert.equal(fresh.kernel.previous, "reset");
  },

  async defaults(server) { // of an agent, not of a person at a terminal
    const result = await server.run("import os, sys\nprint(os.environ.get('MCP_TEST_SECRET'), os.getcwd())\nprint(sys.stdin.read())");
    assert.equal(result.output, `None ${fs.realpathSync(work)}\n\n`);
    const tools = await server.run("from hermes_tools import terminal");
    assert.equal(tools.status, "error");
  },

  async errors(server) {
    await server.run("y = 1");
    const result = await server.run("y = 2\nundefined_name");
    assert.equal(result.status, "error");
    assert.match(result.error, /NameError: name 'undefined_name'/);
    assert.equal((await server.run("print(y)")).output, "2\n");
    const exit = await server.run("import sys; sys.exit(3)");
    assert.deepEqual([exit.status, exit.exit_code, exit.kernel.ended], ["error", 3, true]);
    assert.equal((await server.run("print('y' in globals())")).output, "False\n");
  },

  async bad_input(server) {
    for (const [args, pattern] of [[{ command: "ls" }, /'command' parameter/], [{ code: 7 }, /Python source as a string/],
      [{ code: " " }, /non-empty 'code' parameter/], [{ code: "1", sesion: "a" }, /no 'sesion' parameter/],
      [{ code: "1", session: "a::b" }, /'session' must be/]]) {
      const answer = await server.call("execute_code", args);
      assert.equal(answer.isError, true);
      assert.match(answer.structuredContent.error, pattern);
    }
    await assert.rejects(server.call("no_such_tool"), { code: ErrorCode.InvalidParams });
    await assert.rejects(server.client.request({ method: "resources/list" }, ResultSchema), { code: ErrorCode.MethodNotFound });
    assert.equal((await server.run("print('still here')")).output, "still here\n");
  },

  async timeout(server) {
    await server.run("x = 1");
    const result = await server.run("import time\nprint('begun', flush=True)\ntime.sleep(1000)", { timeout: 0.5 });
    assert.equal(result.status, "timeout");
    assert.match(result.output, /begun/);
    assert.match(result.error, /state was lost/);
    const next = await server.run("print('x' in globals())");
    assert.equal(next.output, "False\n");
    assert.equal(next.kernel.previous, "timeout");
  },

  async cancellation(server) {
    await server.run("kept = 'kept'");
    const abort = new AbortController();
    const call = server.run("import time\nprint('begun', flush=True)\ntime.sleep(1000)", {},
      { signal: abort.signal, onprogress: () => abort.abort("enough") });
    await assert.rejects(call, /enough/);
    const next = await server.run("print(kept)");
    assert.equal(next.output, "kept\n");
    assert.deepEqual([next.kernel.execution_count, next.kernel.generation], [3, 1]);
    assert.deepEqual(server.errors, []); // no answer came for the cancelled call
  },

  async progress(server) {
    const seen = [];
    const result = await server.run(`print('\\x1b[32mone\\x1b[0m', flush=True)${wait("go")}print('two')${wait("on")}`, {}, {
      onprogress: (progress) => { // the cell waits for this
        seen.push(progress);
        if (progress.message.includes("one")) fs.writeFileSync(file("go"), "");
        if (progress.message.includes("two")) fs.writeFileSync(file("on"), "");
      },
    });
    assert.equal(result.output, "one\ntwo\n");
    assert.equal(seen.map((progress) => progress.message).join(""), "one\ntwo\n");
    assert.ok(seen.length === 2 && seen[1].progress > seen[0].progress);
  },

  async flood(server) {
    let count = 0, bytes = 0;
    const result = await server.run("for i in range(300000): print('line', i)", {}, {
      onprogress: (progress) => {
        count++;
        bytes += progress.message.length;
      },
    });
    assert.equal(result.status, "success");
    assert.ok(result.stdout_truncated && result.stdout_bytes_total > 3000000);
    assert.ok(count > 0 && bytes < count * 17000, `${count} notifications, ${bytes} bytes`);
  },

  async concurrent_sessions(server) { // each waits for the other
    const meet = (mine, other) => `open(${JSON.stringify(file(mine))}, "w").close()${wait(other)}print("met")`;
    const results = await Promise.all([server.run(meet("a", "b"), { session: "a" }), server.run(meet("b", "a"), { session: "b" })]);
    assert.deepEqual(results.map((result) => result.output), ["met\n", "met\n"]);
    const { sessions } = (await server.call("list_sessions")).structuredContent;
    assert.deepEqual(sessions.map((session) => session.session).sort(), ["a", "b"]);
  },

  async one_session_in_order(server) {
    const order = [];
    const run = (name, code, more) => server.run(code, more).then((result) => order.push([name, result.output]));
    await Promise.all([
      run("first", `n = [1]${wait("first")}`),
      run("second", "n.append(2); print(n)"),
      run("reset", `print('n' in globals()); n = []${wait("second")}`, { reset: true }),
      run("third", "n.append(3); print(n)"),
      server.client.ping().then(() => { // all of them have arrived
        fs.writeFileSync(file("first"), "");
        fs.writeFileSync(file("second"), "");
      }),
    ]);
    assert.deepEqual(order, [["first", ""], ["second", "[1, 2]\n"], ["reset", "False\n"], ["third", "[3]\n"]]);
  },

  async interrupt(server) {
    await server.run("kept = 1");
    let begun = false;
    const call = server.run("import time\nprint('begun', flush=True)\ntime.sleep(1000)", {}, { onprogress: () => (begun = true) });
    await until(() => begun, "progress");
    assert.equal((await server.call("interrupt")).structuredContent.interrupted, true);
    const result = await call;
    assert.deepEqual([result.status, result.kernel.state_kept], ["interrupted", true]);
    assert.equal((await server.run("print(kept)")).output, "1\n");
    assert.equal((await server.call("interrupt", { session: "none" })).structuredContent.interrupted, false);
  },

  async clear(server) {
    await server.run("import subprocess; child = subprocess.Popen(['sleep', '1000'])", { session: "s" });
    await server.run("x = 1", { session: "other" });
    let begun = false;
    const running = server.run("print('begun', flush=True)\nimport time; time.sleep(1000)", { session: "s" },
      { onprogress: () => (begun = true) });
    const waiting = server.run("print('never')", { session: "s" });
    const held = server.run("print('never')", { session: "s", reset: true });
    await until(() => begun, "progress");
    const before = tree(server.pid);
    const [cleared, after] = await Promise.all([server.call("clear_session", { session: "s" }),
      server.run("print('child' in globals())", { session: "s" })]);
    assert.deepEqual(cleared.structuredContent, { session: "s", cleared: true });
    assert.equal((await running).status, "interrupted");
    for (const call of [waiting, held]) assert.match((await call).error, /^Not run: the session was cleared/);
    assert.equal(after.output, "False\n");
    assert.equal(before.filter(lives).length, 1 + kernel); // the server and the other session
    assert.equal((await server.run("print(x)", { session: "other" })).output, "1\n");
  },

  async end_of_input(server) {
    await server.run(`import atexit, subprocess
child = subprocess.Popen(['sleep', '1000'], start_new_session=True)
atexit.register(lambda: open(${JSON.stringify(file("left"))}, 'w').close())`);
    await server.run("pass", { session: "second" });
    const processes = tree(server.pid);
    assert.equal(processes.length, 1 + 2 * kernel + 1);
    const begun = Date.now();
    let status;
    server.transport._process.on("exit", (code, signal) => (status = [code, signal]));
    await server.client.close();
    assert.ok(Date.now() - begun < 1900 * slow, "it took until the SDK lost its patience");
    assert.deepEqual(status, [0, null]);
    assert.ok(fs.existsSync(file("left")), "atexit was not run");
    await until(() => !processes.some(lives), "end of all processes");
  },
};

// ---- run them ----

let passed = 0, failed = 0;
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(tests);
for (const name of names) {
  const begun = Date.now();
  let server, timer;
  try {
    server = await connect();
    const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error("takes too long")), 2 * limit)));
    await Promise.race([tests[name](server), late]);
    const processes = tree(server.pid);
    await server.client.close();
    await until(() => !processes.some(lives), "end of all processes");
    assert.equal(server.stderr, "");
    passed++;
    console.log(`ok     ${name} (${Date.now() - begun} ms)`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}: ${error.stack}\n${server ? server.stderr : ""}`);
    await server?.client.close().catch(() => {});
  }
  clearTimeout(timer);
  for (const entry of fs.readdirSync(work)) fs.rmSync(path.join(work, entry), { recursive: true });
}
fs.rmSync(work, { recursive: true });
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
