//! The server, and a wired link with the same properties in both directions.

use super::{LinkSetting, wired_queue};
use crate::enums::words;
use crate::environment::MODELLED;
use crate::scalars::{Delay, Flag, QueueBytes, Rate, Share, Span};
use crate::section_macro::section;
use crate::value::section_values;
use netburn_tcp::config::CongestionControl;
use netburn_units::{BitRate, ByteSize, Duration, Probability};

/// The server that answers the stations' requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// Link between server and access points; on `local` its rate limits the server.
    pub link: Hop,
    /// HTTP version of the requests.
    pub http: Http,
    /// Use of TLS.
    pub tls: bool,
    /// Congestion control of sent data; `None`: the system's, or CUBIC where TCP is modelled.
    pub cc: Option<CongestionControl>,
    /// Acceptance of ECN when a station requests it. Default: `true`.
    pub ecn: bool,
    /// Minimum time between two interrupts of the Ethernet card. Default: [`DEFAULT_INTERRUPT_INTERVAL`].
    pub interrupt_interval: Duration,
}

/// Minimum time between two interrupts of an Ethernet card: 20 000 per second. This is the limit of the adaptive
/// moderation of Intel's drivers under mixed load (`IGB_20K_ITR` of igb, `low_latency` of e1000e).
pub const DEFAULT_INTERRUPT_INTERVAL: Duration = Duration::from_micros(50);

section! {
    /// The server, and its link to the access points.
    ServerSection(Server = Server::default()) {
        /// Link between the server and the access points.
        link: LinkSection => link;
        /// HTTP version of the requests.
        http: Http => http;
        /// Use of TLS.
        tls: Flag => tls;
        /// TCP congestion control of the server: `reno`, `cubic`, `bbr`, or another one of the operating system. A workload's `cc` overrides it.
        cc: CongestionControl => cc, default "`cubic`; on local and fleet the system's";
        /// Acceptance of ECN (RFC 3168) when a station requests it, as in Linux (`tcp_ecn` 2).
        ecn: Flag => ecn, on MODELLED else SystemSettings;
        /// Minimum time between two interrupts of the server's Ethernet card. GRO joins the segments of one interrupt, and TCP acknowledges them together: four or five at 1 Gbit/s and 50 µs. With `0 s` every packet interrupts, and TCP acknowledges every second segment. Stations on a wire use 50 µs.
        interrupt_interval: Span => interrupt_interval, on MODELLED else RealHosts;
    }
}

/// A wired link with the same properties in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hop {
    /// Rate in each direction. `None`: 1 Gbit/s where a rate is needed.
    pub rate: Option<BitRate>,
    /// One-way delay.
    pub delay: Duration,
    /// Share of packets lost in each direction.
    pub loss: Probability,
    /// Capacity of the queue in each direction; `None`: [`DEFAULT_QUEUE_TIME`](super::DEFAULT_QUEUE_TIME) at the rate.
    pub queue: Option<ByteSize>,
}

section! {
    /// A wired link with the same properties in both directions.
    LinkSection(Hop = Hop::default()) changes LinkSetting {
        /// Rate of the link; on local, of the server.
        rate: Rate => rate, default "1 Gbit/s", changes |value| (LinkSetting::Rate(value));
        /// One-way delay.
        delay: Delay => delay, changes |value| (LinkSetting::Delay(value)), on MODELLED else RealPath;
        /// Share of packets lost.
        loss: Share => loss, changes |value| (LinkSetting::Loss(value)), on MODELLED else RealPath;
        /// Capacity of the queue.
        queue: QueueBytes => queue, default wired_queue("`rate`"), changes |value| (LinkSetting::Queue(value)), on MODELLED else RealPath;
    }
}

section_values! {
    ServerSection => Server,
    LinkSection => Hop,
}

/// HTTP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Http {
    /// HTTP/1.1 (RFC 9112).
    #[default]
    H1,
    /// HTTP/2 (RFC 9113).
    H2,
}

words!(Http, HTTP, ["1.1" => Http::H1, "2" => Http::H2]);

impl Default for Server {
    fn default() -> Self {
        Server {
            link: Hop::default(),
            http: Http::default(),
            tls: false,
            cc: None,
            ecn: true,
            interrupt_interval: DEFAULT_INTERRUPT_INTERVAL,
        }
    }
}

impl Http {
    /// Name in files: `1.1` or `2`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Http::H1 => "1.1",
            Http::H2 => "2",
        }
    }
}
