//! The frames with which a station joins an access point, and their retries.
//!
//! Frames come in pairs of a request and its answer. The sender of the request repeats it if the
//! answer does not arrive in time.

use netburn_medium::config::Security;
use netburn_units::{Duration, Instant};

/// Side that sends a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    Station,
    AccessPoint,
}

/// A request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) kind: PairKind,
    from: From,
    /// Lengths of the bodies in bytes.
    bytes: (u32, u32),
    /// Time before the answer in addition to processing: a round trip to the RADIUS server.
    server: bool,
}

/// Purpose of a pair of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairKind {
    /// Authentication (802.11-2020 clause 9.3.3.11), also with SAE and fast transition.
    Authentication,
    /// Reassociation (9.3.3.7).
    Reassociation,
    /// EAP between station and RADIUS server.
    Eap,
    /// Half of the 4-way handshake (12.7.6).
    Handshake,
    /// FT Request and Response through the old access point (13.5.3).
    OverDs,
}

impl PairKind {
    /// Time until the request is repeated, by the number of tries before; `None`: given up.
    ///
    /// mac80211: authentication and association after 200 ms, three tries (SAE: 2 s). hostapd:
    /// EAPOL-Key after 100 ms, then 1 s, four tries; EAP after 3 s.
    fn timeout(self, tries: u32, sae: bool) -> Option<Duration> {
        match (self, tries) {
            (PairKind::Authentication, 1..=3) if sae => Some(Duration::from_secs(2)),
            (PairKind::Authentication | PairKind::Reassociation, 1..=3) => Some(Duration::from_millis(200)),
            (PairKind::Handshake, 1) => Some(Duration::from_millis(100)),
            (PairKind::Handshake, 2..=4) => Some(Duration::from_secs(1)),
            (PairKind::Eap, 1..=4) => Some(Duration::from_secs(3)),
            // iwd falls back to fast transition over the air.
            (PairKind::OverDs, 1) => Some(Duration::from_millis(200)),
            _ => None,
        }
    }
}

/// Use of fast BSS transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FastTransition {
    Off,
    OverTheAir,
    /// The first two frames pass through the old access point, while the station is still connected.
    OverTheDs,
}

/// Method by which a station joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) security: Security,
    /// Fast BSS transition (802.11r).
    pub(super) fast_transition: FastTransition,
    /// Both sides know the keys already (PMKSA caching, OKC): only the 4-way handshake remains.
    pub(super) cached: bool,
    /// Round trip to the RADIUS server.
    pub(super) radius: Duration,
    /// Time from the reception of a frame until the answer is ready.
    pub(super) processing: Duration,
}

/// EAP with a PEAP-like method: identity, a TLS handshake in fragments, and the inner method. Eight
/// round trips to the server.
const EAP_ROUND_TRIPS: usize = 8;

impl Method {
    /// The frames in the order in which they are sent.
    fn pairs(&self) -> Vec<Pair> {
        let pair = |kind, from, request, answer| Pair {
            kind,
            from,
            bytes: (request, answer),
            server: false,
        };
        let authentication = || pair(PairKind::Authentication, From::Station, 6, 6);
        let reassociation = pair(PairKind::Reassociation, From::Station, 180, 140);
        // The keys are part of these frames (clause 13.5).
        match self.fast_transition {
            _ if self.security == Security::Open => {}
            FastTransition::Off => {}
            FastTransition::OverTheAir => {
                return vec![pair(PairKind::Authentication, From::Station, 150, 150), reassociation];
            }
            FastTransition::OverTheDs => {
                return vec![pair(PairKind::OverDs, From::Station, 150, 150), reassociation];
            }
        }
        let mut pairs = Vec::new();
        match self.security {
            Security::Sae if !self.cached => {
                // Commit, then confirm.
                pairs.push(pair(PairKind::Authentication, From::Station, 104, 104));
                pairs.push(pair(PairKind::Authentication, From::Station, 40, 40));
            }
            _ => pairs.push(authentication()),
        }
        pairs.push(reassociation);
        if self.security == Security::Enterprise && !self.cached {
            let eap = Pair {
                server: true,
                ..pair(PairKind::Eap, From::AccessPoint, 300, 300)
            };
            pairs.extend(std::iter::repeat_n(eap, EAP_ROUND_TRIPS));
        }
        if self.security != Security::Open {
            // EAPOL-Key frames with LLC.
            pairs.push(pair(PairKind::Handshake, From::AccessPoint, 125, 147));
            pairs.push(pair(PairKind::Handshake, From::AccessPoint, 183, 103));
        }
        pairs
    }
}

/// Next step of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// A frame has to be sent now: from the station if true; length of its body.
    Send { from_station: bool, bytes: u32 },
    /// The pair through the old access point is complete: the station can leave it.
    Prepared,
    /// Nothing yet.
    Wait,
    /// The port is open.
    Done,
    /// A request got no answer after its last retry.
    Failed,
}

/// Joining in progress: the state of both sides.
#[derive(Debug)]
pub(super) struct Exchange {
    method: Method,
    pairs: Vec<Pair>,
    /// Pair in progress.
    at: usize,
    /// True while the answer is to be sent or on its way.
    answering: bool,
    tries: u32,
    /// Next frame; `None` while one is on its way or lost.
    send_at: Option<Instant>,
    /// Time at which the request is repeated.
    repeat_at: Option<Instant>,
    /// Frames whose result is missing: more than one if a request was repeated meanwhile.
    on_air: u32,
}

impl Exchange {
    /// Starts to join at `now`.
    pub(super) fn new(now: Instant, method: Method) -> Self {
        Exchange {
            pairs: method.pairs(),
            method,
            at: 0,
            answering: false,
            tries: 0,
            send_at: Some(now + method.processing),
            repeat_at: None,
            on_air: 0,
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match (self.send_at, self.repeat_at) {
            (Some(send), Some(repeat)) => Some(send.min(repeat)),
            (send, repeat) => send.or(repeat),
        }
    }

    /// Processes the timers that are due.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> Progress {
        let Some(pair) = self.pairs.get(self.at).copied() else {
            return Progress::Done;
        };
        if self.send_at.is_some_and(|at| at <= now) {
            self.send_at = None;
            if !self.answering {
                self.tries += 1;
                let sae = self.method.security == Security::Sae;
                let Some(timeout) = pair.kind.timeout(self.tries, sae) else {
                    return Progress::Failed;
                };
                self.repeat_at = Some(now + timeout);
            }
            self.on_air += 1;
            let from_station = (pair.from == From::Station) != self.answering;
            let bytes = if self.answering { pair.bytes.1 } else { pair.bytes.0 };
            return Progress::Send { from_station, bytes };
        }
        if self.repeat_at.is_some_and(|at| at <= now) {
            self.answering = false;
            self.repeat_at = None;
            self.send_at = Some(now);
            return self.handle_timeout(now);
        }
        Progress::Wait
    }

    /// Reports that the first frame on its way arrived, or was lost after all retries of the MAC. Only the last
    /// copy of a request counts. Without a frame on its way the result is that of an earlier exchange.
    pub(super) fn handle_frame(&mut self, now: Instant, arrived: bool) -> Progress {
        let Some(pair) = self.pairs.get(self.at).copied() else {
            return Progress::Done;
        };
        let Some(copies) = self.on_air.checked_sub(1) else {
            return Progress::Wait;
        };
        self.on_air = copies;
        if !arrived || copies > 0 {
            // The timer of the request continues.
            return Progress::Wait;
        }
        let processing = self.method.processing;
        if !self.answering {
            self.answering = true;
            let server = if pair.server {
                self.method.radius
            } else {
                Duration::ZERO
            };
            self.send_at = Some(now + processing + server);
            return Progress::Wait;
        }
        self.answering = false;
        self.repeat_at = None;
        self.tries = 0;
        self.at += 1;
        if self.at == self.pairs.len() {
            self.send_at = None;
            return Progress::Done;
        }
        self.send_at = Some(now + processing);
        if pair.kind == PairKind::OverDs {
            return Progress::Prepared;
        }
        Progress::Wait
    }

    /// True while the frames pass through the old access point.
    pub(super) fn through_old(&self) -> bool {
        self.pairs
            .get(self.at)
            .is_some_and(|pair| pair.kind == PairKind::OverDs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request that waits on the air for longer than its timeout is repeated. The arrival of the first copy does
    /// not count; that of the second does. A further result belongs to no frame. Each pair begins with its request.
    #[test]
    fn copies_of_a_request_count_once() {
        let method = Method {
            security: Security::Open,
            fast_transition: FastTransition::Off,
            cached: false,
            radius: Duration::ZERO,
            processing: Duration::ZERO,
        };
        let at = |millis: u64| Instant::ZERO + Duration::from_millis(millis);
        let from_station = |progress| matches!(progress, Progress::Send { from_station: true, .. });
        let mut exchange = Exchange::new(at(0), method);
        assert!(from_station(exchange.handle_timeout(at(0))));
        assert!(from_station(exchange.handle_timeout(at(200))));
        assert_eq!(exchange.handle_frame(at(210), true), Progress::Wait);
        assert_eq!(exchange.poll_timeout(), Some(at(400)));
        assert_eq!(exchange.handle_frame(at(211), true), Progress::Wait);
        assert_eq!(exchange.handle_frame(at(212), true), Progress::Wait);
        // The answer, and the request of the second pair.
        assert!(!from_station(exchange.handle_timeout(at(212))));
        assert_eq!(exchange.handle_frame(at(213), true), Progress::Wait);
        assert!(from_station(exchange.handle_timeout(at(213))));
    }

    const METHOD: Method = Method {
        security: Security::Psk,
        fast_transition: FastTransition::Off,
        cached: false,
        radius: Duration::from_millis(5),
        processing: Duration::from_millis(8),
    };

    /// Time from the first request's preparation until the port is open, and the number of frames. Each frame takes
    /// 250 µs. Those whose number is in `lost` do not arrive.
    fn join(method: Method, lost: &[usize]) -> Option<(Duration, usize)> {
        let mut exchange = Exchange::new(Instant::ZERO, method);
        let mut frames = 0;
        while let Some(now) = exchange.poll_timeout() {
            let mut progress = exchange.handle_timeout(now);
            if let Progress::Send { .. } = progress {
                let arrived = !lost.contains(&frames);
                frames += 1;
                let end = now + Duration::from_micros(250);
                progress = exchange.handle_frame(end, arrived);
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

    /// Number of frames: open 4, PSK 8, SAE 10, 802.11r 4, 802.1X 8 and 16 of EAP; 8 with cached keys. Each
    /// costs 8.25 ms; eight RADIUS round trips of 5 ms.
    #[test]
    fn frames_and_gaps() {
        let open = Method {
            security: Security::Open,
            ..METHOD
        };
        let sae = Method {
            security: Security::Sae,
            ..METHOD
        };
        let enterprise = Method {
            security: Security::Enterprise,
            ..METHOD
        };
        let fast = |method| Method {
            fast_transition: FastTransition::OverTheAir,
            ..method
        };
        let cached = |method| Method { cached: true, ..method };
        let gap = |frames: u64, radius: u64| (Duration::from_micros(8_250 * frames + 5_000 * radius), frames as usize);
        for (method, expected) in [
            (open, gap(4, 0)),
            (METHOD, gap(8, 0)),
            (sae, gap(10, 0)),
            (enterprise, gap(24, 8)),
            (fast(METHOD), gap(4, 0)),
            (fast(enterprise), gap(4, 0)),
            (cached(sae), gap(8, 0)),
            (cached(enterprise), gap(8, 0)),
        ] {
            assert_eq!(join(method, &[]), Some(expected), "{method:?}");
        }
    }

    /// A lost EAPOL frame: 100 ms from the request until it is repeated, then 1 s. Frames 4 and 5 are the first two of
    /// the handshake. The timeout counts from the time at which the request was sent. So the loss of an answer adds the
    /// timeout, less the time of the request and the answer.
    #[test]
    fn a_lost_frame_is_repeated() {
        let (whole, _) = join(METHOD, &[]).unwrap();
        let extra = |lost: &[usize]| join(METHOD, lost).unwrap().0.checked_sub(whole).unwrap();
        assert_eq!(extra(&[4]), Duration::from_millis(100));
        assert_eq!(extra(&[4, 5]), Duration::from_millis(1_100));
        assert_eq!(extra(&[5]), Duration::from_millis(100));
        assert_eq!(extra(&[0]), Duration::from_millis(200));
    }

    /// Over the DS, two of the four frames come before the station leaves. Without an answer within
    /// 200 ms it fails, and the client falls back.
    #[test]
    fn two_frames_through_the_old_access_point() {
        let method = Method {
            fast_transition: FastTransition::OverTheDs,
            ..METHOD
        };
        let mut exchange = Exchange::new(Instant::ZERO, method);
        let mut through_old = Vec::new();
        let (mut prepared, mut now) = (None, Instant::ZERO);
        while let Some(at) = exchange.poll_timeout() {
            now = at;
            through_old.push(exchange.through_old());
            assert!(matches!(exchange.handle_timeout(now), Progress::Send { .. }));
            match exchange.handle_frame(now, true) {
                Progress::Prepared => prepared = Some(now),
                Progress::Done => break,
                progress => assert_eq!(progress, Progress::Wait),
            }
        }
        assert_eq!(through_old, [true, true, false, false]);
        let millis = |at: Instant| at.since(Instant::ZERO).as_millis();
        assert_eq!((prepared.map(millis), millis(now)), (Some(16), 32));
        let mut lost = Exchange::new(Instant::ZERO, method);
        let first = lost.poll_timeout().unwrap();
        lost.handle_timeout(first);
        lost.handle_frame(first, false);
        let repeat = lost.poll_timeout().unwrap();
        assert_eq!(repeat.since(first).as_millis(), 200);
        assert_eq!(lost.handle_timeout(repeat), Progress::Failed);
    }

    /// Three tries of authentication, four of a handshake's frame.
    #[test]
    fn it_gives_up() {
        assert_eq!(join(METHOD, &[0, 1, 2]), None);
        assert!(join(METHOD, &[0, 1]).is_some());
        assert_eq!(join(METHOD, &[4, 5, 6, 7]), None);
        assert!(join(METHOD, &[4, 5, 6]).is_some());
    }
}
