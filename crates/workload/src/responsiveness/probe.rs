//! One probe of a responsiveness test: its kind and its times.

use super::part::Part;
use crate::operation::{Operation, Outcome};
use netburn_stats::rpm::{ForeignProbe, TlsHandshake};
use netburn_units::{Duration, Instant};
use std::num::NonZeroU32;

/// Kind of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeKind {
    /// Uses a new connection.
    Foreign,
    /// Uses a connection with load (a *self* probe).
    Own,
}

/// Times of a probe with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeTimes {
    /// Times of a foreign probe.
    Foreign(ForeignProbe),
    /// Time of a self probe from its request until the whole response has been received.
    Own(Duration),
}

impl ProbeKind {
    /// Kind of the probe with this number; `None` for an object of the load.
    #[must_use]
    pub const fn from_sequence(sequence: u64) -> Option<Self> {
        match Part::from_sequence(sequence) {
            Part::Foreign => Some(ProbeKind::Foreign),
            Part::Own => Some(ProbeKind::Own),
            Part::Load => None,
        }
    }
}

impl ProbeTimes {
    /// Times of a probe that has finished. `tls`: round trips of the TLS handshakes; `None` without TLS.
    #[must_use]
    pub fn from_operation(operation: &Operation, tls: Option<NonZeroU32>) -> Option<Self> {
        if operation.outcome != Outcome::Finished {
            return None;
        }
        let (started, finished) = (operation.started?, operation.finished?);
        match ProbeKind::from_sequence(operation.sequence)? {
            ProbeKind::Own => Some(ProbeTimes::Own(finished.checked_since(started)?)),
            ProbeKind::Foreign => {
                let (tcp, connected) = (operation.tcp_connected?, operation.connected?);
                let nanos = |to: Instant, from: Instant| to.checked_since(from).map(Duration::as_nanos);
                let total_ns = nanos(connected, tcp)?;
                Some(ProbeTimes::Foreign(ForeignProbe {
                    tcp_ns: nanos(tcp, started)?,
                    tls: tls.map(|round_trips| TlsHandshake { total_ns, round_trips }),
                    http_ns: nanos(finished, connected)?,
                }))
            }
        }
    }
}

/// Delay of the start after the due time from which a probe is late.
pub const LATE: Duration = Duration::from_millis(10);

/// Returns the time from the due time of a probe to its start; `None` for a probe that was not sent.
#[must_use]
pub fn start_delay(operation: &Operation) -> Option<Duration> {
    operation.started?.checked_since(operation.due)
}
