//! One session: DTLS, then SCTP, then messages.

use crate::clock::Clock;
use crate::identity::{Fingerprint, Identity};
use bytes::Bytes;
use dimpl::{Dtls, Output};
use netburn_units::Instant;
use sctp_proto::{
    Association, AssociationHandle, DatagramEvent, Endpoint, EndpointConfig, Event, Payload, PayloadProtocolIdentifier,
    ReliabilityType, ServerConfig, StreamEvent, TransportConfig,
};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// SCTP stream of the data channel. Both sides open it without negotiation (RFC 8831 §6.4).
pub const STREAM: u16 = 0;
/// Maximum length of a message in bytes. A longer message of the browser ends the session.
pub const MAX_MESSAGE: usize = 1400;

/// Receive buffer of a session in bytes.
const RECEIVE_BUFFER: u32 = 128 * 1024;
/// Maximum number of streams in each direction. Data of streams other than [`STREAM`] fill the receive buffer, and a full
/// buffer ends the session.
const STREAMS: u16 = 16;
/// Minimum time until SCTP considers a packet lost without an acknowledgement, in ms. The minimum of Chromium.
const MIN_RTO: u64 = 400;
/// Maximum length of a record with the headers of DTLS and SCTP.
const MAX_RECORD: usize = 2048;
/// SCTP of an association needs an address of its peer. It is not used.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 1);

/// Output of a session.
#[derive(Debug, Default)]
pub(crate) struct Outputs {
    /// Datagrams for the browser.
    pub(crate) datagrams: VecDeque<Vec<u8>>,
    /// Messages of the browser.
    pub(crate) messages: VecDeque<Vec<u8>>,
}

/// The session is over: the browser closed it, or one of its protocols failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Over;

/// Reason for an output of DTLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    /// A received datagram.
    Datagram,
    /// Time, or data to send.
    Timer,
}

/// Returns whether a datagram begins with a HelloVerifyRequest: a record of the content type `handshake` (RFC 6347 §4.1)
/// with this message (§4.3.2).
fn is_hello_verify_request(datagram: &[u8]) -> bool {
    const HANDSHAKE: u8 = 22;
    const HEADER: usize = 13;
    const HELLO_VERIFY_REQUEST: u8 = 3;
    datagram.first() == Some(&HANDSHAKE) && datagram.get(HEADER) == Some(&HELLO_VERIFY_REQUEST)
}

/// DTLS and SCTP of one session.
///
/// **Call order:** after every `handle_*` and `send`, wait until [`poll_timeout`](Self::poll_timeout) or the next input.
/// After [`Over`], drop the session.
pub(crate) struct Session {
    clock: Clock,
    /// Expected fingerprint of the browser's certificate.
    certificate: Fingerprint,
    is_verified: bool,
    dtls: Dtls,
    dtls_at: Option<std::time::Instant>,
    /// The last HelloVerifyRequest, until the browser has returned its cookie.
    hello_verify: Option<Vec<u8>>,
    endpoint: Endpoint,
    association: Option<(AssociationHandle, Association)>,
    is_open: bool,
}

impl Session {
    pub(crate) fn new(now: Instant, clock: Clock, identity: &Identity, certificate: Fingerprint) -> Self {
        let dtls = Dtls::new_12(
            Arc::clone(&identity.config),
            identity.certificate.clone(),
            clock.to_std(now),
        );
        Self {
            clock,
            certificate,
            is_verified: false,
            dtls,
            dtls_at: None,
            hello_verify: None,
            endpoint: Endpoint::new(Arc::new(EndpointConfig::new()), Some(Arc::new(sctp()))),
            association: None,
            is_open: false,
        }
    }

    /// Returns whether messages can be sent.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Processes a datagram of DTLS.
    pub(crate) fn handle_datagram(&mut self, now: Instant, bytes: &[u8], out: &mut Outputs) -> Result<(), Over> {
        self.dtls.handle_timeout(self.clock.to_std(now)).map_err(|_| Over)?;
        self.drain_dtls(now, Trigger::Timer, out)?;
        let before = out.datagrams.len();
        self.dtls.handle_packet(bytes).map_err(|_| Over)?;
        self.advance(now, Trigger::Datagram, out)?;
        // DTLS leaves the answer to a repeated ClientHello to its timer. The answer is not longer than the request.
        if out.datagrams.len() == before
            && let Some(answer) = self.hello_verify.as_ref().filter(|answer| answer.len() <= bytes.len())
        {
            out.datagrams.push_back(answer.clone());
        }
        Ok(())
    }

    /// Sends a message unless more than `most` bytes wait. Returns whether it was accepted.
    pub(crate) fn send(&mut self, now: Instant, message: &[u8], most: usize, out: &mut Outputs) -> Result<bool, Over> {
        let Some((_, association)) = &mut self.association else {
            return Ok(false);
        };
        let Ok(mut stream) = association.stream(STREAM) else {
            return Ok(false);
        };
        let waiting = stream.buffered_amount().unwrap_or(usize::MAX);
        if !self.is_open || waiting.saturating_add(message.len()) > most {
            return Ok(false);
        }
        let written = stream.write_with_ppi(message, PayloadProtocolIdentifier::Binary);
        self.advance(now, Trigger::Timer, out)?;
        Ok(written.is_ok())
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, out: &mut Outputs) -> Result<(), Over> {
        let at = self.clock.to_std(now);
        self.dtls.handle_timeout(at).map_err(|_| Over)?;
        if let Some((handle, association)) = &mut self.association {
            association.handle_timeout(at);
            while let Some(event) = association.poll_endpoint_event() {
                if let Some(event) = self.endpoint.handle_event(*handle, event) {
                    association.handle_event(event);
                }
            }
        }
        self.advance(now, Trigger::Timer, out)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let sctp = self
            .association
            .as_ref()
            .and_then(|(_, association)| association.poll_timeout());
        let first = self.dtls_at.into_iter().chain(sctp).min()?;
        self.clock.instant(first)
    }

    /// Passes data between the protocols until none is left.
    fn advance(&mut self, now: Instant, trigger: Trigger, out: &mut Outputs) -> Result<(), Over> {
        self.drain_dtls(now, trigger, out)?;
        self.read_events(out)?;
        let at = self.clock.to_std(now);
        loop {
            let sent = match self.endpoint.poll_transmit() {
                Some(transmit) => Some(transmit),
                None => self
                    .association
                    .as_mut()
                    .and_then(|(_, association)| association.poll_transmit(at)),
            };
            let Some(sent) = sent else { return Ok(()) };
            if let Payload::RawEncode(packets) = sent.payload {
                for packet in packets {
                    self.dtls.send_application_data(&packet).map_err(|_| Over)?;
                    self.drain_dtls(now, trigger, out)?;
                }
            }
        }
    }

    /// Processes the output of DTLS.
    fn drain_dtls(&mut self, now: Instant, trigger: Trigger, out: &mut Outputs) -> Result<(), Over> {
        let mut buffer = vec![0; MAX_RECORD];
        let mut received = Vec::new();
        loop {
            let mut needed = None;
            match self.dtls.poll_output(&mut buffer) {
                // The address of the browser is not verified before it has returned the cookie of this message. RFC 6347
                // §4.2.1: a timer does not repeat it; the browser repeats its request.
                Output::Packet(bytes) if is_hello_verify_request(bytes) => {
                    self.hello_verify = Some(bytes.to_vec());
                    if trigger == Trigger::Datagram {
                        out.datagrams.push_back(bytes.to_vec());
                    }
                }
                Output::Packet(bytes) => {
                    self.hello_verify = None;
                    out.datagrams.push_back(bytes.to_vec());
                }
                Output::BufferTooSmall { needed: length } => needed = Some(length),
                Output::Timeout(at) => {
                    self.dtls_at = Some(at);
                    break;
                }
                Output::PeerCert(der) => self.is_verified = Fingerprint::from_certificate(der) == self.certificate,
                // The certificate precedes the end of the handshake.
                Output::Connected if !self.is_verified => return Err(Over),
                Output::ApplicationData(bytes) if self.is_verified => received.push(Bytes::copy_from_slice(bytes)),
                Output::CloseNotify => return Err(Over),
                _ => {}
            }
            if let Some(length) = needed {
                if length > usize::from(u16::MAX) {
                    return Err(Over);
                }
                buffer.resize(length, 0);
            }
        }
        for bytes in received {
            self.handle_sctp(now, bytes);
        }
        Ok(())
    }

    fn handle_sctp(&mut self, now: Instant, bytes: Bytes) {
        let event = self.endpoint.handle(self.clock.to_std(now), PEER, None, None, bytes);
        match (event, &mut self.association) {
            (Some((handle, DatagramEvent::NewAssociation(association))), None) => {
                self.association = Some((handle, association));
                // Each further association would occupy memory of the endpoint. A repeated INIT reaches the first one.
                self.endpoint.reject_new_associations();
            }
            (Some((handle, DatagramEvent::AssociationEvent(event))), Some((ours, association))) if handle == *ours => {
                association.handle_event(event);
            }
            // A session has one association.
            _ => {}
        }
    }

    /// Processes the events of SCTP.
    fn read_events(&mut self, out: &mut Outputs) -> Result<(), Over> {
        let Some((_, association)) = &mut self.association else {
            return Ok(());
        };
        while let Some(event) = association.poll() {
            match event {
                Event::Connected => self.is_open = open(association),
                Event::Stream(StreamEvent::Readable { id: STREAM }) => read(association, out),
                Event::HandshakeFailed { .. }
                | Event::AssociationLost { .. }
                | Event::Stream(StreamEvent::Finished { id: STREAM }) => return Err(Over),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Opens the data channel: unordered and without retransmissions. Returns whether this succeeded.
fn open(association: &mut Association) -> bool {
    // The stream exists if data arrived before.
    let _ = association.open_stream(STREAM, PayloadProtocolIdentifier::Binary);
    let stream = association.stream(STREAM);
    stream.is_ok_and(|mut stream| stream.set_reliability_params(true, ReliabilityType::Rexmit, 0).is_ok())
}

/// Reads all messages. SCTP ends the association at a message longer than [`MAX_MESSAGE`].
fn read(association: &mut Association, out: &mut Outputs) {
    let Ok(mut stream) = association.stream(STREAM) else {
        return;
    };
    while let Ok(Some(chunks)) = stream.read_sctp() {
        let mut message = vec![0; chunks.len()];
        if chunks.read(&mut message).is_ok() {
            out.messages.push_back(message);
        }
    }
}

fn sctp() -> ServerConfig {
    let transport = TransportConfig::default()
        .with_max_receive_buffer_size(RECEIVE_BUFFER)
        .with_max_receive_message_size(u32::try_from(MAX_MESSAGE).unwrap_or(u32::MAX))
        .with_max_num_inbound_streams(STREAMS)
        .with_max_num_outbound_streams(STREAMS)
        .with_rto_initial_ms(1_000)
        .with_rto_min_ms(MIN_RTO);
    let mut config = ServerConfig::new();
    config.transport = Arc::new(transport);
    config
}
