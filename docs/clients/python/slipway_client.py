"""A small client of the Slipway daemon, in plain Python: one JSON value a line.

    python3 slipway_client.py ROOT GOAL

It starts a Run in the worktree ROOT, follows it, and plays the host until the Run
has ended. Every event is printed as one line of JSON, the end as another one. The
daemon may end, be killed or be replaced meanwhile: the client finds the next one,
goes on behind the last event that it has seen, and repeats what was not answered.

Only the function `work` is about what a host does; everything else can be taken
over by an editor plugin as it is.
"""

import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time

SLIPWAY = os.environ.get("SLIPWAY", "slipway")

DRAINING = -32001  # the daemon is about to end and has not begun this call


class Lost(Exception):
    """The connection ended before the answer came."""


class Refused(Exception):
    """The daemon answered with an error; data is the error of the contract."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data") or {}


class Connection:
    """One connection. A thread reads; answers go to who asked, notifications to
    the function that was given."""

    def __init__(self, path, notify):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.notify = notify
        self.lock = threading.Lock()
        self.waiting = {}  # by id
        self.last = 0
        self.closed = False
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for line in self.socket.makefile("rb"):
                message = json.loads(line)
                if "method" in message:
                    self.notify(self, message["method"], message["params"])
                elif message.get("id") is not None:
                    with self.lock:
                        answer = self.waiting.pop(message["id"], None)
                    if answer:
                        answer.put(message)
        except (OSError, ValueError):
            pass
        with self.lock:  # nobody waits for ever
            self.closed = True
            for answer in self.waiting.values():
                answer.put(None)
        self.notify(self, "connection/lost", {})

    def call(self, method, params):
        answer = queue.Queue()
        with self.lock:
            if self.closed:
                raise Lost(method)
            self.last += 1
            self.waiting[self.last] = answer
            request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
        try:
            self.socket.sendall(json.dumps(request).encode() + b"\n")
        except OSError:
            raise Lost(method)
        message = answer.get()
        if message is None or message.get("error", {}).get("code") == DRAINING:
            raise Lost(method)
        if "error" in message:
            raise Refused(message["error"])
        return message["result"]

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)  # ends the reading thread
        except OSError:
            pass
        self.socket.close()


class Client:
    """Calls the daemon, whichever it is, and follows Runs."""

    def __init__(self, root, on_event):
        self.root = root
        self.on_event = on_event
        self.heard = queue.Queue()  # (connection, event); no event = it was lost
        self.followed = {}  # Run id -> last sequence that was seen
        self.connection = None

    def connect(self):
        """Connects to the daemon, which `slipway daemon start` starts where none
        runs, and subscribes to what is followed."""
        started = subprocess.run([SLIPWAY, "daemon", "start", "--json"], capture_output=True, check=True)
        connection = Connection(json.loads(started.stdout)["socket"], self.notify)
        connection.call("daemon/hello", {"client": "python example", "version": "1", "build": "-", "rpc_version": 1})
        for run, sequence in self.followed.items():
            connection.call("run/subscribe", {"root": self.root, "run": run, "after": sequence})
        return connection

    def call(self, method, **params):
        """Makes a call. Where the answer was lost the call is made again: an exact
        repeat of a submit, answer, skip or stop changes nothing."""
        for attempt in range(20):
            try:
                if self.connection is None:
                    self.connection = self.connect()
                return self.connection.call(method, {"root": self.root, **params})
            except (Lost, OSError, subprocess.CalledProcessError):
                if self.connection:
                    self.connection.close()
                self.connection = None
                if method == "run/start":
                    raise  # it may have been started: look with run/list
                time.sleep(min(0.05 * 2**attempt, 1))
        raise Lost(method)

    def follow(self, run):
        """Follows a Run from its first event on."""
        self.followed[run] = 0
        self.call("run/subscribe", run=run, after=0)

    def notify(self, connection, method, params):
        if method == "run/changed":
            # Two subscriptions may overlap while a connection is replaced.
            if params["sequence"] == self.followed.get(params["run"], 0) + 1:
                self.followed[params["run"]] = params["sequence"]
                self.on_event(params)
                self.heard.put((connection, params))
        elif method in ("subscription/lost", "connection/lost"):
            self.heard.put((connection, None))

    def next_event(self):
        """Waits for the next event of a followed Run."""
        while True:
            connection, event = self.heard.get()
            if event is not None:
                return event
            if connection is self.connection:
                # What was lost comes with a new one, behind what was seen.
                connection.close()
                self.connection = None
                self.call("run/list")


def work(root, action, done):
    """What a host does for an Action; done is the number of Actions before it. This
    one thinks ten times and then writes a file."""
    outcome = {
        "contract_version": 2,
        "action_id": action["action_id"],
        "action_kind": action["kind"],
        "status": "completed",
        "summary": action["kind"] + " done",
        "observations": [],
        "known_issues": [],
        "suggested_actions": [],
        "pause": None,
        "implementation": None,
        "review": None,
    }
    if action["kind"] in ("orient", "clarify"):
        kind = "clarify" if done < 10 else "implement"
        outcome["suggested_actions"] = [{"kind": kind, "brief": "go on"}]
    elif action["kind"] == "implement":
        with open(os.path.join(root, "written-by-python.txt"), "w") as f:
            f.write(action["goal"] + "\n")
        outcome["implementation"] = {
            "result": "applied",
            "files_changed": ["written-by-python.txt"],
            "activities": [],
            "uncertainties": [],
            "attempts": 1,
        }
    elif action["kind"] == "review":
        outcome["review"] = {"result": "no_findings_reported", "findings": [], "uncertainties": []}
    return outcome


def show(event):
    print(json.dumps({"sequence": event["sequence"], "type": event["type"], "state": event["state"]}), flush=True)


def main(root, goal):
    client = Client(os.path.abspath(root), show)
    state = client.call("run/start", goal=goal, budget=30)
    run = state["run_id"]
    client.follow(run)
    done = 0
    while state["state"] == "active":
        action = state["action"]
        outcome = work(root, action, done)
        state = client.call("run/submit", run=run, action=action["action_id"], outcome=outcome)
        done += 1
    while client.next_event()["state"] != "ended":
        pass
    print(json.dumps({"run": run, "state": state["state"], "actions": done}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
