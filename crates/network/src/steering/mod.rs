//! Steering: access points that ask stations to move (802.11v), and disassociate those that don't.
//!
//! - [`usteer`], [`dawn`] – two programs of OpenWrt, with their shipped constants
//! - [`load`] – one station of a busy radio at a time
//! - [`band`] – stations with a strong signal from 2.4 to 5 GHz
//!
//! [`on_air`] sends the frames of their decisions.
//!
//! Once per second a policy gets a view of each station, and returns [`Decision`]s.
//! It knows the signal at another access point only from probe requests and beacon reports.

mod band;
mod dawn;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod load;
mod networks;
mod on_air;
#[cfg(test)]
mod tests;
mod usteer;
pub mod validation;

use crate::roaming::SteeringReason;
use band::PreferHigherBand;
use dawn::Dawn;
use load::LoadBalance;
use netburn_medium::config::{Band, Steering as SteeringConfig, SteeringPolicy};
use netburn_units::{BitRate, Duration, Instant};
pub(crate) use networks::Steering;
use usteer::Usteer;

/// Time between two views of the stations.
pub(crate) const VIEW_INTERVAL: Duration = Duration::from_secs(1);
/// Noise that is assumed for thresholds in dB over noise (usteer: if it is unknown).
const NOISE_DBM: f64 = -95.0;

/// State of a station, as its access point knows it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StationView {
    /// Number of the client.
    pub(crate) client: usize,
    /// Radio that it has joined, an index of `targets`.
    pub(crate) current: usize,
    /// Signal of the station at that radio in dBm.
    pub(crate) signal: f64,
    /// Time since it joined.
    pub(crate) connected: Duration,
    /// Time since its last packet.
    pub(crate) idle: Duration,
    /// Data rate of its last frame. Management frames and null frames use 6 Mbit/s.
    pub(crate) uplink_rate: BitRate,
    /// Airtime of its data since the last view.
    pub(crate) airtime: Duration,
    /// It answers beacon requests (802.11k).
    pub(crate) reports: bool,
    /// It supports transition requests (802.11v).
    pub(crate) transitions: bool,
    /// Radios of the network that it can join.
    pub(crate) targets: Vec<TargetView>,
}

/// A radio that a station can join, as the access points know it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TargetView {
    /// Number of the radio.
    pub(crate) radio: usize,
    /// Number of its access point.
    pub(crate) ap: usize,
    pub(crate) band: Band,
    /// Radio and station support 802.11n and 802.11ac.
    pub(crate) ht: bool,
    pub(crate) vht: bool,
    /// Share of time in which the channel was busy since the last view.
    pub(crate) load: f64,
    /// Signal of the station at this radio in dBm, and the age of that knowledge.
    pub(crate) known: Option<(f64, Duration)>,
}

/// A decision of the access points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    /// Number of the client.
    pub(crate) client: usize,
    pub(crate) order: Order,
}

/// Order of an access point to a station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Order {
    /// A beacon request.
    Measure,
    /// A transition request.
    Request {
        /// Targets, the preferred one first.
        candidates: Vec<usize>,
        /// It announces a disassociation.
        imminent: bool,
        reason: SteeringReason,
    },
    /// A disassociation.
    Disassociate,
}

/// A policy of a network's access points.
trait Policy: std::fmt::Debug + Send {
    /// Decides after a new view of the stations.
    fn handle_view(&mut self, now: Instant, stations: &[StationView]) -> Vec<Decision>;

    /// Reports the answer to a request.
    fn handle_answer(&mut self, now: Instant, client: usize, accepted: bool);

    /// Time from a request until hostapd disassociates the station, whatever it answered
    /// (`src/ap/wnm_ap.c`); `None`: never.
    fn disassociation_timer(&self) -> Option<Duration>;
}

/// Steering of one network.
#[derive(Debug)]
pub(crate) struct Steerer {
    policy: Box<dyn Policy>,
    next_view: Instant,
    disassociates: bool,
    /// Stations that will be disassociated: client, target that it had joined, time.
    timers: Vec<(usize, usize, Instant)>,
}

impl Steerer {
    /// Steering by a network's settings; `None` if its stations decide alone.
    pub(crate) fn new(begin: Instant, config: &SteeringConfig) -> Option<Self> {
        let policy: Box<dyn Policy> = match config.policy {
            SteeringPolicy::None | SteeringPolicy::ProbeSuppression => return None,
            SteeringPolicy::Usteer => Box::new(Usteer::new(config)),
            SteeringPolicy::Dawn => Box::new(Dawn::new(begin, config)),
            SteeringPolicy::Load => Box::new(LoadBalance::new(begin, config)),
            SteeringPolicy::Prefer5Ghz => Box::new(PreferHigherBand::default()),
        };
        Some(Steerer {
            policy,
            next_view: begin + VIEW_INTERVAL,
            disassociates: config.disassociate.unwrap_or(true),
            timers: Vec::new(),
        })
    }

    pub(crate) fn poll_timeout(&self) -> Instant {
        self.timers
            .iter()
            .map(|(.., at)| *at)
            .fold(self.next_view, Instant::min)
    }

    /// Returns whether a view of the stations is due.
    pub(crate) fn needs_view(&self, now: Instant) -> bool {
        self.next_view <= now
    }

    /// Decides after a new view.
    pub(crate) fn handle_view(&mut self, now: Instant, stations: &[StationView]) -> Vec<Decision> {
        self.next_view = now + VIEW_INTERVAL;
        let decisions = self.policy.handle_view(now, stations);
        if let (Some(timer), true) = (self.policy.disassociation_timer(), self.disassociates) {
            for decision in &decisions {
                let Order::Request { .. } = decision.order else {
                    continue;
                };
                let view = stations.iter().find(|view| view.client == decision.client);
                if let Some(view) = view {
                    self.timers.retain(|(client, ..)| *client != decision.client);
                    self.timers.push((decision.client, view.current, now + timer));
                }
            }
        }
        decisions
    }

    /// Clients whose disassociation is due, with the target that they had joined. The caller
    /// disassociates those that are still there.
    pub(crate) fn handle_timers(&mut self, now: Instant) -> Vec<(usize, usize)> {
        let due = self.timers.iter().filter(|(.., at)| *at <= now);
        let due = due.map(|(client, target, _)| (*client, *target)).collect();
        self.timers.retain(|(.., at)| *at > now);
        due
    }

    /// Reports the answer to a request.
    pub(crate) fn handle_answer(&mut self, now: Instant, client: usize, accepted: bool) {
        self.policy.handle_answer(now, client, accepted);
    }
}

/// A signal, rounded to dBm.
fn dbm(signal: f64) -> i32 {
    libm::round(signal) as i32
}
