// The schedule of one workload as a state machine, by the same laws as an agent's: what falls due when, what may be
// outstanding, what is a miss. It has no clock: `now` is an argument, in whole nanoseconds since the run began.
//
// After every `handle…`, drain `pollAction` and `pollOperation` and `pollStall`, then sleep until `pollTimeout`. It may
// be called late: what fell due meanwhile is taken in order, each counted from when it was due.

import { Player } from "./player.js";
import { Schedule } from "./schedule.js";
import { Slots } from "./slots.js";

export class Workload {
  /** `{config, start, end, settle, seed, index}`: see the agents' `Workload::new`. */
  constructor({ config, start, end, settle, seed, index }) {
    this.config = config;
    this.start = start;
    this.end = end;
    this.settle = Math.max(settle, end);
    this.now = -Infinity;
    this.phase = "running";
    this.schedule = new Schedule(config, start, seed, index);
    this.sequence = 0;
    /** Operations under way by number, in that order. */
    this.underWay = new Map();
    /** The page that fell due while others were under way. */
    this.waiting = null;
    this.slots = new Slots();
    this.player = config.player && config.kind === "stream" ? new Player(config.player, start) : null;
    this.actions = [];
    this.operations = [];
  }

  handleTimeout(now) {
    this.now = Math.max(this.now, now);
    for (let next = this.pollTimeout(); next && next.at <= this.now; next = this.pollTimeout()) {
      this.pass(next.at, next.why);
    }
  }

  /** A connection of this request's was ready at `at`, which may be told afterwards. */
  handleConnected(id, at) {
    const operation = this.awaiting(id);
    if (operation) {
      operation.connected = operation.connected === null ? at : Math.max(operation.connected, at);
    }
  }

  /** `bytes` more of the object's content have moved. */
  handleBytes(now, id, bytes) {
    now = this.catchUp(now);
    const operation = this.awaiting(id);
    if (!operation) {
      return;
    }
    operation.firstByte ??= now;
    operation.bytes += bytes;
    operation.progress = now;
    this.player?.handleBytes(now, bytes);
  }

  handleFinished(now, id) {
    now = this.catchUp(now);
    const operation = this.awaiting(id);
    if (!operation) {
      return;
    }
    if (this.complete(operation, now, id)) {
      this.endOperation(id.operation, now, "finished");
      this.beginDue();
    }
  }

  /** The object failed, by one of `failed_dial`, `failed_connection`, `failed_answer`. The rest of its operation is cancelled. */
  handleFailed(now, id, outcome) {
    now = this.catchUp(now);
    const operation = this.awaiting(id);
    if (!operation) {
      return;
    }
    this.complete(operation, now, id);
    this.endOperation(id.operation, now, outcome);
    this.beginDue();
  }

  /** The run ends here and now, for what is under way too. */
  handleStop(now) {
    now = this.catchUp(now);
    this.end = Math.min(this.end, now);
    this.settle = Math.min(this.settle, now);
    this.handleTimeout(now);
  }

  pollAction() {
    return this.actions.shift() ?? null;
  }

  pollOperation() {
    return this.operations.shift() ?? null;
  }

  pollStall() {
    return this.player?.pollStall() ?? null;
  }

  /** `{at, why}`: when to call `handleTimeout`; `null` once all is settled. */
  pollTimeout() {
    if (this.phase === "settled") {
      return null;
    }
    const over = this.phase === "running" ? { at: this.end, why: "end" } : { at: this.settle, why: "settle" };
    let first = null;
    // Of those at one instant the first named comes first: a time-out makes room for what falls due then.
    const wakes = [
      { at: this.nextTimeOut(), why: "time-out" },
      { at: this.player?.pollTimeout() ?? null, why: "stall" },
      { at: this.nextDue(), why: "due" },
      over,
    ];
    for (const wake of wakes) {
      if (wake.at !== null && (first === null || wake.at < first.at)) {
        first = wake;
      }
    }
    return first;
  }

  isSettled() {
    return this.phase === "settled";
  }

  /** Takes what fell due before an input at `now`; gives the input's time. */
  catchUp(now) {
    this.now = Math.max(this.now, now);
    for (let next = this.pollTimeout(); next && next.at < this.now; next = this.pollTimeout()) {
      this.pass(next.at, next.why);
    }
    return this.now;
  }

  pass(at, why) {
    switch (why) {
      case "due":
        return this.fallDue(at);
      case "time-out":
        return this.timeOut(at);
      case "stall":
        return this.player.handleTimeout(at);
      case "end":
        return this.stop();
      default:
        return this.settleAll();
    }
  }

  /** What may begin at the very instant of an input that made room for it. */
  beginDue() {
    for (let at = this.nextDue(); at !== null && at <= this.now; at = this.nextDue()) {
      this.fallDue(at);
    }
  }

  nextDue() {
    const due = this.schedule.next;
    return this.phase === "running" && due !== null && due < this.end ? due : null;
  }

  nextTimeOut() {
    const stalest = this.stalest();
    return stalest ? stalest.progress + this.config.timeout : null;
  }

  /** The operation that has been without progress the longest. */
  stalest() {
    let stalest = null;
    for (const operation of this.underWay.values()) {
      if (!stalest || operation.progress < stalest.progress) {
        stalest = operation;
      }
    }
    return stalest;
  }

  fallDue(due) {
    this.schedule.fellDue();
    const sequence = this.sequence;
    this.sequence += 1;
    if (this.underWay.size < Math.max(this.config.outstanding, 1)) {
      this.begin(sequence, due);
    } else if (this.config.kind === "pages" && !this.waiting) {
      this.waiting = { sequence, due };
    } else {
      this.operations.push(unbegun(sequence, due, "not_started"));
    }
  }

  begin(sequence, due) {
    const { config } = this;
    const operation = { ...unbegun(sequence, due, null), started: this.now, progress: this.now, objects: [], left: 0 };
    for (let object = 0; object < Math.max(config.objects, 1); object += 1) {
      const slot = config.connections === "new" ? null : this.slots.take();
      operation.objects.push({ slot, finished: false });
      operation.left += 1;
      const direction = config.kind === "upload" ? "up" : "down";
      const id = { operation: sequence, object };
      const { objectSize: size, priority, cc } = config;
      this.actions.push({ do: "begin", id, due, slot, direction, size, priority, cc });
    }
    this.underWay.set(sequence, operation);
  }

  /** Ends an operation under way, gives up what is left of it, and begins the one that waited for it. */
  endOperation(sequence, at, outcome) {
    const operation = this.underWay.get(sequence);
    if (!operation) {
      return;
    }
    this.underWay.delete(sequence);
    operation.objects.forEach(({ slot, finished }, object) => {
      if (!finished) {
        this.actions.push({ do: "cancel", id: { operation: sequence, object } });
        if (slot !== null) {
          this.slots.release(slot);
        }
      }
    });
    this.operations.push(ended(operation, at, outcome));
    this.schedule.ended(at ?? this.now, outcome === "finished");
    if (this.waiting && this.phase === "running") {
      const { sequence: next, due } = this.waiting;
      this.waiting = null;
      this.begin(next, due);
    }
    this.settleIfIdle();
  }

  timeOut(at) {
    const stalest = this.stalest();
    if (stalest) {
      this.endOperation(stalest.sequence, at, "timed_out");
    }
  }

  /** The end: nothing new begins, and what waits never will. */
  stop() {
    this.phase = "draining";
    if (this.waiting) {
      const { sequence, due } = this.waiting;
      this.waiting = null;
      this.operations.push(unbegun(sequence, due, this.leftOver(due, this.end)));
    }
    this.player?.stop(this.end);
    this.settleIfIdle();
  }

  settleIfIdle() {
    if (this.phase === "draining" && this.underWay.size === 0) {
      this.phase = "settled";
    }
  }

  /** The end of the drain: what is under way never finishes. */
  settleAll() {
    for (const { sequence, due } of [...this.underWay.values()]) {
      this.endOperation(sequence, null, this.leftOver(due, this.settle));
    }
    this.settleIfIdle();
  }

  /** What became of an operation that can't finish any more at `at`: a miss if it is older than its goal by then. */
  leftOver(due, at) {
    const limits = this.config.goals.filter((goal) => goal.kind === "latency").map((goal) => goal.limit);
    const age = Math.max(at - due, 0);
    return limits.length > 0 && age > Math.min(...limits) ? "unfinished" : "cut";
  }

  /** The operation under way that `id` is an unfinished object of. */
  awaiting(id) {
    const operation = this.underWay.get(id.operation);
    const object = operation?.objects[id.object];
    return object && !object.finished ? operation : null;
  }

  /** Marks an awaited object complete; says whether it was the last. */
  complete(operation, now, id) {
    const object = operation.objects[id.object];
    object.finished = true;
    operation.left -= 1;
    operation.progress = now;
    if (object.slot !== null) {
      this.slots.release(object.slot);
    }
    return operation.left === 0;
  }

  /** It as plain data, for `restore`. Drain what it has to say first. */
  save() {
    const { phase, sequence, waiting, end, settle } = this;
    const underWay = [...this.underWay.values()].map((operation) => ended(operation, null, null));
    const player = this.player?.save() ?? null;
    return { phase, sequence, waiting, end, settle, underWay, player, schedule: this.schedule.save() };
  }

  /**
   * Goes on, at `now`, where `saved` left off: what was under way has failed, what fell due meanwhile is a miss. For a
   * machine that was made with the same arguments and has done nothing yet.
   */
  restore(saved, now) {
    const { phase, sequence, end, settle } = saved;
    Object.assign(this, { phase, sequence, end, settle, now });
    this.schedule.restore(saved.schedule);
    this.player?.restore(saved.player);
    for (const operation of saved.underWay) {
      this.operations.push({ ...operation, finished: now, outcome: "failed_stopped" });
      this.schedule.ended(now, false);
    }
    if (saved.waiting) {
      this.operations.push(unbegun(saved.waiting.sequence, saved.waiting.due, "not_started"));
    }
    for (let due = this.nextDue(); due !== null && due < now; due = this.nextDue()) {
      this.schedule.fellDue();
      // What waits for an operation's end has nothing to wait for.
      if (this.schedule.next === null) {
        this.schedule.next = now;
        break;
      }
      this.operations.push(unbegun(this.sequence, due, "not_started"));
      this.sequence += 1;
    }
    this.settleIfIdle();
    this.handleTimeout(now);
  }
}

/** An operation that never began. */
function unbegun(sequence, due, outcome) {
  return { sequence, due, started: null, connected: null, firstByte: null, finished: null, bytes: 0, outcome };
}

/** An operation as it ended. */
function ended(operation, finished, outcome) {
  const { sequence, due, started, connected, firstByte, bytes } = operation;
  return { sequence, due, started, connected, firstByte, finished, bytes, outcome };
}
