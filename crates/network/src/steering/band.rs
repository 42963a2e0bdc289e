//! Preference for 5 GHz, with the values of a Qualcomm product ("SON", from the firmware of ASUS
//! Lyra). It does not consider load.

use super::{Decision, NOISE_DBM, Order, Policy, StationView, SteeringReason, dbm};
use netburn_medium::config::Band;
use netburn_units::{BitRate, Duration, Instant};
use std::collections::BTreeMap;

/// Time without packets after which a station is idle.
const IDLE: Duration = Duration::from_secs(10);
/// Minimum signal on 2.4 GHz in dB over noise: of an idle station, and of one with traffic.
const IDLE_SNR: f64 = 35.0;
const ACTIVE_SNR: f64 = 30.0;
/// Minimum data rate of a station with traffic.
const ACTIVE_RATE: BitRate = BitRate::from_mbps(50);
/// Pause after a request, and for a station that rejects.
const PAUSE: Duration = Duration::from_secs(300);
const UNFRIENDLY: Duration = Duration::from_secs(600);

#[derive(Debug, Default)]
pub(super) struct PreferHigherBand {
    paused: BTreeMap<usize, Instant>,
}

impl Policy for PreferHigherBand {
    fn handle_view(&mut self, now: Instant, stations: &[StationView]) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for view in stations {
            let own = &view.targets[view.current];
            let is_paused = self.paused.get(&view.client).is_some_and(|until| now < *until);
            let snr = view.signal - NOISE_DBM;
            let strong = if view.idle >= IDLE {
                snr >= IDLE_SNR
            } else {
                snr > ACTIVE_SNR && view.uplink_rate > ACTIVE_RATE
            };
            if own.band != Band::Ghz2_4 || !strong || is_paused || !view.transitions {
                continue;
            }
            let targets = view.targets.iter().enumerate();
            let higher = targets.filter(|(_, target)| target.ap == own.ap && target.band > own.band);
            let candidates: Vec<usize> = higher.map(|(index, _)| index).collect();
            if candidates.is_empty() {
                continue;
            }
            self.paused.insert(view.client, now + PAUSE);
            decisions.push(Decision {
                client: view.client,
                order: Order::Request {
                    candidates,
                    imminent: false,
                    reason: SteeringReason::StrongSignal(dbm(view.signal)),
                },
            });
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
