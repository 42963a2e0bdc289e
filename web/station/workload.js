// The state machine of one workload, with the same rules as `workload::Workload` of the Rust agents: due times, outstanding
// operations and outcomes. It has no clock: `now` is an argument, in whole nanoseconds since the run began.
//
// After each `handle…` call, drain `pollAction`, `pollOperation` and `pollStall`, then sleep until `pollTimeout`. A late call
// is allowed: the machine processes all times up to `now` in order, and latency counts from the due time.

import { segmentSize, selectRate } from "./dash.js";
import { directionOf } from "./packet_stream.js";
import { isBulk, isDatagram, isOneWay, latencyLimit, maxInFlight } from "./plan.js";
import { Player } from "./player.js";
import { Schedule } from "./schedule.js";
import { Slots } from "./slots.js";
import { windows } from "./windows.js";

export class Workload {
  /** The arguments `{config, start, end, settle, seed, index}` are those of the Rust function `Workload::new`. */
  constructor({ config, start, end, settle, seed, index }) {
    this.config = config;
    this.windows = windows(config.activity, start, end);
    /** The number of the current window; between two windows, that of the next one. */
    this.window = 0;
    /** The end of the last window. */
    this.end = this.windows.at(-1)?.to ?? end;
    this.stopsEarly = this.end < end;
    this.settle = this.end + Math.max(settle - end, 0);
    this.start = this.windows[0]?.from ?? this.end;
    this.now = -Infinity;
    this.phase = "running";
    this.schedule = new Schedule(config, this.start, seed, index);
    this.sequence = 0;
    /** Operations in progress, by sequence number in ascending order. */
    this.inFlight = new Map();
    /** Packets that are not answered, in the order of sending: `{at, sequence}`. The first one is in progress. */
    this.sent = [];
    this.isOneWay = isOneWay(config);
    /** A page that became due while other pages were loading. */
    this.queued = null;
    this.slots = new Slots();
    const playback = config.dash ? { ...config.dash, rate: config.dash.ladder[0] } : config.kind === "stream" ? config.player : null;
    this.player = playback ? new Player(playback, this.start) : null;
    /** The bit rate of the last segment of adaptive streaming; before the first one the lowest. */
    this.mediaRate = config.dash?.ladder[0] ?? null;
    this.actions = [];
    this.operations = [];
  }

  handleTimeout(now) {
    this.now = Math.max(this.now, now);
    for (let next = this.pollTimeout(); next && next.at <= this.now; next = this.pollTimeout()) {
      this.handleWake(next.at, next.why);
    }
  }

  /** A new connection for this request was established at `at`. The call may come later than `at`. */
  handleConnected(id, at) {
    const operation = this.operationOf(id);
    if (operation) {
      operation.connected = operation.connected === null ? at : Math.max(operation.connected, at);
    }
  }

  /** `bytes` more bytes of the object's content were transferred. */
  handleBytes(now, id, bytes) {
    now = this.catchUp(now);
    const operation = this.operationOf(id);
    if (!operation) {
      return;
    }
    this.receive(operation, now, bytes);
    // A segment of adaptive streaming can be played when it is complete.
    if (!this.config.dash) {
      this.player?.handleBytes(now, bytes);
    }
  }

  receive(operation, now, bytes) {
    operation.firstByte ??= now;
    operation.bytes += bytes;
    operation.progress = now;
  }

  handleFinished(now, id) {
    now = this.catchUp(now);
    const operation = this.operationOf(id);
    if (!operation) {
      return;
    }
    if (this.complete(operation, now, id)) {
      this.endOperation(id.operation, now, "finished");
      this.beginDue();
    }
  }

  /** The object failed with `failed_dial`, `failed_connection` or `failed_answer`. Cancels the rest of its operation. */
  handleFailed(now, id, outcome) {
    now = this.catchUp(now);
    const operation = this.operationOf(id);
    if (!operation) {
      return;
    }
    this.complete(operation, now, id);
    this.endOperation(id.operation, now, outcome);
    this.beginDue();
  }

  /**
   * A packet that is not answered arrived at `at`, which may be earlier than `now`: the arrival at the server is known later.
   * A frame of a video call has `size` bytes in all.
   */
  handleArrival(now, id, at, size = this.config.packets[directionOf(id.operation)]?.size ?? 0) {
    now = this.catchUp(now);
    const operation = this.isOneWay ? this.awaiting(id) : null;
    if (operation) {
      const arrival = Math.max(Math.min(at, now), operation.progress);
      this.receive(operation, arrival, size);
      this.endOperation(id.operation, arrival, "finished");
      this.beginDue();
    }
  }

  /** The echo of a probe was received. */
  handleReply(now, id) {
    now = this.catchUp(now);
    const operation = this.config.kind === "probe" ? this.awaiting(id) : null;
    if (operation) {
      this.receive(operation, now, this.config.objectSize);
      this.endOperation(id.operation, now, "finished");
    }
  }

  /** The due time of the first packet of a direction; `null` without one before the end. */
  firstPacket(direction) {
    const first = this.schedule.firstPacket(direction);
    return first !== null && first < this.end ? first : null;
  }

  /** Ends the run at `now`, including the operations in progress. */
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

  /** The time and the reason of the next `handleTimeout` call: `{at, why}`, or `null` after all operations have ended. */
  pollTimeout() {
    if (this.phase === "settled") {
      return null;
    }
    const phaseEnd = this.phaseEnd();
    let first = null;
    // Of simultaneous events, the first in this list comes first: a timeout makes room for an operation that becomes due.
    const wakes = [
      { at: this.nextOperationTimeout(), why: "time-out" },
      { at: this.player?.pollTimeout() ?? null, why: "stall" },
      { at: this.nextDue(), why: "due" },
      phaseEnd,
    ];
    for (const wake of wakes) {
      if (wake.at !== null && (first === null || wake.at < first.at)) {
        first = wake;
      }
    }
    return first;
  }

  /** The end of the current window, of the load, or of the drain time. */
  phaseEnd() {
    if (this.phase !== "running") {
      return { at: this.settle, why: "settle" };
    }
    const { end } = this;
    const to = this.windowEnd();
    return to < end ? { at: to, why: "pause" } : { at: end, why: "end" };
  }

  windowEnd() {
    return Math.min(this.windows[this.window]?.to ?? this.end, this.end);
  }

  isSettled() {
    return this.phase === "settled";
  }

  /** Processes all times before an input at `now`. Returns the input's time, which never decreases. */
  catchUp(now) {
    this.now = Math.max(this.now, now);
    for (let next = this.pollTimeout(); next && next.at < this.now; next = this.pollTimeout()) {
      this.handleWake(next.at, next.why);
    }
    return this.now;
  }

  handleWake(at, why) {
    switch (why) {
      case "due":
        return this.handleDue(at);
      case "time-out":
        return this.handleOperationTimeout(at);
      case "stall":
        return this.player.handleTimeout(at);
      case "pause":
        return this.pause();
      case "end":
        return this.stop();
      default:
        return this.settleAll();
    }
  }

  /** Starts operations that are due at the time of an input that made room for them. */
  beginDue() {
    for (let at = this.nextDue(); at !== null && at <= this.now; at = this.nextDue()) {
      this.handleDue(at);
    }
  }

  nextDue() {
    const due = this.schedule.next;
    return this.phase === "running" && due !== null && due < this.windowEnd() ? due : null;
  }

  nextOperationTimeout() {
    const oldest = this.oldest();
    return oldest ? oldest.progress + this.config.timeout : null;
  }

  /** The operation with the oldest progress. */
  oldest() {
    if (this.isOneWay) {
      const [first] = this.sent;
      return first ? { sequence: first.sequence, progress: first.at } : null;
    }
    let oldest = null;
    for (const operation of this.inFlight.values()) {
      if (!oldest || operation.progress < oldest.progress) {
        oldest = operation;
      }
    }
    return oldest;
  }

  handleDue(due) {
    const sequence = this.schedule.advance() ?? this.sequence;
    this.sequence += 1;
    if (this.isOneWay || this.inFlight.size < maxInFlight(this.config)) {
      this.begin(sequence, due);
    } else if (this.config.kind === "pages" && !this.queued) {
      this.queued = { sequence, due };
    } else {
      this.operations.push(notStarted(sequence, due, "not_started"));
    }
  }

  begin(sequence, due) {
    const { config } = this;
    const operation = { ...notStarted(sequence, due, null), started: this.now, progress: this.now, objects: [], left: 0 };
    if (isDatagram(config)) {
      operation.objects.push({ slot: null, finished: false });
      operation.left = 1;
      this.actions.push(this.sendAction(sequence, due));
      this.inFlight.set(sequence, operation);
      return;
    }
    const objectSize = this.objectSize(due);
    for (let object = 0; object < Math.max(config.objects, 1); object += 1) {
      const slot = config.connections === "new" ? null : this.slots.allocate();
      operation.objects.push({ slot, finished: false });
      operation.left += 1;
      const direction = config.kind === "upload" ? "up" : "down";
      const id = { operation: sequence, object };
      const { priority, dscp, cc } = config;
      this.actions.push({ do: "begin", id, due, slot, direction, size: objectSize, priority, dscp, cc });
    }
    this.inFlight.set(sequence, operation);
  }

  /** The size of an object that is due at `due`. For a segment, selects its bit rate by the buffer at this time. */
  objectSize(due) {
    const { dash, objectSize } = this.config;
    if (!dash) {
      return objectSize;
    }
    this.player.handleTimeout(due);
    this.mediaRate = selectRate(dash, this.player.buffered(), this.mediaRate);
    return segmentSize(dash, this.mediaRate);
  }

  /**
   * An operation ended at `at`. A complete segment is media for the player. Returns the time from which on the player has room
   * for the next one.
   */
  playSegment(at, outcome) {
    const { dash } = this.config;
    if (!dash || outcome !== "finished") {
      return at;
    }
    this.player.handleMedia(at, dash.segment);
    return this.player.roomAt(at, dash.segment);
  }

  sendAction(sequence, due) {
    const { config, now } = this;
    const id = { operation: sequence, object: 0 };
    if (!this.isOneWay) {
      return { do: "send", id, due, size: config.objectSize };
    }
    this.sent.push({ at: now, sequence });
    const direction = directionOf(sequence);
    return { do: "send-one-way", id, due, size: config.packets[direction].size, direction };
  }

  /** Ends an operation in progress, cancels its unfinished objects, and starts the page that is queued behind it. */
  endOperation(sequence, at, outcome) {
    const operation = this.inFlight.get(sequence);
    if (!operation) {
      return;
    }
    this.inFlight.delete(sequence);
    while (this.sent.length > 0 && !this.inFlight.has(this.sent[0].sequence)) {
      this.sent.shift();
    }
    operation.objects.forEach(({ slot, finished }, object) => {
      if (!finished && !isDatagram(this.config)) {
        this.actions.push({ do: "cancel", id: { operation: sequence, object } });
        if (slot !== null) {
          this.slots.release(slot);
        }
      }
    });
    this.operations.push(ended(operation, at, outcome));
    this.schedule.ended(this.playSegment(at ?? this.now, outcome), outcome === "finished");
    if (this.queued && this.phase === "running") {
      const { sequence: next, due } = this.queued;
      this.queued = null;
      this.begin(next, due);
    }
    this.settleIfIdle();
  }

  handleOperationTimeout(at) {
    const oldest = this.oldest();
    if (oldest) {
      this.endOperation(oldest.sequence, at, "timed_out");
    }
  }

  /** The end of a window that is not the last one. */
  pause() {
    const at = this.windowEnd();
    this.dropQueued(at);
    this.cancelBulk(at);
    this.window += 1;
    this.schedule.restart(this.windows[this.window].from);
  }

  /** A queued page does not start after the end of its window. */
  dropQueued(at) {
    if (this.queued) {
      const { sequence, due } = this.queued;
      this.queued = null;
      this.operations.push(notStarted(sequence, due, this.outcomeAtEnd(due, at)));
    }
  }

  /** Skips operations that were due before `now`, and windows that have ended. No operation is in progress. */
  skipTo(now) {
    while (this.phase === "running") {
      const due = this.nextDue();
      const over = this.phaseEnd();
      if (due === null && over.why === "pause" && over.at <= now) {
        this.pause();
      } else if (due === null || due >= now) {
        return;
      } else if (this.schedule.isFixed()) {
        const sequence = this.schedule.advance() ?? this.sequence;
        this.operations.push(notStarted(sequence, due, "not_started"));
        this.sequence += 1;
      } else {
        // This schedule continues at the end of an operation.
        this.schedule.postpone(now);
      }
    }
  }

  /** Ends the objects of a bulk transfer at the end of a window. Other operations in progress can finish. */
  cancelBulk(at) {
    if (isBulk(this.config)) {
      this.endAll(at);
    }
  }

  /** The end of the load: no operation starts any more, including a queued page. */
  stop() {
    this.phase = "draining";
    this.dropQueued(this.end);
    if (this.stopsEarly) {
      this.cancelBulk(this.end);
    }
    this.player?.stop(this.end);
    this.settleIfIdle();
  }

  settleIfIdle() {
    if (this.phase === "draining" && this.inFlight.size === 0) {
      this.phase = "settled";
    }
  }

  /** The end of the drain time: operations in progress do not finish. */
  settleAll() {
    this.endAll(this.settle);
    this.settleIfIdle();
  }

  /** Ends all operations in progress, which cannot finish any more at `at`. */
  endAll(at) {
    // Packets of two directions do not begin in the order of their numbers.
    for (const { sequence, due } of [...this.inFlight.values()].sort((a, b) => a.sequence - b.sequence)) {
      this.endOperation(sequence, null, this.outcomeAtEnd(due, at));
    }
  }

  /** The outcome of an operation that is not finished at `at`: `unfinished` if it is older than its goal, else `cut`. */
  outcomeAtEnd(due, at) {
    const limit = latencyLimit(this.config);
    return limit !== null && Math.max(at - due, 0) > limit ? "unfinished" : "cut";
  }

  /** The request in progress with the unfinished object `id`, or `null`. A packet that is not answered is no request. */
  operationOf(id) {
    return this.isOneWay ? null : this.awaiting(id);
  }

  /** The operation in progress with the unfinished object `id`, or `null`. */
  awaiting(id) {
    const operation = this.inFlight.get(id.operation);
    const object = operation?.objects[id.object];
    return object && !object.finished ? operation : null;
  }

  /** Marks an unfinished object as complete. Returns true if it was the last one of its operation. */
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

  /** The state as plain data for `restore`. Drain the outputs first. */
  save() {
    const { phase, sequence, queued, end, settle, window, mediaRate } = this;
    const inFlight = [...this.inFlight.values()].map((operation) => ended(operation, null, null));
    const player = this.player?.save() ?? null;
    return { phase, sequence, queued, end, settle, window, mediaRate, inFlight, player, schedule: this.schedule.save() };
  }

  /**
   * Continues at `now` from `saved`: operations that were in progress have failed, operations that were due meanwhile were
   * not started. Call it on an unused machine that was created with the same arguments.
   */
  restore(saved, now) {
    const { phase, sequence, end, settle, window, mediaRate } = saved;
    Object.assign(this, { phase, sequence, end, settle, window, mediaRate, now });
    this.schedule.restore(saved.schedule);
    this.player?.restore(saved.player);
    for (const operation of saved.inFlight) {
      this.operations.push({ ...operation, finished: now, outcome: "failed_stopped" });
      this.schedule.ended(now, false);
    }
    if (saved.queued) {
      this.operations.push(notStarted(saved.queued.sequence, saved.queued.due, "not_started"));
    }
    this.skipTo(now);
    this.settleIfIdle();
    this.handleTimeout(now);
  }
}

/** An operation that was not started. */
function notStarted(sequence, due, outcome) {
  return { sequence, due, started: null, connected: null, firstByte: null, finished: null, bytes: 0, outcome };
}

/** The result of an operation. */
function ended(operation, finished, outcome) {
  const { sequence, due, started, connected, firstByte, bytes } = operation;
  return { sequence, due, started, connected, firstByte, finished, bytes, outcome };
}
