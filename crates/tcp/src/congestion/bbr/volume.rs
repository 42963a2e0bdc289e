//! Volume that BBR permits in the network. It is a gain of the path's volume plus an allowance for
//! bursts, less in the first round of a recovery.

use super::{Ack, Bbr, MIN_CWND, Mode, State, Window, narrow};
use netburn_units::BitRate;

/// Below this rate bursts are single segments.
const SLOW: BitRate = BitRate::from_bps(1_200_000);
/// Maximum burst: 64 KiB minus a byte and the room for headers (`GSO_LEGACY_MAX_SIZE` − 1 −
/// `MAX_TCP_HEADER`).
const BURST_BYTES: u64 = 65_536 - 1 - 320;
/// Maximum number of segments in a burst.
const BURST_SEGMENTS: u64 = 127;
/// Window before there is an estimate of the path, in segments.
const FIRST_CWND: u64 = 10;

impl Bbr {
    /// `bbr_min_tso_segs`.
    pub(in crate::congestion) fn min_burst(&self) -> u32 {
        if self.pacing_rate < SLOW { 1 } else { 2 }
    }

    /// `bbr_set_cwnd`.
    pub(super) fn update_cwnd(&mut self, window: &mut Window, ack: &Ack) {
        if ack.acked > 0 {
            let cwnd = self.cwnd_after(window.cwnd(), ack);
            window.set_cwnd(cwnd);
        }
        if self.mode == Mode::ProbeRtt {
            window.set_cwnd(window.cwnd().min(MIN_CWND));
        }
    }

    fn cwnd_after(&mut self, cwnd: u32, ack: &Ack) -> u32 {
        let cwnd = self.recover_or_restore(cwnd, ack);
        if self.conserving {
            return cwnd.max(ack.in_flight.saturating_add(ack.acked));
        }
        let bandwidth = self.bandwidth();
        let mut target = self.product(self.cwnd_gain);
        if let Some(aggregation) = &self.aggregation
            && self.pipe.reached
        {
            target += aggregation.excess(bandwidth);
        }
        let target = narrow(self.with_bursts(target));
        let grown = cwnd.saturating_add(ack.acked);
        let cwnd = if self.pipe.reached {
            grown.min(target)
        } else if cwnd < target || ack.rate.total_delivered < FIRST_CWND {
            grown
        } else {
            cwnd
        };
        cwnd.max(MIN_CWND)
    }

    /// In the first round of a recovery delivered data are replaced, and no more; afterwards the
    /// window is restored (`bbr_set_cwnd_to_recover_or_restore`).
    fn recover_or_restore(&mut self, cwnd: u32, ack: &Ack) -> u32 {
        let mut cwnd = cwnd.saturating_sub(ack.lost).max(1);
        if ack.state == State::Recovery && self.prior_state != State::Recovery {
            self.conserving = true;
            self.round.ends = ack.rate.total_delivered;
            cwnd = ack.in_flight.saturating_add(ack.acked);
        } else if self.prior_state >= State::Recovery && ack.state < State::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        self.prior_state = ack.state;
        cwnd
    }

    pub(super) fn save_cwnd(&mut self, cwnd: u32) {
        self.prior_cwnd = if self.prior_state < State::Recovery && self.mode != Mode::ProbeRtt {
            cwnd
        } else {
            self.prior_cwnd.max(cwnd)
        };
    }

    /// `gain` times the path's volume in segments; the initial window while there is no round-trip
    /// time (`bbr_bdp`).
    fn product(&self, gain: u64) -> u64 {
        self.min_rtt
            .value
            .map_or(FIRST_CWND, |rtt| self.bandwidth().product(rtt, gain))
    }

    /// The same with the allowance for bursts (`bbr_inflight`).
    pub(super) fn target(&self, gain: u64) -> u64 {
        self.with_bursts(self.product(gain))
    }

    /// Adds three bursts, for the host's queue, the path and the receiver. Rounds up to an even
    /// number, for delayed acknowledgements. Adds two more while probing
    /// (`bbr_quantization_budget`).
    fn with_bursts(&self, segments: u64) -> u64 {
        let even = (segments + 3 * self.burst_goal() + 1) & !1;
        let probing = self.mode == Mode::ProbeBandwidth && self.cycle == 0;
        if probing { even + 2 } else { even }
    }

    /// Segments of a burst: the data of 1/1024 s at the pacing rate (`bbr_tso_segs_goal`).
    pub(super) fn burst_goal(&self) -> u64 {
        let bytes = (self.pacing_rate.as_bps() / 8 / 1_024).min(BURST_BYTES);
        (bytes / u64::from(self.mss))
            .max(u64::from(self.min_burst()))
            .min(BURST_SEGMENTS)
    }
}
