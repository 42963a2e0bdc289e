//! Operations on a client, decoded from bytes, and the laws that must hold for all of them.

use super::client::{Action, Client, Observation, RoamEvent, Settings, Target, TransitionRequest, scan_channel};
use super::exchange::{FastTransition, Method};
use super::policy::Constants;
use super::scan::all_channels;
use netburn_medium::config::{Band, Roaming, RoamingPolicy, Security, TransitionAnswer, Width};
use netburn_medium::fuzz::Bytes;
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

const POLICIES: [RoamingPolicy; 8] = [
    RoamingPolicy::Never,
    RoamingPolicy::ApDirected,
    RoamingPolicy::Linux,
    RoamingPolicy::Iwd,
    RoamingPolicy::ApplePhone,
    RoamingPolicy::AppleLaptop,
    RoamingPolicy::Qualcomm,
    RoamingPolicy::Broadcom,
];
const CHANNELS: [(Band, u16); 4] = [(Band::Ghz2_4, 1), (Band::Ghz5, 36), (Band::Ghz5, 100), (Band::Ghz6, 5)];
const SIGNALS: [f64; 9] = [-20.0, -45.0, -60.0, -66.0, -71.0, -77.0, -79.0, -86.0, -100.0];
const SPANS: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_micros(300),
    Duration::from_millis(9),
    Duration::from_millis(150),
    Duration::from_secs(3),
];
/// Signal in dBm below which frames are not received.
const WEAKEST: f64 = -90.0;
/// Timeouts that a client may need in a row at one instant.
const MAX_AT_ONCE: u32 = 6;
/// Time in which a client joins an access point that it receives well. Its longest timers: SAE without an
/// answer 6 s, an access point that is avoided 10 s, and the next scan 5 s; each with a scan of 3 s.
const RECOVERY: Duration = Duration::from_secs(60);

/// Runs the operations and checks the laws:
///
/// - The next timeout is stable without input. Handling it early has no effect. At its time it yields an
///   action, or another timeout follows; the timeouts of one instant end.
/// - A client without a timeout waits for the result of a frame.
/// - The client has one association at most. It sends nothing to an access point that it has left. It
///   leaves its channel only after it has announced it.
/// - An exchange is with the access point to whose channel it is tuned, or through the old one.
/// - With strong signals and without losses it has an association again within a minute.
///
/// # Panics
/// If a law is violated.
pub fn check(bytes: &[u8]) {
    let mut bytes = Bytes::new(bytes);
    let mut world = World::new(&mut bytes);
    while !bytes.is_empty() {
        world.operate(&mut bytes);
    }
    world.recover();
}

/// A frame on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sent {
    Null { asleep: bool },
    Exchange,
}

#[derive(Debug)]
struct World {
    client: Client,
    signals: Vec<f64>,
    waiting: bool,
    busy: bool,
    now: Instant,
    sent: VecDeque<Sent>,
    /// Reference: association, channel and receiver by the client's actions.
    joined: Option<usize>,
    tuned: usize,
    away: bool,
    /// True from the result of the announcement until the client has left.
    announced: bool,
    /// Time of the last announcement, after which the client waits 500 ms for its result.
    announced_at: Instant,
}

impl World {
    fn new(bytes: &mut Bytes<'_>) -> Self {
        let count = 1 + bytes.below(4);
        let targets: Vec<Target> = (0..count)
            .map(|index| {
                let (band, number) = bytes.one_of(&CHANNELS);
                Target {
                    channel: scan_channel(band, number),
                    width: bytes.one_of(&[Width::Mhz20, Width::Mhz80]),
                    weakest: WEAKEST,
                    ap: index / 2,
                }
            })
            .collect();
        let roaming = Roaming {
            policy: Some(bytes.one_of(&POLICIES)),
            ..Roaming::default()
        };
        let mut flag = || bytes.below(2) == 1;
        let (neighbour_reports, key_caching, shared_keys, probe_suppression) = (flag(), flag(), flag(), flag());
        let settings = Settings {
            constants: Constants::new(&roaming),
            smoothing: bytes.one_of(&[0, 1, 4]),
            method: Method {
                security: bytes.one_of(&[Security::Open, Security::Psk, Security::Sae, Security::Enterprise]),
                fast_transition: bytes.one_of(&[
                    FastTransition::Off,
                    FastTransition::OverTheAir,
                    FastTransition::OverTheDs,
                ]),
                cached: false,
                radius: Duration::from_millis(5),
                processing: bytes.one_of(&[Duration::ZERO, Duration::from_millis(8)]),
            },
            neighbour_reports,
            every_channel: all_channels(),
            targets,
            key_caching,
            shared_keys,
            transition: bytes.one_of(&[
                TransitionAnswer::Accept,
                TransitionAnswer::Imminent,
                TransitionAnswer::Reject,
                TransitionAnswer::Ignore,
            ]),
            probe_suppression,
        };
        World {
            client: Client::new(Instant::ZERO, settings, 0),
            signals: vec![-60.0; count],
            waiting: false,
            busy: false,
            now: Instant::ZERO,
            sent: VecDeque::new(),
            joined: Some(0),
            tuned: 0,
            away: false,
            announced: false,
            announced_at: Instant::ZERO,
        }
    }

    fn operate(&mut self, bytes: &mut Bytes<'_>) {
        match bytes.below(14) {
            0..=3 => self.timeout(Duration::ZERO, true),
            4 => self.timeout(Duration::ZERO, false),
            5 => {
                let late = bytes.one_of(&SPANS);
                self.timeout(late, bytes.below(2) == 1);
            }
            6 => self.timeout_early(),
            7 | 8 => {
                self.pass(bytes.one_of(&SPANS));
                self.deliver(true);
            }
            9 => {
                self.pass(bytes.one_of(&SPANS));
                self.deliver(false);
            }
            10 => {
                let target = bytes.below(self.signals.len());
                self.signals[target] = bytes.one_of(&SIGNALS);
            }
            11 => {
                let count = self.signals.len();
                let request = TransitionRequest {
                    candidates: (0..bytes.below(3)).map(|_| bytes.below(count)).collect(),
                    imminent: bytes.below(2) == 1,
                };
                let willing = bytes.below(2) == 1;
                if self.receives() {
                    let now = self.now;
                    self.with_client(true, |client, observed| {
                        client.handle_request(now, request, willing, observed)
                    });
                }
            }
            12 => {
                let disassociated = bytes.below(2) == 1;
                let now = self.now;
                if self.receives() && disassociated {
                    self.with_client(true, |client, observed| client.handle_disassociated(now, observed));
                } else if self.receives() {
                    self.with_client(true, |client, observed| client.handle_beacon_request(now, observed));
                }
            }
            _ => (self.waiting, self.busy) = (bytes.below(2) == 1, bytes.below(2) == 1),
        }
    }

    /// Returns true if frames of its access point reach it.
    fn receives(&self) -> bool {
        self.joined.is_some() && !self.away
    }

    fn with_client(&mut self, beacon: bool, event: impl FnOnce(&mut Client, &Observation<'_>)) {
        let observed = Observation {
            signals: &self.signals,
            beacon,
            waiting: self.waiting,
            busy: self.busy,
        };
        event(&mut self.client, &observed);
        self.drain();
    }

    /// Lets time pass, up to the next timeout.
    fn pass(&mut self, span: Duration) {
        let limit = self.client.poll_timeout().unwrap_or(self.now + span);
        self.now = self.now.max(limit.min(self.now + span));
    }

    /// Handles the next timeout, `late` after its time.
    fn timeout(&mut self, late: Duration, beacon: bool) {
        let Some(at) = self.client.poll_timeout() else {
            assert!(
                !self.sent.is_empty(),
                "no timeout, and no frame whose result is missing"
            );
            return;
        };
        assert_eq!(self.client.poll_timeout(), Some(at), "stable");
        self.now = self.now.max(at + late);
        let now = self.now;
        for _ in 0..MAX_AT_ONCE {
            self.with_client(beacon, |client, observed| client.handle_timeout(now, observed));
            if self.client.poll_timeout().is_none_or(|next| next > now) {
                return;
            }
        }
        panic!("timeouts without end at {now}: {:?}", self.client);
    }

    /// Before its time a timeout has no effect.
    fn timeout_early(&mut self) {
        let Some(at) = self.client.poll_timeout().filter(|at| *at > self.now) else {
            return;
        };
        let now = self.now;
        let observed = Observation {
            signals: &self.signals,
            beacon: false,
            waiting: self.waiting,
            busy: self.busy,
        };
        self.client.handle_timeout(now, &observed);
        assert!(!self.client.has_actions(), "before {at}");
        assert_eq!(self.client.poll_timeout(), Some(at));
    }

    /// Reports the result of the first frame.
    fn deliver(&mut self, arrived: bool) {
        let now = self.now;
        match self.sent.pop_front() {
            Some(Sent::Null { asleep }) => {
                self.announced = asleep;
                self.client.handle_null(now, asleep, arrived);
            }
            Some(Sent::Exchange) => self.client.handle_frame(now, arrived),
            None => return,
        }
        self.drain();
        self.announced = false;
    }

    /// Checks the actions against the reference.
    fn drain(&mut self) {
        while let Some(action) = self.client.poll_action() {
            match action {
                Action::Null { asleep } => {
                    assert!(self.joined.is_some(), "a null frame without an association");
                    assert!(!self.away, "a null frame from another channel");
                    if asleep {
                        self.announced_at = self.now;
                    }
                    self.sent.push_back(Sent::Null { asleep });
                }
                Action::SetAway(away) => {
                    assert!(self.joined.is_some(), "an absence without an association");
                    let waited = self.now.since(self.announced_at) >= Duration::from_millis(500);
                    assert!(!away || self.announced || waited, "an absence without an announcement");
                    self.away = away;
                }
                // Results of frames to the old access point may follow.
                Action::Tune(target) => (self.joined, self.tuned, self.away) = (None, target, false),
                Action::Frame { target, .. } => {
                    let through_old = self.joined == Some(target);
                    let over_the_air = self.joined.is_none() && self.tuned == target;
                    assert!(through_old || over_the_air, "{action:?} with {:?}", self.joined);
                    assert!(!self.away, "a frame from another channel");
                    self.sent.push_back(Sent::Exchange);
                }
                Action::Joined(target) => {
                    assert_eq!((self.joined, self.tuned), (None, target), "two associations");
                    self.joined = Some(target);
                }
                Action::Disconnected => {
                    assert!(self.joined.is_some(), "it had no link");
                    (self.joined, self.away) = (None, true);
                }
                Action::Probed(target) => assert!(self.signals[target] >= WEAKEST, "too weak"),
                Action::Answer { .. } | Action::Report => {
                    assert!(self.joined.is_some() && !self.away, "{action:?} without a link");
                }
                Action::Event(event) => self.check_event(event),
            }
        }
        assert_eq!(self.client.current(), self.joined);
        assert!(!self.client.is_connected() || self.joined.is_some() && !self.away);
    }

    fn check_event(&self, event: RoamEvent) {
        match event {
            RoamEvent::Scanned { since, away } => {
                assert!(since <= self.now && away <= self.now.since(since), "{event:?}");
            }
            RoamEvent::Roamed { from, to, since } => {
                assert!(since <= self.now, "{event:?}");
                assert!(from.is_some() && self.joined == Some(to), "{event:?}");
            }
            RoamEvent::Failed { target } => assert!(target < self.signals.len()),
            // The last action before `Disconnected`.
            RoamEvent::LinkLost { target, since } => {
                assert!(since <= self.now && self.joined == Some(target), "{event:?}");
            }
        }
    }

    /// With strong signals and without losses it joins.
    fn recover(&mut self) {
        self.signals.fill(-40.0);
        let end = self.now + RECOVERY;
        while self.joined.is_none() {
            assert!(self.now < end, "no association: {:?}", self.client);
            if self.sent.is_empty() {
                self.timeout(Duration::ZERO, true);
            } else {
                self.pass(Duration::from_micros(300));
                self.deliver(true);
            }
        }
    }
}
