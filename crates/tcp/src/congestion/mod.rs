//! Congestion control: how much a sender may have in the network, and how fast it may put it there.
//!
//! [`Congestion`] is one connection's: a [`Window`] in segments, as Linux keeps it in `tcp_sock`, and the control that
//! moves it. What is *not* here: which segments are lost (SACK, RACK), and walking the window down during a recovery
//! (PRR, RFC 6937), which the sender does through [`Congestion::set_cwnd`].
//!
//! | file | what | source |
//! |---|---|---|
//! | `window` | slow start, additive increase, restart after idle, undo | RFC 5681, RFC 2861, `tcp_cong.c` |
//! | `cubic` | the cubic function, fast convergence, the Reno-friendly region | RFC 9438, `tcp_cubic.c` |
//! | `hystart` | the end of slow start before a loss | Ha and Rhee 2011, `tcp_cubic.c` |
//! | `bbr` | a model of the path: bandwidth and round trip | Cardwell et al. 2016, `tcp_bbr.c` |
//! | `rate` | delivery rate samples | draft-cheng-iccrg-delivery-rate-estimation |

mod bbr;
mod cubic;
#[doc(hidden)]
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

/// Where a sender stands between all well and loss (`tcp_ca_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum State {
    /// Nothing suspicious.
    #[default]
    Open,
    /// Duplicate or selective acknowledgements, no loss yet.
    Disorder,
    /// The window is being reduced for an ECN echo or a local drop.
    Cwr,
    /// The window is being reduced for a loss, which is being repaired.
    Recovery,
    /// The retransmission timer has run out.
    Loss,
}

impl State {
    /// Whether the sender walks the window down to `ssthresh` (`tcp_in_cwnd_reduction`).
    #[must_use]
    pub const fn is_reducing(self) -> bool {
        matches!(self, State::Cwr | State::Recovery)
    }
}

/// What one acknowledgement brought, after SACK and RACK had their say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ack {
    /// When it came.
    pub now: Instant,
    /// Segments newly acknowledged, cumulatively or selectively.
    pub acked: u32,
    /// Segments newly marked lost.
    pub lost: u32,
    /// Segments in flight after it.
    pub in_flight: u32,
    /// Segments in flight before it.
    pub prior_in_flight: u32,
    /// The round trip of the newest segment that it acknowledges: none when that was sent more than once (Karn).
    pub rtt: Option<Duration>,
    /// The smoothed round trip after it.
    pub srtt: Option<Duration>,
    /// The shortest round trip of the last 5 minutes.
    pub min_rtt: Option<Duration>,
    /// Whether it may have waited in the receiver: it is the only one of a lone segment smaller than the MSS
    /// (`FLAG_ACK_MAYBE_DELAYED`).
    pub maybe_delayed: bool,
    /// Whether it echoes a congestion mark.
    pub ece: bool,
    /// Whether the window was what limited the sender (`tcp_is_cwnd_limited`): a flight filled it, or in slow start
    /// more than half of it.
    pub window_limited: bool,
    /// Whether it permits the window to grow: it acknowledges in order, or reordering has been seen and it
    /// acknowledges anything (`tcp_may_raise_cwnd`).
    pub may_raise: bool,
    /// The offset that is sent next (`snd_nxt`).
    pub next: u64,
    /// The offset up to which everything is acknowledged (`snd_una`).
    pub acked_to: u64,
    /// The rate at which the sender's own rule would pace, before this acknowledgement; it is kept up even where nothing
    /// is paced.
    pub pacing_rate: Option<BitRate>,
    /// The rate of delivery.
    pub rate: RateSample,
    /// The state after it.
    pub state: State,
}

/// How a connection begins.
#[derive(Debug, Clone, Copy)]
pub struct Established {
    /// When it was established.
    pub now: Instant,
    /// The largest segment in bytes of content.
    pub mss: u32,
    /// The offset that is sent next.
    pub next: u64,
    /// The round trip of the handshake, where it was measured.
    pub srtt: Option<Duration>,
    /// Whether segments are paced (`sk_pacing_status`): by the `fq` qdisc or by the connection itself.
    pub paced: bool,
}

/// One connection's congestion control.
///
/// Call [`established`](Self::on_established) first; then [`on_ack`](Self::on_ack) for every acknowledgement, after
/// [`on_congestion`](Self::on_congestion), [`on_rto`](Self::on_rto), [`on_undo`](Self::on_undo) or
/// [`on_recovered`](Self::on_recovered) that it caused; and [`on_sent`](Self::on_sent) before every transmission.
#[derive(Debug, Clone)]
pub struct Congestion {
    window: Window,
    control: Control,
}

/// What moves the window.
#[derive(Debug, Clone)]
enum Control {
    Reno,
    Cubic(Cubic, HyStart),
    Bbr(Box<Bbr>),
}

/// After a recovery round trips are not taken for this long: queues are being emptied (`cubictcp_acked`).
const DISCARDED: Duration = Duration::from_secs(1);

impl Congestion {
    /// As `control`, with a first window of `initial_cwnd` segments (RFC 6928: 10). `random` decides where BBR's gain
    /// cycle begins. `None` for a control that only a system has.
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

    /// BBR as it was before Linux 5.1: what an aggregating path acknowledges at once is not added to its window. Nothing
    /// to the others.
    #[must_use]
    pub fn without_ack_aggregation(mut self) -> Self {
        if let Control::Bbr(bbr) = &mut self.control {
            bbr.forget_aggregation();
        }
        self
    }

    /// The handshake is over.
    pub fn on_established(&mut self, established: &Established) {
        match &mut self.control {
            Control::Reno => {}
            Control::Cubic(_, hystart) => {
                hystart.on_established(established.now, established.next, established.paced);
            }
            Control::Bbr(bbr) => bbr.on_established(established, &self.window),
        }
    }

    /// An acknowledgement came. While the sender reduces ([`State::is_reducing`]) the window is the sender's to walk
    /// down, unless [`has_own_reduction`](Self::has_own_reduction).
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
                    && hystart.on_ack(&hystart::Sample::of(ack, rtt, window))
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

    /// A loss or an ECN echo begins a reduction: sets `ssthresh` (`tcp_init_cwnd_reduction`). The sender walks the window
    /// down to it (PRR) and ends with [`on_recovered`](Self::on_recovered).
    pub fn on_congestion(&mut self, _now: Instant, _in_flight: u32) {
        let ssthresh = self.reduced();
        self.window.begin_reduction(ssthresh);
    }

    /// The retransmission timer ran out and `in_flight` segments are still thought to be on their way, after the rest
    /// was marked lost (`tcp_enter_loss`). `anew`: it begins a new episode, so `ssthresh` is lowered; not when it repeats
    /// for data that was already repaired.
    pub fn on_rto(&mut self, now: Instant, in_flight: u32, anew: bool) {
        if anew {
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

    /// The last reduction was for nothing (`tcp_undo_cwnd_reduction`).
    pub fn on_undo(&mut self, _now: Instant) {
        match &mut self.control {
            Control::Reno | Control::Cubic(..) => self.window.undo(),
            Control::Bbr(bbr) => bbr.on_undo(),
        }
    }

    /// A reduction ([`State::is_reducing`]) is over and was not undone: the window is `ssthresh`
    /// (`tcp_end_cwnd_reduction`).
    pub fn on_recovered(&mut self, _now: Instant) {
        if !self.has_own_reduction() {
            self.window.end_reduction();
        }
    }

    /// Data is about to be sent after nothing was in flight for `idle`, longer than the retransmission time-out `rto`:
    /// the window shrinks by half for each (`tcp_cwnd_restart`, RFC 2861, RFC 5681 §4.1). BBR doesn't.
    pub fn on_restart(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        if !self.has_own_reduction() {
            self.window.restart(idle, rto);
        }
    }

    /// For a whole `rto` the application used no more than `used` segments of the window
    /// (`tcp_cwnd_application_limited`, RFC 2861). BBR ignores it.
    pub fn on_underused(&mut self, used: u32) {
        if !self.has_own_reduction() {
            self.window.validate(used);
        }
    }

    /// Data is about to be sent while `in_flight` segments are; `app_limited`: the rate estimator says that the
    /// application limits ([`RateEstimator::is_app_limited`]).
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

    /// The congestion window in segments; at least 1.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.window.cwnd()
    }

    /// The slow start threshold in segments; [`INFINITE_SSTHRESH`] before the first reduction.
    #[must_use]
    pub fn ssthresh(&self) -> u32 {
        self.window.ssthresh()
    }

    /// Whether the window is below the threshold (`tcp_in_slow_start`).
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }

    /// Sets the window, to at least one segment: for PRR in the sender, and for a handshake that lost its SYN.
    pub fn set_cwnd(&mut self, segments: u32) {
        self.window.set_cwnd(segments);
    }

    /// BBR's own rate. `None`: the sender's rule holds, 200 % of cwnd × mss ÷ srtt while cwnd is below half of ssthresh,
    /// 120 % after (`tcp_update_pacing_rate`).
    #[must_use]
    pub fn pacing_rate(&self) -> Option<BitRate> {
        match &self.control {
            Control::Reno | Control::Cubic(..) => None,
            Control::Bbr(bbr) => Some(bbr.pacing_rate()),
        }
    }

    /// The least segments in one GSO burst (`min_tso_segs`).
    #[must_use]
    pub fn min_burst(&self) -> u32 {
        match &self.control {
            Control::Reno | Control::Cubic(..) => 2,
            Control::Bbr(bbr) => bbr.min_burst(),
        }
    }

    /// Whether it needs no PRR, and is asked for its window in every state (`cong_control`): BBR.
    #[must_use]
    pub fn has_own_reduction(&self) -> bool {
        matches!(self.control, Control::Bbr(_))
    }

    /// Whether BBR keeps the path empty to measure it: what is delivered meanwhile tells nothing of the bandwidth. After each
    /// acknowledgement for which this holds the sender calls [`RateEstimator::set_app_limited`].
    #[must_use]
    pub fn is_probing_rtt(&self) -> bool {
        match &self.control {
            Control::Reno | Control::Cubic(..) => false,
            Control::Bbr(bbr) => bbr.is_probing_rtt(),
        }
    }

    /// What a reduction lowers `ssthresh` to.
    fn reduced(&mut self) -> u32 {
        match &mut self.control {
            // RFC 5681 equation 4, with the window for the flight, as Linux has it (`tcp_reno_ssthresh`).
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

    /// RFC 9438 §5.8: the time in which nothing was in flight doesn't count for CUBIC. Ten seconds without data bring the window no
    /// further; ten seconds without acknowledgements, with data in flight, do.
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

    /// `bbr_cwnd_event`: when the application begins again after nothing was in flight, BBR paces at the bandwidth, whichever phase it is in. Here
    /// it was probing at 5/4, which it does until there is more in flight.
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

    /// RFC 5681 equation 4 and RFC 9438 §4.6, at least two; BBR leaves the threshold where it is.
    #[test]
    fn what_a_reduction_leaves() {
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
            // A time-out leaves what is in flight and one more.
            congestion.on_rto(Instant::ZERO, 0, true);
            assert_eq!((congestion.cwnd(), congestion.ssthresh()), (1, after), "{control}");
            congestion.on_rto(Instant::ZERO, 2, false);
            assert_eq!((congestion.cwnd(), congestion.ssthresh()), (3, after), "{control}");
        }
    }
}
