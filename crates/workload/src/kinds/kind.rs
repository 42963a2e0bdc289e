//! Names, defaults and fixed properties of kinds.

use super::KindSettings;
use crate::common::{Goal, Priority};
use netburn_units::{BitRate, Duration};
use std::fmt;

/// A kind of workload: its names, the defaults that its built-in workload has, and its fixed properties.
///
/// Several kinds can have the same type of settings: those of [`packets`](super::packets) differ in what is judged.
#[derive(Debug)]
pub struct Kind {
    /// Name in scenario files, records and reports.
    pub name: &'static str,
    /// Name for people, on the page of a station.
    pub label: &'static str,
    /// Name of the built-in workload that has the defaults.
    pub built_in: &'static str,
    /// Default settings.
    pub default_settings: fn() -> KindSettings,
    /// Default traffic class.
    pub default_priority: Priority,
    /// Default goals.
    pub default_goals: &'static [Goal],
    /// Default idle timeout.
    pub default_timeout: Duration,
    /// Transport of an operation.
    pub transport: Transport,
    /// True if the workload can run in several windows. A player and streams of datagrams run once.
    pub can_repeat: bool,
    /// True if each persistent connection of the workload is a connection of its own over HTTP/2 as well. The requests of
    /// other workloads share one.
    pub has_own_connections: bool,
    /// True for transfers without end: a user waits for none of their operations.
    pub is_bulk: bool,
    /// True if throughput describes the workload better than the latency of operations.
    pub is_rated_by_throughput: bool,
    /// True if comparisons contain the latency of operations. For downloads and streams, throughput and windows say more.
    /// The probes of `responsiveness` have several types, which its score combines.
    pub is_waited_for: bool,
    /// True if the end of the TCP handshake of an operation is recorded.
    pub has_handshake_times: bool,
    /// True if there are probes on connections with load (self probes of draft-ietf-ippm-responsiveness). HTTP/2 frames and
    /// unsent data of these connections are then small, so that probes don't wait in the sender.
    pub has_self_probes: bool,
    /// True if the keys `up` and `down` define the packets.
    pub has_stream_keys: bool,
    /// True if a burst down answers the packets up, so that their round trips are judged.
    pub has_round_trips: bool,
    /// Rate from which the default `interval` follows with the size of an operation. `None` for kinds with a default
    /// interval, or without one.
    pub default_rate: Option<BitRate>,
    /// Noun for the latency of an operation, in the text of a goal.
    pub latency_noun: &'static str,
    /// Noun for operations, in a sentence.
    pub operations_noun: &'static str,
    /// Noun for what has the rate of a goal; `None`: a window of time.
    pub rate_noun: Option<&'static str>,
    /// Returns true for goals that the kind supports.
    pub supports: fn(&Goal) -> bool,
}

/// Transport of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Requests over HTTP.
    Http,
    /// A datagram that is returned.
    Echo,
    /// A datagram, or the datagrams of a frame, that are not answered: the latency of an operation is a one-way delay.
    OneWay,
}

impl Kind {
    /// A kind of requests over HTTP, with the most frequent properties. Goals are latencies.
    pub(super) const fn http(name: &'static str, built_in: &'static str, settings: fn() -> KindSettings) -> Self {
        Kind {
            name,
            label: name,
            built_in,
            default_settings: settings,
            default_priority: Priority::BestEffort,
            default_goals: &[],
            default_timeout: Duration::from_secs(30),
            transport: Transport::Http,
            can_repeat: true,
            has_own_connections: false,
            is_bulk: false,
            is_rated_by_throughput: false,
            is_waited_for: true,
            has_handshake_times: false,
            has_self_probes: false,
            has_stream_keys: false,
            has_round_trips: false,
            default_rate: None,
            latency_noun: "latency",
            operations_noun: "samples",
            rate_noun: None,
            supports: |goal| matches!(goal, Goal::Latency { .. }),
        }
    }

    /// A kind of streams of datagrams, with the most frequent properties. A datagram that does not arrive within 2 s is
    /// lost. Goals are latencies and losses.
    pub(super) const fn streams(name: &'static str, settings: fn() -> KindSettings) -> Self {
        Kind {
            default_timeout: Duration::from_secs(2),
            transport: Transport::OneWay,
            can_repeat: false,
            has_stream_keys: true,
            latency_noun: "one-way delay",
            supports: |goal| matches!(goal, Goal::Latency { .. } | Goal::Loss { .. }),
            ..Kind::http(name, name, settings)
        }
    }

    /// Kind with this name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Kind> {
        super::KINDS.iter().copied().find(|kind| kind.name == name)
    }

    /// Returns true if an operation is a datagram that is returned.
    #[must_use]
    pub const fn is_probe(&self) -> bool {
        matches!(self.transport, Transport::Echo)
    }

    /// Returns true if an operation is a datagram: it can be lost, and it uses no connection.
    #[must_use]
    pub const fn is_datagram(&self) -> bool {
        !matches!(self.transport, Transport::Http)
    }

    /// Returns true if an operation is a datagram that is not answered.
    #[must_use]
    pub const fn is_one_way(&self) -> bool {
        matches!(self.transport, Transport::OneWay)
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Kind {}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}
