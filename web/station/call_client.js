// The client of a call, which is streams of packets in one or both directions, with the same rules as
// `traffic::datagram::call::CallClient`: handshake, clock comparison, packets, requests and reports.
//
// After each `handle…` call and command, drain `pollEvent` and `pollTransmit`, then wait until `pollTimeout` or the next
// datagram.

import { ClockOffset } from "./clock_offset.js";
import { MAX_AGES, feedback, media, read, request, up } from "./datagram_wire.js";
import { offset, packetsWithin } from "./packet_stream.js";
import { Prober } from "./prober.js";
import { VideoEnd } from "./video.js";

/** The time in which the arrivals of all packets are requested once, and the minimum interval of requests (ns). */
const RENEWAL = 250e6;
const MIN_RENEWAL = 5e6;
/** The interval of attempts to send the first request (ns). */
const RETRY = 20e6;
/** The time for which a request allows packets (ns). */
const ALLOWED = 1e9;
/** The time after the arrival of a later packet from which on a packet that has not arrived is lost (ns). */
const REORDERING = 250e6;
/** The interval of the clock comparisons before the first request (ns), and their maximum number. */
const COMPARISON = 100e6;
const COMPARISONS = 50;
/** The length of a probe that compares the clocks. */
const PROBE_SIZE = 64;
/** The maximum age of a frame from which on its packets are not sent any more (ns). */
const MAX_FRAME_AGE = 2e9;

export class CallClient {
  /**
   * `plan` is `{up: {first, stream}, down: {first, stream}, end, dscp, timeout, video}`; a direction without a stream is `null`.
   * In a video call, `video` is `{up, down, adaptation}` with the streams of packets, and the streams of the plan are frames.
   * `token` and `call` are random BigInts of 64 bits.
   */
  constructor(now, token, call, plan) {
    Object.assign(this, { plan, call });
    this.prober = new Prober(now, token);
    this.offset = new ClockOffset();
    this.compared = 0;
    this.compareAt = now;
    /** When the comparisons without an answer were sent, by number. */
    this.comparisons = new Map();
    /** The due time of the server's packet 0, by its clock. Set with the first request. */
    this.anchor = null;
    this.renewAt = (plan.down ?? plan.up)?.first - ALLOWED;
    /** The number of this page's next packet. */
    this.next = 0;
    /** This page's packets with an unknown arrival, in ascending order. */
    this.unknown = new Set();
    /** The next request is for the arrivals of unknown packets from this number on. */
    this.requestFrom = 0;
    /** The highest number with a known arrival, and this arrival by the server's clock. */
    this.newest = null;
    /** This page's end of a video call, and the sizes of its frames with an unknown arrival. */
    this.video = null;
    this.sizes = new Map();
    if (plan.video) {
      const { up: stream, adaptation } = plan.video;
      this.video = new VideoEnd({ stream, adaptation, timeout: this.maxFrameAge() });
    }
    this.events = [];
    this.out = [];
  }

  maxFrameAge() {
    return Math.min(this.plan.timeout, MAX_FRAME_AGE);
  }

  /** Encodes and sends this page's frame of this number in a video call. Numbers increase. */
  sendFrame(now, number) {
    this.sizes.set(number, this.video.sendFrame(now, number));
    this.unknown.add(number);
    this.next = Math.max(this.next, number + 1);
    this.sendVideo();
  }

  /** Queues the datagrams of this page's end of a video call. */
  sendVideo() {
    for (let next = this.video.pollTransmit(); next; next = this.video.pollTransmit()) {
      this.out.push(next.media ? media(this.call, next.media) : feedback(this.call, next.feedback));
    }
  }

  /** Sends this page's packet of this number. Numbers increase. */
  send(number) {
    this.out.push(up(this.call, number, this.plan.up.stream.size));
    this.unknown.add(number);
    this.next = Math.max(this.next, number + 1);
  }

  handleDatagram(now, bytes) {
    const datagram = read(bytes);
    if (datagram?.kind === "down" && datagram.call === this.call) {
      this.arrived(now, datagram.number, datagram.due);
    } else if (this.video && datagram?.kind === "media" && datagram.call === this.call) {
      this.video.handleMedia(now, datagram.packet);
      for (let frame = this.video.pollFrame(); frame; frame = this.video.pollFrame()) {
        this.arrived(now, frame.number, datagram.due, frame.size);
      }
      this.sendVideo();
    } else if (this.video && datagram?.kind === "feedback" && datagram.call === this.call) {
      this.video.handleFeedback(now, datagram.feedback);
      this.sendVideo();
    } else if (datagram?.kind === "report" && datagram.call === this.call) {
      const { stamp, received, sent, from, ages, arrivals } = datagram;
      this.offset.put({ sent: stamp, farReceived: received, farSent: sent, received: now });
      for (const { number, age } of arrivals) {
        if (this.newest === null || number > this.newest.number) {
          this.newest = { number, at: received - age };
        }
        const at = this.offset.toPage(received - age);
        if (at !== null && this.unknown.delete(number)) {
          const size = this.sizes.get(number) ?? null;
          this.sizes.delete(number);
          this.events.push({ direction: "up", number, at, size });
        }
      }
      // A frame can become complete later than the next ones, by a retransmission.
      if (!this.video) {
        this.deleteLost(from, ages, received);
      }
    } else {
      this.handleProber(now, this.prober.handleDatagram(now, bytes));
    }
  }

  /**
   * A packet of the server arrived, or a frame of `size` bytes is complete. Its delay counts from its due time at the server.
   */
  arrived(now, number, due, size = null) {
    if (!this.plan.down) {
      return;
    }
    const delay = Math.max((this.offset.toServer(now) ?? -Infinity) - due, 0);
    const { first, stream } = this.plan.down;
    this.events.push({ direction: "down", number, at: first + offset(stream, number) + delay, size });
  }

  handleProber(now, event) {
    if (event?.kind === "ready") {
      this.compareAt = now;
    } else if (event?.kind === "echo" && this.comparisons.has(event.id)) {
      const sent = this.comparisons.get(event.id);
      this.comparisons.delete(event.id);
      this.offset.put({ sent, farReceived: event.received, farSent: event.sent, received: now });
    }
  }

  handleTimeout(now) {
    if (now >= this.prober.pollTimeout()) {
      this.prober.handleTimeout(now);
    }
    if (now >= this.compareAt) {
      this.compareAt = now + COMPARISON;
      if (this.isComparing() && this.prober.cookie(now)) {
        this.comparisons.set(this.compared, now);
        this.prober.probe(now, this.compared, PROBE_SIZE);
        this.compared += 1;
      }
    }
    if (this.video) {
      this.video.handleTimeout(now);
      this.sendVideo();
    }
    if (now >= this.renewAt) {
      this.request(now);
      this.renewAt = now + this.renewal();
    }
  }

  /** True until the first request, and for a limited number of comparisons. */
  isComparing() {
    return this.anchor === null && this.compared < COMPARISONS;
  }

  /** Sends a request, unless the handshake is incomplete, the clocks were not compared, or the call is over. */
  request(now) {
    const { plan } = this;
    this.deleteTimedOut(now);
    // Without a stream of the server the request allows no packet.
    const { first, stream } = plan.down ?? plan.up;
    const cookie = this.prober.cookie(now);
    const anchor = this.anchor ?? this.offset.toServer(first);
    if (!cookie || anchor === null || (now >= plan.end && this.unknown.size === 0)) {
      return;
    }
    this.anchor = anchor;
    const span = Math.max(Math.min(now + ALLOWED, plan.end) - first, 0);
    const until = plan.down ? packetsWithin(stream, span) : 0;
    const unknown = [...this.unknown];
    const from = unknown.find((number) => number >= this.requestFrom) ?? unknown[0] ?? this.next;
    const ages = Math.min(this.next - from, MAX_AGES);
    const end = from + ages;
    this.requestFrom = end < this.next ? end : 0;
    const video = plan.video ? { ...plan.video.adaptation, timeout: this.maxFrameAge() } : null;
    const packets = plan.video?.down ?? stream;
    const fields = { call: this.call, anchor, stream: packets, until, from, dscp: plan.dscp, stamp: now, video };
    this.out.push(request(cookie, fields, ages));
  }

  /** Deletes the lost packets of a report made at `reported`, so that no request repeats their numbers. */
  deleteLost(from, ages, reported) {
    if (this.newest === null || reported - this.newest.at < REORDERING) {
      return;
    }
    const end = Math.min(from + ages, this.newest.number);
    for (let number = from; number < end; number += 1) {
      this.unknown.delete(number);
    }
  }

  /** Packets without an arrival after the timeout are lost. */
  deleteTimedOut(now) {
    const { up: stream, timeout } = this.plan;
    for (const number of this.unknown) {
      if (stream.first + offset(stream.stream, number) + timeout >= now) {
        return;
      }
      this.unknown.delete(number);
      this.sizes.delete(number);
    }
  }

  /** The time to the next request. A request is for the arrivals of up to `MAX_AGES` packets. */
  renewal() {
    if (this.anchor === null) {
      return RETRY;
    }
    const { value: oldest = this.next } = this.unknown.values().next();
    const requests = Math.max(Math.ceil((this.next - oldest) / MAX_AGES), 1);
    return Math.max(Math.floor(RENEWAL / requests), MIN_RENEWAL);
  }

  pollEvent() {
    return this.events.shift() ?? null;
  }

  pollTransmit() {
    return this.prober.pollTransmit() ?? this.out.shift() ?? null;
  }

  pollTimeout() {
    const video = this.video?.pollTimeout() ?? Infinity;
    return Math.min(this.renewAt, this.isComparing() ? this.compareAt : Infinity, this.prober.pollTimeout(), video);
  }
}
