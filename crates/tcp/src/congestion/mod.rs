//! Congestion control: how much data a sender may have in the network, and its pacing rate.
//!
//! [`Congestion`] is the control of one connection: a [`Window`] in segments, as in Linux's `tcp_sock`, and the
//! algorithm that changes it. *Not* here: loss detection (SACK, RACK), and the gradual reduction of the window during
//! a recovery (PRR, RFC 6937), which the sender does through [`Congestion::set_cwnd`].
//!
//! | file | what | source |
//! |---|---|---|
//! | `window` | slow start, additive increase, restart after idle, undo | RFC 5681, RFC 2861, `tcp_cong.c` |
//! | `cubic` | the cubic function, fast convergence, the Reno-friendly region | RFC 9438, `tcp_cubic.c` |
//! | `hystart` | the end of slow start before a loss | Ha and Rhee 2011, `tcp_cubic.c` |
//! | `bbr` | model of the path: bandwidth and round-trip time | Cardwell et al. 2016, `tcp_bbr.c` |
//! | `rate` | delivery rate samples | draft-cheng-iccrg-delivery-rate-estimation |

mod bbr;
mod cubic;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod hystart;
pub mod rate;
mod window;

use crate::config::CongestionControl;
use bbr::Bbr;
use cubic::Cubic;
use hystart::HyStart;
use netburn_units::{BitRate, Duration, Instant, Seed};
pub use rate::{RateEstimator, RateSample, Snapshot};
pub use window::{INFINITE_SSTHRESH, Window};

/// Congestion state of a sender (`tcp_ca_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum State {
    /// Normal operation.
    #[default]
    Open,
    /// Duplicate or selective acknowledgements, no loss yet.
    Disorder,
    /// The window is being reduced for an ECN echo or a local drop.
    Cwr,
    /// The window is being reduced because of a loss, which is being repaired.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

impl State {
    /// Returns true if the sender reduces the window towards `ssthresh` (`tcp_in_cwnd_reduction`).
    #[must_use]
    pub const fn is_reducing(self) -> bool {
        matches!(self, State::Cwr | State::Recovery)
    }
}

/// Result of one acknowledgement, after SACK and RACK processing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ack {
    /// Time of arrival.
    pub now: Instant,
    /// Segments newly acknowledged, cumulatively or selectively.
    pub acked: u32,
    /// Segments newly marked lost.
    pub lost: u32,
    /// Segments in flight after the acknowledgement.
    pub in_flight: u32,
    /// Segments in flight before the acknowledgement.
    pub prior_in_flight: u32,
    /// Round-trip time of the newest acknowledged segment; none if it was retransmitted (Karn).
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time after the acknowledgement.
    pub srtt: Option<Duration>,
    /// Minimum round-trip time of the last 5 minutes.
    pub min_rtt: Option<Duration>,
    /// True if the receiver may have delayed it: it acknowledges only a single segment smaller than
    /// the MSS (`FLAG_ACK_MAYBE_DELAYED`).
    pub maybe_delayed: bool,
    /// True if it echoes a congestion mark.
    pub ece: bool,
    /// True if the window limited the sender (`tcp_is_cwnd_limited`): a flight filled it, or in
    /// slow start more than half of it.
    pub window_limited: bool,
    /// True if it permits the window to grow: it acknowledges in order, or after reordering it
    /// acknowledges anything (`tcp_may_raise_cwnd`).
    pub may_raise: bool,
    /// Next offset to send (`snd_nxt`).
    pub next: u64,
    /// Offset up to which all data are acknowledged (`snd_una`).
    pub acked_to: u64,
    /// Pacing rate by the sender's own rule, before this acknowledgement; also computed without
    /// pacing.
    pub pacing_rate: Option<BitRate>,
    /// Delivery rate.
    pub rate: RateSample,
    /// Congestion state after the acknowledgement.
    pub state: State,
}

/// Parameters of a new connection.
#[derive(Debug, Clone, Copy)]
pub struct Established {
    /// Time of establishment.
    pub now: Instant,
    /// Maximum segment size in bytes of content.
    pub mss: u32,
    /// Next offset to send.
    pub next: u64,
    /// Round-trip time of the handshake, if it was measured.
    pub srtt: Option<Duration>,
    /// True if segments are paced (`sk_pacing_status`): by the `fq` qdisc or by the connection
    /// itself.
    pub paced: bool,
}

/// Congestion control of one connection.
///
/// **Call order:**
///
/// - [`on_established`](Self::on_established): first.
/// - [`on_sent`](Self::on_sent): before every transmission.
/// - [`on_ack`](Self::on_ack): for every acknowledgement, after the
///   [`on_congestion`](Self::on_congestion), [`on_rto`](Self::on_rto), [`on_undo`](Self::on_undo)
///   or [`on_recovered`](Self::on_recovered) that it caused.
#[derive(Debug, Clone)]
pub struct Congestion {
    window: Window,
    control: Control,
}

/// Algorithm that controls the window.
#[derive(Debug, Clone)]
enum Control {
    Reno,
    Cubic(Cubic, HyStart),
    Bbr(Box<Bbr>),
}

/// Time after a recovery in which round-trip times are ignored, because queues are being emptied
/// (`cubictcp_acked`).
const DISCARDED: Duration = Duration::from_secs(1);

impl Congestion {
    /// Creates the control `control` with an initial window of `initial_cwnd` segments (RFC 6928:
    /// 10). `random` selects the initial phase of BBR's gain cycle. Returns `None` for a control
    /// without a model.
    #[must_use]
    pub fn new(control: &CongestionControl, initial_cwnd: u32, random: u64) -> Option<Self> {
        let control = match control {
            CongestionControl::Reno => Control::Reno,
            CongestionControl::Cubic => Control::Cubic(Cubic::default(), HyStart::default()),
            CongestionControl::Bbr => Control::Bbr(Box::new(Bbr::new(Seed(random).stream("bbr", 0)))),
            CongestionControl::System(_) => return None,
        };
        Some(Self {
            window: Window::new(initial_cwnd),
            control,
        })
    }

    /// Disables BBR's estimate of acknowledgement aggregation, as before Linux 5.1. No effect on
    /// the others.
    #[must_use]
    pub fn without_ack_aggregation(mut self) -> Self {
        if let Control::Bbr(bbr) = &mut self.control {
            bbr.forget_aggregation();
        }
        self
    }

    /// Starts after the handshake.
    pub fn on_established(&mut self, established: &Established) {
        match &mut self.control {
            Control::Reno => {}
            Control::Cubic(_, hystart) => {
                hystart.on_established(established.now, established.next, established.paced);
            }
            Control::Bbr(bbr) => bbr.on_established(established, &self.window),
        }
    }

    /// Processes an acknowledgement. During a reduction ([`State::is_reducing`]) the sender
    /// controls the window, unless [`has_own_reduction`](Self::has_own_reduction).
    pub fn on_ack(&mut self, ack: &Ack) {
        let window = &mut self.window;
        let raises = !ack.state.is_reducing() && ack.may_raise && ack.window_limited;
        match &mut self.control {
            Control::Reno => {
                if raises {
                    let left = window.slow_start(ack.acked);
                    if left > 0 {
                        window.increase(window.cwnd(), left);
                    }
                }
            }
            Control::Cubic(cubic, hystart) => {
                if let Some(rtt) = ack.rtt
                    && !cubic.began_within(ack.now, DISCARDED)
                    && hystart.on_ack(&hystart::Sample::from_ack(ack, rtt, window))
                {
                    window.set_ssthresh(window.cwnd());
                }
                if raises {
                    let left = window.slow_start(ack.acked);
                    if left > 0 {
                        cubic.avoid(window, ack.now, left, hystart.shortest_rtt());
                    }
                }
            }
            Control::Bbr(bbr) => bbr.on_ack(window, ack),
        }
    }

    /// Starts a reduction after a loss or an ECN echo: sets `ssthresh` (`tcp_init_cwnd_reduction`).
    /// The sender reduces the window to it (PRR) and ends with
    /// [`on_recovered`](Self::on_recovered).
    pub fn on_congestion(&mut self, _now: Instant, _in_flight: u32) {
        let ssthresh = self.reduced();
        self.window.begin_reduction(ssthresh);
    }

    /// The retransmission timer expired and `in_flight` segments are assumed in flight, after the
    /// others were marked lost (`tcp_enter_loss`). `new_episode`: `ssthresh` is lowered; not if the
    /// timeout repeats for data that were already being repaired.
    pub fn on_rto(&mut self, now: Instant, in_flight: u32, new_episode: bool) {
        if new_episode {
            let ssthresh = self.reduced();
            self.window.begin_reduction(ssthresh);
        }
        self.window.set_cwnd(in_flight.saturating_add(1));
        match &mut self.control {
            Control::Reno => {}
            Control::Cubic(cubic, hystart) => {
                cubic.reset();
                hystart.reset(now);
            }
            Control::Bbr(bbr) => bbr.on_rto(),
        }
    }

    /// Reverts the last reduction, which was spurious (`tcp_undo_cwnd_reduction`).
    pub fn on_undo(&mut self, _now: Instant) {
        match &mut self.control {
            Control::Reno | Control::Cubic(..) => self.window.undo(),
            Control::Bbr(bbr) => bbr.on_undo(),
        }
    }

    /// Ends a reduction ([`State::is_reducing`]) that was not reverted: the window is `ssthresh`
    /// (`tcp_end_cwnd_reduction`).
    pub fn on_recovered(&mut self, _now: Instant) {
        if !self.has_own_reduction() {
            self.window.end_reduction();
        }
    }

    /// Data are about to be sent after an idle time of `idle`, longer than the retransmission
    /// timeout `rto`. The window is halved for each `rto` (`tcp_cwnd_restart`, RFC 2861, RFC 5681
    /// §4.1). BBR ignores it.
    pub fn on_restart(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        if !self.has_own_reduction() {
            self.window.restart(idle, rto);
        }
    }

    /// For a whole `rto` the application used at most `used` segments of the window
    /// (`tcp_cwnd_application_limited`, RFC 2861). BBR ignores it.
    pub fn on_underused(&mut self, used: u32) {
        if !self.has_own_reduction() {
            self.window.validate(used);
        }
    }

    /// Data are about to be sent while `in_flight` segments are in flight; `app_limited`: the
    /// application limits the rate ([`RateEstimator::is_app_limited`]).
    pub fn on_sent(&mut self, now: Instant, in_flight: u32, app_limited: bool) {
        match &mut self.control {
            Control::Reno => {}
            Control::Cubic(cubic, _) => cubic.on_sent(now, in_flight == 0),
            Control::Bbr(bbr) => {
                if in_flight == 0 && app_limited {
                    bbr.on_idle_end(&mut self.window, now);
                }
            }
        }
    }

    /// Congestion window in segments; at least 1.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.window.cwnd()
    }

    /// Slow start threshold in segments; [`INFINITE_SSTHRESH`] before the first reduction.
    #[must_use]
    pub fn ssthresh(&self) -> u32 {
        self.window.ssthresh()
    }

    /// Returns true if the window is below the threshold (`tcp_in_slow_start`).
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }

    /// Sets the window, to at least one segment: for PRR in the sender, and for a handshake that
    /// lost its SYN.
    pub fn set_cwnd(&mut self, segments: u32) {
        self.window.set_cwnd(segments);
    }

    /// BBR's own rate. `None`: the sender's rule applies, 200 % of cwnd × mss ÷ srtt while cwnd is
    /// below half of ssthresh, 120 % above (`tcp_update_pacing_rate`).
    #[must_use]
    pub fn pacing_rate(&self) -> Option<BitRate> {
        match &self.control {
            Control::Reno | Control::Cubic(..) => None,
            Control::Bbr(bbr) => Some(bbr.pacing_rate()),
        }
    }

    /// Minimum number of segments in one GSO burst (`min_tso_segs`).
    #[must_use]
    pub fn min_burst(&self) -> u32 {
        match &self.control {
            Control::Reno | Control::Cubic(..) => 2,
            Control::Bbr(bbr) => bbr.min_burst(),
        }
    }

    /// Returns true if it controls its window in every state, without PRR (`cong_control`): BBR.
    #[must_use]
    pub fn has_own_reduction(&self) -> bool {
        matches!(self.control, Control::Bbr(_))
    }

    /// Returns true while BBR drains the path to measure its round-trip time: deliveries are no
    /// sample of the bandwidth. After each acknowledgement in this state the sender calls
    /// [`RateEstimator::set_app_limited`].
    #[must_use]
    pub fn is_probing_rtt(&self) -> bool {
        match &self.control {
            Control::Reno | Control::Cubic(..) => false,
            Control::Bbr(bbr) => bbr.is_probing_rtt(),
        }
    }

    /// Threshold after a reduction.
    fn reduced(&mut self) -> u32 {
        match &mut self.control {
            // RFC 5681 equation 4, with the window instead of the flight size, as in Linux
            // (`tcp_reno_ssthresh`).
            Control::Reno => (self.window.cwnd() / 2).max(2),
            Control::Cubic(cubic, _) => cubic.reduced(self.window.cwnd()),
            Control::Bbr(bbr) => {
                bbr.on_congestion(&self.window);
                self.window.ssthresh()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9438 §5.8: idle time doesn't count for CUBIC. Ten seconds without data don't advance the
    /// window; ten seconds without acknowledgements, with data in flight, do.
    #[test]
    fn idle_time_does_not_count() {
        let cwnd = |pause: u64, in_flight: u32| {
            let mut control = Congestion::new(&CongestionControl::Cubic, 100, 0).expect("modelled");
            control.on_congestion(Instant::ZERO, 100);
            control.on_recovered(Instant::ZERO);
            assert_eq!(control.cwnd(), 70);
            for step in 0..300 {
                let mut now = Instant::from_millis(10 * step);
                let begins = step == 150;
                if step >= 150 {
                    now += Duration::from_secs(pause);
                }
                control.on_sent(now, if begins { in_flight } else { 50 }, false);
                control.on_ack(&Ack {
                    now,
                    acked: 20,
                    rtt: Some(Duration::from_millis(50)),
                    window_limited: true,
                    may_raise: true,
                    ..Ack::default()
                });
            }
            control.cwnd()
        };
        let (never, idle, busy) = (cwnd(0, 50), cwnd(10, 0), cwnd(10, 50));
        assert!(idle.abs_diff(never) <= 1, "{idle} and {never}");
        assert!(busy > 2 * never, "{busy} and {never}");
    }

    /// `bbr_cwnd_event`: when the application continues after an idle period, BBR paces at the
    /// bandwidth, in every phase. Here it was probing at 5/4, which it resumes with more data in
    /// flight.
    #[test]
    fn bbr_begins_again_at_the_bandwidth() {
        let span = Duration::from_millis(10);
        let mut control = Congestion::new(&CongestionControl::Bbr, 10, 0).expect("modelled");
        control.on_established(&Established {
            now: Instant::ZERO,
            mss: 1_448,
            next: 0,
            srtt: Some(span),
            paced: true,
        });
        for round in 0..60 {
            control.on_ack(&Ack {
                now: Instant::ZERO + span * (round + 1),
                acked: 100,
                in_flight: 100,
                prior_in_flight: 100,
                rtt: Some(span),
                srtt: Some(span),
                rate: RateSample {
                    delivered: 100,
                    interval: Some(span),
                    prior_delivered: Some(100 * round),
                    total_delivered: 100 * (round + 1),
                    app_limited: false,
                },
                ..Ack::default()
            });
        }
        let now = Instant::from_secs(1);
        let share = |control: &Congestion| control.pacing_rate().expect("BBR has one").as_mbps_f64() / (0.99 * 115.84);
        for (in_flight, app_limited, gain) in [(100, true, 1.25), (0, false, 1.25), (0, true, 1.0)] {
            control.on_sent(now, in_flight, app_limited);
            assert!((share(&control) - gain).abs() < 0.01, "{}", share(&control));
        }
    }

    /// RFC 5681 equation 4 and RFC 9438 §4.6, at least two; BBR doesn't change the threshold.
    #[test]
    fn the_threshold_after_a_reduction() {
        for (control, before, after) in [
            (CongestionControl::Reno, 10, 5),
            (CongestionControl::Reno, 3, 2),
            (CongestionControl::Cubic, 10, 7),
            (CongestionControl::Cubic, 2, 2),
            (CongestionControl::Bbr, 10, INFINITE_SSTHRESH),
        ] {
            let mut congestion = Congestion::new(&control, before, 0).expect("modelled");
            congestion.on_congestion(Instant::ZERO, before);
            assert_eq!(congestion.ssthresh(), after, "{control}");
            congestion.on_recovered(Instant::ZERO);
            let own = congestion.has_own_reduction();
            assert_eq!(congestion.cwnd(), if own { before } else { after }, "{control}");
            congestion.on_undo(Instant::ZERO);
            assert_eq!(
                (congestion.cwnd(), congestion.ssthresh()),
                (before, INFINITE_SSTHRESH),
                "{control}"
            );
            // A timeout leaves the data in flight and one more segment.
            congestion.on_rto(Instant::ZERO, 0, true);
            assert_eq!((congestion.cwnd(), congestion.ssthresh()), (1, after), "{control}");
            congestion.on_rto(Instant::ZERO, 2, false);
            assert_eq!((congestion.cwnd(), congestion.ssthresh()), (3, after), "{control}");
        }
    }
}
