// The page's part of data channels: the connections, and the SDP (RFC 8839, RFC 8841) that the browser expects.

/** The data channel is unordered and unreliable. Both sides open it as SCTP stream 0 without negotiation. */
const OPTIONS = { negotiated: true, id: 0, ordered: false, maxRetransmits: 0 };

/** The SHA-256 of the certificate in the browser's offer, as hexadecimal digits; `null` without one. */
export function certificateOf(sdp) {
  const match = /^a=fingerprint:sha-256 ([\dA-F:]{95})\s*$/im.exec(sdp);
  return match ? match[1].replaceAll(":", "").toLowerCase() : null;
}

/** The answer of a server in SDP: ICE lite with one candidate, and the passive side of DTLS. */
export function answerSdp(offer, { ufrag, password, certificate, host, port }) {
  const [, mid] = /^a=mid:(\S+)\s*$/m.exec(offer);
  const lines = [
    "v=0",
    "o=- 1 1 IN IP4 0.0.0.0",
    "s=-",
    "t=0 0",
    "a=ice-lite",
    `a=group:BUNDLE ${mid}`,
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
    "c=IN IP4 0.0.0.0",
    `a=mid:${mid}`,
    `a=ice-ufrag:${ufrag}`,
    `a=ice-pwd:${password}`,
    `a=fingerprint:sha-256 ${certificate.toUpperCase().match(/../g).join(":")}`,
    "a=setup:passive",
    "a=sctp-port:5000",
    "a=max-message-size:1400",
    // The priority of a host candidate of component 1 (RFC 8445 §5.1.2.1).
    `a=candidate:1 1 udp 2130706431 ${host} ${port} typ host`,
    "a=end-of-candidates",
  ];
  return `${lines.join("\r\n")}\r\n`;
}

/** The connections that the worker has requested, by number. `post(message, transfer)` sends to the worker. */
export class PeerConnections {
  constructor(post, browser = globalThis) {
    Object.assign(this, { post, browser });
    this.connections = new Map();
  }

  /** Handles a request of the worker: `{number}` with `open`, `answer` or `close`. */
  async handle({ number, open, answer, close }) {
    try {
      if (open) {
        await this.open(number);
      } else if (answer) {
        const connection = this.connections.get(number);
        const sdp = answerSdp(connection.localDescription.sdp, answer);
        await connection.setRemoteDescription({ type: "answer", sdp });
      } else if (close) {
        this.connections.get(number)?.close();
        this.connections.delete(number);
      }
    } catch (error) {
      this.post({ channel: { number, error: `the browser rejects the connection: ${error?.message ?? error}` } });
    }
  }

  async open(number) {
    const { RTCPeerConnection } = this.browser;
    if (!RTCPeerConnection) {
      return this.post({ channel: { number, error: "this browser has no WebRTC" } });
    }
    const connection = new RTCPeerConnection();
    this.connections.set(number, connection);
    const channel = connection.createDataChannel("netburn", OPTIONS);
    try {
      // A browser transfers a channel only in the task that creates it.
      this.post({ channel: { number, channel } }, [channel]);
    } catch {
      return this.post({ channel: { number, error: "this browser cannot pass a data channel to a worker" } });
    }
    await connection.setLocalDescription();
    const certificate = certificateOf(connection.localDescription.sdp);
    this.post({ channel: certificate ? { number, certificate } : { number, error: "the browser's offer has no SHA-256" } });
  }

  closeAll() {
    this.connections.forEach((connection) => connection.close());
    this.connections.clear();
  }
}
