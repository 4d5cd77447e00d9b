// A small client of the Slipway daemon on vscode-jsonrpc: Content-Length headers,
// as in the Language Server Protocol.
//
//   node client.js ROOT GOAL
//
// It starts a Run in the worktree ROOT, follows it, and plays the host until the
// Run has ended. Every event is printed as one line of JSON, the end as another
// one. The daemon may end, be killed or be replaced meanwhile: the client finds the
// next one, goes on behind the last event that it has seen, and repeats what was
// not answered.
//
// Only the function `work` is about what a host does; everything else can be taken
// over by an editor plugin as it is.
"use strict";

const { execFile } = require("node:child_process");
const fs = require("node:fs/promises");
const net = require("node:net");
const path = require("node:path");
const { promisify } = require("node:util");
const rpc = require("vscode-jsonrpc/node");

const SLIPWAY = process.env.SLIPWAY || "slipway";
const DRAINING = -32001; // the daemon is about to end and has not begun this call

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Client calls the daemon, whichever it is, and follows Runs.
class Client {
  constructor(root, onEvent) {
    this.root = root;
    this.onEvent = onEvent;
    this.followed = new Map(); // Run id -> last sequence that was seen
    this.connection = null; // a promise of one
    this.ended = false;
  }

  // connected gives the connection, a new one where there is none.
  connected() {
    if (!this.connection) {
      const connection = this.connect();
      this.connection = connection;
      connection.catch(() => {
        if (this.connection === connection) this.connection = null;
      });
    }
    return this.connection;
  }

  // connect connects to the daemon, which `slipway daemon start` starts where none
  // runs, and subscribes to what is followed.
  async connect() {
    const started = await promisify(execFile)(SLIPWAY, ["daemon", "start", "--json"]);
    const socket = net.connect(JSON.parse(started.stdout).socket);
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const writer = new rpc.SocketMessageWriter(socket);
    const connection = rpc.createMessageConnection(new rpc.SocketMessageReader(socket), writer);
    connection.lost = () => this.lost(connection, socket);
    // The library throws the error of a failed write where nobody can catch it.
    const write = writer.write.bind(writer);
    writer.write = (message) => write(message).catch(() => setImmediate(connection.lost));
    connection.onClose(connection.lost);
    connection.onError(connection.lost);
    connection.onNotification("run/changed", (event) => this.changed(event));
    connection.onNotification("subscription/lost", connection.lost);
    connection.listen();
    try {
      await connection.sendRequest("daemon/hello", { client: "node example", version: "1", build: "-", rpc_version: 1 });
      for (const [run, after] of this.followed) {
        await connection.sendRequest("run/subscribe", { root: this.root, run, after });
      }
    } catch (error) {
      connection.lost();
      throw error;
    }
    if (connection.gone) throw new Error("the connection was lost at once");
    this.live = connection;
    return connection;
  }

  // lost forgets a connection. Where something is followed, the next one is made at
  // once: what was missed comes with it.
  lost(connection, socket) {
    if (connection.gone) return;
    connection.gone = true;
    socket.destroy();
    connection.dispose(); // nobody waits for an answer any more
    if (this.live !== connection) return;
    this.live = this.connection = null;
    if (!this.ended && this.followed.size > 0) this.call("run/list", {}).catch(() => {});
  }

  // call makes a call. Where the answer was lost the call is made again: an exact
  // repeat of a submit, answer, skip or stop changes nothing.
  async call(method, params) {
    for (let attempt = 0; ; attempt++) {
      let connection;
      try {
        connection = await this.connected();
        return await connection.sendRequest(method, { root: this.root, ...params });
      } catch (error) {
        const answered = error instanceof rpc.ResponseError && error.code !== DRAINING && error.code !== rpc.ErrorCodes.PendingResponseRejected;
        if (answered || method === "run/start" || this.ended || attempt === 20) throw error;
        if (connection) connection.lost();
        await pause(Math.min(50 * 2 ** attempt, 1000));
      }
    }
  }

  // follow follows a Run from its first event on.
  async follow(run) {
    await this.call("run/subscribe", { run, after: 0 });
    if (!this.followed.has(run)) this.followed.set(run, 0);
  }

  changed(event) {
    // Two subscriptions may overlap while a connection is replaced.
    const last = this.followed.get(event.run) || 0;
    if (event.sequence !== last + 1) return;
    this.followed.set(event.run, event.sequence);
    this.onEvent(event);
  }

  close() {
    this.ended = true;
    if (this.live) this.live.lost();
  }
}

// work is what a host does for an Action; done is the number of Actions before it.
// This one thinks ten times and then writes a file.
async function work(root, action, done) {
  const outcome = {
    contract_version: 2,
    action_id: action.action_id,
    action_kind: action.kind,
    status: "completed",
    summary: action.kind + " done",
    observations: [],
    known_issues: [],
    suggested_actions: [],
    pause: null,
    implementation: null,
    review: null,
  };
  if (action.kind === "orient" || action.kind === "clarify") {
    outcome.suggested_actions = [{ kind: done < 10 ? "clarify" : "implement", brief: "go on" }];
  } else if (action.kind === "implement") {
    await fs.writeFile(path.join(root, "written-by-node.txt"), action.goal + "\n");
    outcome.implementation = { result: "applied", files_changed: ["written-by-node.txt"], activities: [], uncertainties: [], attempts: 1 };
  } else if (action.kind === "review") {
    outcome.review = { result: "no_findings_reported", findings: [], uncertainties: [] };
  }
  return outcome;
}

async function main(root, goal) {
  let sawEnd;
  const end = new Promise((resolve) => (sawEnd = resolve));
  const client = new Client(path.resolve(root), (event) => {
    console.log(JSON.stringify({ sequence: event.sequence, type: event.type, state: event.state }));
    if (event.state === "ended") sawEnd();
  });
  let state = await client.call("run/start", { goal, budget: 30 });
  const run = state.run_id;
  await client.follow(run);
  let done = 0;
  for (; state.state === "active"; done++) {
    const outcome = await work(root, state.action, done);
    state = await client.call("run/submit", { run, action: state.action.action_id, outcome });
  }
  await end;
  console.log(JSON.stringify({ run, state: state.state, actions: done }));
  client.close();
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
