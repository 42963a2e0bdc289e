//! State of loss recovery: congestion state, proportional rate reduction, undo and probes.

use crate::congestion::State;

/// Congestion state of a sender.
#[derive(Debug, Clone)]
pub(crate) struct Recovery {
    pub(crate) state: State,
    /// End of the sent data when the state was entered: the episode ends with its acknowledgement
    /// (`high_seq`).
    pub(crate) high: u64,
    pub(crate) prr: Prr,
    /// State for an undo, while the episode can be reverted.
    pub(super) undo: Option<Undo>,
    /// Time of the first retransmission of the episode, in milliseconds of the timestamps.
    pub(crate) retransmitted_at: Option<i64>,
    /// True if the timeout may be spurious (F-RTO, RFC 5682).
    pub(super) frto: bool,
    /// F-RTO sends new data before lost data.
    pub(crate) new_data_first: bool,
    /// Tail loss probe in flight.
    pub(crate) tail_probe: Option<TailProbe>,
    /// Transmission requested by a timer.
    pub(crate) probe: Option<Probe>,
}

/// Explicit congestion notification (RFC 3168): the peer repeats ECE until it receives CWR.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ecn {
    pub(crate) negotiated: bool,
    /// True if the next new segment carries CWR.
    pub(super) sends_cwr: bool,
}

impl Ecn {
    /// The window is reduced. The next new segment reports this with CWR.
    pub(super) fn on_reduction(&mut self) {
        self.sends_cwr |= self.negotiated;
    }
}

/// Proportional rate reduction (RFC 6937).
#[derive(Debug, Clone, Default)]
pub(crate) struct Prr {
    pub(super) prior_cwnd: u32,
    pub(super) delivered: u32,
    pub(crate) out: u32,
}

/// A tail loss probe (RFC 8985 §7.3).
#[derive(Debug, Clone, Copy)]
pub(crate) struct TailProbe {
    pub(crate) end: u64,
    pub(crate) retransmission: bool,
}

/// State for the detection of a spurious reduction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Undo {
    pub(super) from: u64,
    /// Retransmitted segments without a reported duplicate; `None` before the first retransmission.
    pub(super) outstanding: Option<u32>,
    /// True if the window may be restored: not after an ECN echo (`prior_ssthresh`).
    pub(super) window: bool,
}

/// Transmission requested by a timer, independent of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    /// First record, after a timeout.
    Head,
    /// New data, otherwise the last segment.
    Tail,
    /// Data that the peer's window permits, otherwise a window probe without content.
    Window,
}

impl Recovery {
    pub(crate) fn new() -> Self {
        Self {
            state: State::Open,
            high: 0,
            prr: Prr::default(),
            undo: None,
            retransmitted_at: None,
            frto: false,
            new_data_first: false,
            tail_probe: None,
            probe: None,
        }
    }
}
