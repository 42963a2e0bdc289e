// The connection to the fleet's controller that stays open between runs. It makes this device a member of the fleet.

import * as messages from "./messages.js";
import { ReconnectingSocket } from "./socket.js";

/** The interval between heartbeats (ms). */
const HEARTBEAT_INTERVAL = 5000;
/** Reject codes of an invalid token, which a retry cannot change. */
const INVALID_TOKEN = ["invalid_token", "token_revoked"];

/**
 * A membership. `options` is `{url, name, token, version, system}`. `context` is `{pendingRuns(), changed(),
 * invited(message), requested(run), acknowledged(run, sequence), discard(run), browser}`. `state` is `joining`, `member`,
 * `reconnecting`, `rejected` or `left`.
 */
export class FleetConnection {
  constructor(options, context) {
    Object.assign(this, { options, context });
    this.state = "joining";
    this.fleet = "";
    this.reason = null;
    /** True if the controller has rejected the token. */
    this.invalidToken = false;
    /** True after the first `welcome`. A later `rejected` may be temporary. */
    this.wasMember = false;
    const on = { open: () => this.register(), text: (text) => this.receive(text), lost: () => this.lost() };
    this.socket = new ReconnectingSocket(options.url, on, context.browser);
    this.timer = context.browser.setInterval(() => {
      if (this.state === "member") {
        this.socket.send(messages.heartbeat());
      }
    }, HEARTBEAT_INTERVAL);
  }

  /** Leaves the fleet. */
  leave() {
    this.socket.send(messages.bye());
    this.end("left", null);
  }

  /** Reconnects, and so announces again which results are pending here. */
  reconnect() {
    this.socket.reconnect();
  }

  send(message) {
    this.socket.send(message);
  }

  register() {
    this.socket.send(messages.register({ ...this.options, pending: this.context.pendingRuns() }));
  }

  receive(text) {
    const message = messages.decodeOrEmpty(text);
    const handle = {
      welcome: () => {
        this.state = "member";
        this.wasMember = true;
        this.socket.resetBackoff();
        this.reason = null;
        this.fleet = String(message.fleet ?? "");
      },
      rejected: () => this.rejected(message.code, message.reason),
      invite: () => this.context.invited(message),
      "request-results": () => this.context.requested(message.run),
      ack: () => this.context.acknowledged(message.run, message.sequence),
      discard: () => this.context.discard(message.run),
      bye: () => {
        this.reason = message.reason ? String(message.reason) : null;
      },
    };
    if (Object.hasOwn(handle, message.type)) {
      handle[message.type]();
      this.context.changed();
    }
  }

  rejected(code, text) {
    const reason = String(text ?? "no reason was given");
    if (this.state === "member") {
      return;
    }
    this.reason = reason;
    this.invalidToken = INVALID_TOKEN.includes(code);
    // The controller may still hold the previous connection of this device; it closes that one after a timeout.
    if (!this.wasMember || this.invalidToken) {
      this.end("rejected", reason);
    }
  }

  lost() {
    if (this.state !== "rejected") {
      this.state = "reconnecting";
      this.context.changed();
    }
  }

  end(state, reason) {
    this.state = state;
    this.reason = reason;
    this.context.browser.clearInterval(this.timer);
    this.socket.close();
    this.context.changed();
  }
}
