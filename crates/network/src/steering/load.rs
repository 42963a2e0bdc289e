//! Balance of load between the radios of an access point, with the values of a Qualcomm product
//! ("SON", from the firmware of ASUS Lyra). It moves the station that uses most of the airtime; the
//! product's own choice is not published.

use super::{Decision, NOISE_DBM, Order, Policy, StationView, SteeringReason};
use netburn_medium::config::{Band, Steering};
use netburn_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};

/// Views over which the use of a channel is measured: 30 s.
const VIEWS: usize = 30;
/// Time between two checks.
const CHECK: Duration = Duration::from_secs(15);
/// Use of a channel above which it is overloaded, and up to which another one is a target.
const OVERLOAD: f64 = 0.7;
const TARGET: f64 = 0.5;
/// Minimum signal at the target, in dB over noise.
const MIN_SNR: f64 = 20.0;
/// Pause after a request, and for a station that rejects.
const PAUSE: Duration = Duration::from_secs(300);
const UNFRIENDLY: Duration = Duration::from_secs(600);
/// Estimated difference of the signal in dB, from 2.4 to 5 GHz and back.
const TO_5GHZ: f64 = -15.0;
const TO_2GHZ: f64 = 5.0;

#[derive(Debug)]
pub(super) struct LoadBalance {
    overload: f64,
    target: f64,
    next_check: Instant,
    /// Use of each radio's channel in the last views.
    loads: BTreeMap<usize, VecDeque<f64>>,
    /// Airtime of each client in the last views.
    airtimes: BTreeMap<usize, VecDeque<Duration>>,
    paused: BTreeMap<usize, Instant>,
}

impl LoadBalance {
    pub(super) fn new(begin: Instant, config: &Steering) -> Self {
        LoadBalance {
            overload: config.load.map_or(OVERLOAD, netburn_units::Probability::as_f64),
            target: config.target_load.map_or(TARGET, netburn_units::Probability::as_f64),
            next_check: begin + CHECK,
            loads: BTreeMap::new(),
            airtimes: BTreeMap::new(),
            paused: BTreeMap::new(),
        }
    }

    fn record(&mut self, stations: &[StationView]) {
        let mut now = BTreeMap::new();
        for target in stations.iter().flat_map(|view| &view.targets) {
            now.insert(target.radio, target.load);
        }
        for (radio, load) in now {
            push(self.loads.entry(radio).or_default(), load);
        }
        for view in stations {
            push(self.airtimes.entry(view.client).or_default(), view.airtime);
        }
    }

    /// Average use of a radio's channel; `None` before it has been measured for long enough.
    fn load(&self, radio: usize) -> Option<f64> {
        let loads = self.loads.get(&radio).filter(|loads| loads.len() == VIEWS)?;
        Some(loads.iter().sum::<f64>() / VIEWS as f64)
    }

    fn airtime(&self, client: usize) -> Duration {
        let none = VecDeque::new();
        let airtimes = self.airtimes.get(&client).unwrap_or(&none);
        airtimes.iter().fold(Duration::ZERO, |sum, airtime| sum + *airtime)
    }

    /// Radio of the same access point with enough free airtime and signal for the station.
    fn other_radio(&self, view: &StationView) -> Option<usize> {
        let own = &view.targets[view.current];
        let fits = |(index, target): &(usize, &super::TargetView)| {
            let estimate = match (own.band, target.band) {
                (Band::Ghz2_4, Band::Ghz5 | Band::Ghz6) => TO_5GHZ,
                (Band::Ghz5 | Band::Ghz6, Band::Ghz2_4) => TO_2GHZ,
                _ => 0.0,
            };
            let signal = target.known.map_or(view.signal + estimate, |(signal, _)| signal);
            *index != view.current
                && target.ap == own.ap
                && signal >= NOISE_DBM + MIN_SNR
                && self.load(target.radio).is_some_and(|load| load <= self.target)
        };
        let (index, _) = view.targets.iter().enumerate().find(fits)?;
        Some(index)
    }
}

fn push<T>(values: &mut VecDeque<T>, value: T) {
    if values.len() == VIEWS {
        values.pop_front();
    }
    values.push_back(value);
}

impl Policy for LoadBalance {
    fn handle_view(&mut self, now: Instant, stations: &[StationView]) -> Vec<Decision> {
        self.record(stations);
        if now < self.next_check {
            return Vec::new();
        }
        self.next_check = now + CHECK;
        let mut decisions = Vec::new();
        let mut radios: Vec<usize> = stations.iter().map(|view| view.targets[view.current].radio).collect();
        radios.sort_unstable();
        radios.dedup();
        for radio in radios {
            let Some(load) = self.load(radio).filter(|load| *load >= self.overload) else {
                continue;
            };
            let here = stations.iter().filter(|view| {
                let is_paused = self.paused.get(&view.client).is_some_and(|until| now < *until);
                view.targets[view.current].radio == radio && view.transitions && !is_paused
            });
            let movable = here.filter_map(|view| Some((view, self.other_radio(view)?)));
            let heaviest = movable.max_by_key(|(view, _)| (self.airtime(view.client), std::cmp::Reverse(view.client)));
            if let Some((view, target)) = heaviest {
                self.paused.insert(view.client, now + PAUSE);
                decisions.push(Decision {
                    client: view.client,
                    order: Order::Request {
                        candidates: vec![target],
                        imminent: false,
                        reason: SteeringReason::BusyChannel(libm::round(load * 100.0) as u32),
                    },
                });
                // What is measured from now on belongs to the new distribution.
                self.loads.clear();
            }
        }
        decisions
    }

    fn handle_answer(&mut self, now: Instant, client: usize, accepted: bool) {
        if !accepted {
            self.paused.insert(client, now + UNFRIENDLY);
        }
    }

    fn disassociation_timer(&self) -> Option<Duration> {
        None
    }
}
