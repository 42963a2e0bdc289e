//! Entry points for validation cases: single parts of the roaming model.
//!
//! A whole walk needs none of them: a [`Network`](crate::Network) reports its
//! [events](crate::ClientEvent).

use super::client::{Action, Client, Observation, RoamEvent, Settings, Target, scan_channel};
use super::exchange::{Exchange, FastTransition, Method, Progress};
use super::motion::Shadowing;
use super::policy::Constants;
use super::scan::{Scan, Step, all_channels};
use netburn_medium::config::{Band, Roaming, RoamingPolicy, Security, TransitionAnswer, Width};
use netburn_medium::geometry::Position;
use netburn_units::{Db, Dbm, Distance, Duration, Instant, Seed};

/// Times of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScanTimes {
    /// From its start to its end, with the returns to the client's channel.
    pub total: Duration,
    /// On other channels.
    pub away: Duration,
    /// Longest absence.
    pub longest: Duration,
}

/// Times of a connected client's scan of `active` and `passive` channels. `waiting`: packets wait
/// in the client all the time. At most 20 active and 16 passive channels.
#[must_use]
pub fn scan_times(policy: RoamingPolicy, active: usize, passive: usize, waiting: bool) -> ScanTimes {
    let all = all_channels();
    let of = |kind: bool, count: usize| all.iter().filter(move |channel| channel.passive == kind).take(count);
    let channels = of(false, active).chain(of(true, passive)).copied().collect();
    let roaming = Roaming {
        policy: Some(policy),
        ..Roaming::default()
    };
    let mut scan = Scan::new(Constants::new(&roaming).scan, channels, true);
    let (mut times, mut absence) = (ScanTimes::default(), Duration::ZERO);
    while let Some(step) = scan.next(waiting) {
        match step {
            Step::Listen(_, dwell) => {
                absence += dwell;
                times.away += dwell;
                times.total += dwell;
                times.longest = times.longest.max(absence);
            }
            Step::Home(span) => {
                times.total += span;
                absence = Duration::ZERO;
            }
        }
    }
    times
}

/// Parameters of joining.
#[derive(Debug, Clone)]
pub struct Joining {
    /// Key management.
    pub security: Security,
    /// 802.11r.
    pub fast_transition: bool,
    /// Round trip to the RADIUS server.
    pub radius: Duration,
    /// Time in software before each frame.
    pub processing: Duration,
    /// Time of each frame on the air, with its acknowledgement.
    pub air: Duration,
    /// Numbers of the frames that are lost after all retries of the MAC, from 0.
    pub lost: Vec<usize>,
}

/// Time until the port is open, and number of frames; `None` if the client gives up.
#[must_use]
pub fn join(joining: &Joining) -> Option<(Duration, usize)> {
    let method = Method {
        security: joining.security,
        fast_transition: if joining.fast_transition {
            FastTransition::OverTheAir
        } else {
            FastTransition::Off
        },
        cached: false,
        radius: joining.radius,
        processing: joining.processing,
    };
    let mut exchange = Exchange::new(Instant::ZERO, method);
    let mut frames = 0;
    while let Some(now) = exchange.poll_timeout() {
        let mut progress = exchange.handle_timeout(now);
        if let Progress::Send { .. } = progress {
            let end = now + joining.air;
            progress = exchange.handle_frame(end, !joining.lost.contains(&frames));
            frames += 1;
            if progress == Progress::Done {
                return Some((end.since(Instant::ZERO), frames));
            }
        }
        if progress == Progress::Failed {
            return None;
        }
    }
    None
}

/// Shadowing in dB at `count` positions in a line, `step` apart.
#[must_use]
pub fn shadowing(sigma: Db, distance: Distance, step: Distance, count: usize, seed: Seed) -> Vec<f64> {
    let mut shadowing = Shadowing::new(sigma, distance, seed.stream("shadowing", 0));
    let step = step.as_millimetres() as i64;
    let at = |number: usize| Position {
        x: number as i64 * step,
        y: 0,
        floor: 0,
    };
    (0..count).map(|number| shadowing.at(at(number))).collect()
}

/// Settings of a client that can join two access points on different channels.
fn two_access_points(roaming: &Roaming) -> Settings {
    let channels = [36, 149].map(|number| scan_channel(Band::Ghz5, number));
    Settings {
        constants: Constants::new(roaming),
        smoothing: roaming.beacon_smoothing,
        method: Method {
            security: Security::Open,
            fast_transition: FastTransition::Off,
            cached: false,
            radius: Duration::ZERO,
            processing: roaming.frame_processing,
        },
        neighbour_reports: true,
        every_channel: channels.to_vec(),
        targets: channels
            .map(|channel| Target {
                channel,
                width: Width::Mhz20,
                weakest: -200.0,
                ap: 0,
            })
            .to_vec(),
        key_caching: false,
        shared_keys: false,
        transition: TransitionAnswer::Accept,
        probe_suppression: false,
    }
}

/// Share of scans after which a client moves to the other one of two access points with the same
/// mean signal. It moves to a signal that is stronger by `margin`. Each signal has a normal
/// deviation of `sigma`, independent for each access point and scan.
#[must_use]
pub fn ping_pong(margin: Db, sigma: Db, scans: u32, seed: Seed) -> f64 {
    let roaming = Roaming {
        policy: Some(RoamingPolicy::ApplePhone),
        trigger: Some(Dbm::from_hundredths(0)),
        margin: Some(margin),
        scan_interval: Some(Duration::from_millis(1)),
        beacon_smoothing: 1,
        frame_processing: Duration::from_millis(1),
        ..Roaming::default()
    };
    let settings = two_access_points(&roaming);
    let mut client = Client::new(Instant::ZERO, settings, 0);
    // Positions that are far apart: the shadowing of each is independent.
    let mut signals = [0, 1].map(|ap| Shadowing::new(sigma, Distance::from_metres(1), seed.stream("shadowing", ap)));
    let mut at = Position::default();
    let mut heard = [0.0; 2];
    let (mut scanned, mut moved) = (0, 0);
    while scanned < scans {
        let Some(now) = client.poll_timeout() else { break };
        if client.is_connected() {
            at.x += 1_000_000;
            heard = [0, 1].map(|ap: usize| -60.0 + signals[ap].at(at));
        }
        let observed = Observation {
            signals: &heard,
            beacon: true,
            waiting: false,
            busy: false,
        };
        client.handle_timeout(now, &observed);
        while let Some(action) = client.poll_action() {
            match action {
                Action::Null { asleep } => client.handle_null(now, asleep, true),
                Action::Frame { .. } => client.handle_frame(now, true),
                Action::Event(RoamEvent::Scanned { .. }) => scanned += 1,
                Action::Event(RoamEvent::Roamed { .. }) => moved += 1,
                _ => {}
            }
        }
    }
    f64::from(moved) / f64::from(scanned.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client announces its absence with a null frame. If the result of this frame does not arrive, the absence begins
    /// after 500 ms. mac80211 waits for the answer to a probe for the same time.
    #[test]
    fn a_scan_continues_without_the_result_of_the_null_frame() {
        let roaming = Roaming {
            policy: Some(RoamingPolicy::ApplePhone),
            ..Roaming::default()
        };
        let mut client = Client::new(Instant::ZERO, two_access_points(&roaming), 0);
        let observed = Observation {
            signals: &[-80.0, -50.0],
            beacon: true,
            waiting: false,
            busy: false,
        };
        let mut announced = None;
        loop {
            let now = client.poll_timeout().expect("a timer is set");
            client.handle_timeout(now, &observed);
            while let Some(action) = client.poll_action() {
                match action {
                    Action::Null { asleep: true } if announced.is_none() => announced = Some(now),
                    Action::SetAway(true) => {
                        let announced = announced.expect("the absence is announced");
                        assert_eq!(now.since(announced), Duration::from_millis(500));
                        return;
                    }
                    _ => {}
                }
            }
        }
    }
}
