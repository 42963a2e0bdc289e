//! Fuzz checks of the datagram echo.

use super::call::wire::CallDatagram;
use super::call::{self, CallClient, CallLimits, CallPlan, CallServer, VideoPlan};
use super::wire::{self, Datagram};
use super::{DatagramMachine, Echo, EchoLimits, Event, Prober};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::{Adaptation, PacketStream};
use std::net::{Ipv4Addr, SocketAddr};

/// Processes `input` as a datagram at both ends.
///
/// # Panics
/// When an invariant is violated.
pub fn check_datagram(input: &[u8]) {
    let read = wire::read(input);
    assert!(read.is_err() || (wire::MIN_SIZE..=wire::MAX_SIZE).contains(&input.len()));
    let from = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
    let mut echo = Echo::new(&[0; 32], EchoLimits::default());
    let mut answer = input.to_vec();
    let answered = echo.handle_datagram(Instant::ZERO, from, |_| false, &mut answer);
    // An unverified client gets a reply to a hello only, and none that is longer.
    assert_eq!(answered, matches!(read, Ok(Datagram::Hello { .. })).then_some(0));
    assert!(answer.len() == input.len());
    let mut prober = Prober::new(Instant::ZERO, 0);
    prober.handle_datagram(Instant::ZERO, None, input);
    assert!(prober.poll_event().is_none() || matches!(read, Ok(Datagram::Welcome { token: 0, .. })));
    check_call(input);
}

/// Processes `input` as a datagram of a call at both ends. The server gets it twice: with a bad and with a good cookie.
fn check_call(input: &[u8]) {
    let read = call::wire::read(input);
    assert!(read.is_none() || (call::wire::MIN_PACKET..=wire::MAX_SIZE).contains(&input.len()));
    let from = SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), 1));
    let mut server = CallServer::new(CallLimits::default());
    for is_good in [false, true] {
        let mut answer = input.to_vec();
        let is_answered = server.handle_datagram(Instant::ZERO, from, None, |_| is_good, &mut answer);
        assert_eq!(answer.len(), input.len());
        let may_answer = is_good && matches!(read, Some(CallDatagram::Request { .. }));
        assert!(may_answer || !is_answered, "only a verified request is answered");
        assert!(is_answered || answer == input);
    }
    // One request allows the packets of 2 s at most, 10,000 per second, and the rest of a burst.
    let mut sent = 0;
    while let Some(at) = server.poll_timeout() {
        server.handle_timeout(at);
        assert!(
            server.poll_timeout().is_none_or(|next| next > at),
            "a timeout had no effect"
        );
        sent += std::iter::from_fn(|| server.poll_transmit()).count();
    }
    assert!(sent <= 20_000 + 1_000, "{sent} packets for one request");
    assert!(sent == 0 || matches!(read, Some(CallDatagram::Request { .. })));
    assert!(server.is_empty());
    let stream = PacketStream::single(Duration::from_millis(20), ByteSize::from_bytes(172));
    let plan = CallPlan {
        up: Some((Instant::ZERO, stream)),
        down: Some((Instant::ZERO, stream)),
        end: Instant::from_secs(1),
        dscp: 0,
        timeout: Duration::from_secs(2),
        video: None,
    };
    let frames = PacketStream::adaptive(
        Duration::from_millis(33),
        BitRate::from_mbps(2),
        ByteSize::from_bytes(1200),
    );
    let video = CallPlan {
        up: Some((Instant::ZERO, frames.as_frames())),
        down: Some((Instant::ZERO, frames.as_frames())),
        video: Some(VideoPlan {
            up: frames,
            down: frames,
            adaptation: Adaptation::default(),
        }),
        ..plan
    };
    check_open_video(input, video);
    for plan in [plan, video] {
        let mut client = CallClient::new(Instant::ZERO, 0, 0, plan);
        match plan.video {
            Some(_) => client.send_frame(Instant::ZERO, 0),
            None => client.send(0),
        }
        client.handle_datagram(Instant::from_millis(1), Some(46), input);
        let events = std::iter::from_fn(|| client.poll_event()).count();
        assert!(events <= 1);
        // A datagram causes at most one feedback, beside the packets of the frame.
        for millis in 2..200 {
            client.handle_timeout(Instant::from_millis(millis));
        }
        let sent: usize = std::iter::from_fn(|| client.poll_transmit())
            .map(|bytes| bytes.len())
            .sum();
        assert!(sent <= 100_000, "{sent} bytes");
    }
}

/// Processes `input` as a datagram of an open video call, whose number it gets.
fn check_open_video(input: &[u8], plan: CallPlan) {
    let (Some(video), from) = (plan.video, SocketAddr::from((Ipv4Addr::new(192, 0, 2, 1), 1))) else {
        return;
    };
    let request = call::wire::Request {
        call: 7,
        anchor: Instant::ZERO,
        stream: video.down,
        until: 0,
        from: 0,
        dscp: 0,
        stamp: Instant::ZERO,
        video: Some(call::VideoParameters {
            adaptation: video.adaptation,
            timeout: plan.timeout,
        }),
    };
    let mut server = CallServer::new(CallLimits::default());
    let mut request = call::wire::request([0; 16], &request, 0);
    assert!(server.handle_datagram(Instant::ZERO, from, None, |_| true, &mut request));
    let mut datagram = input.to_vec();
    if let Some(number) = datagram.get_mut(8..16) {
        number.copy_from_slice(&7_u64.to_be_bytes());
    }
    let at = Instant::from_millis(1);
    assert!(!server.handle_datagram(at, from, None, |_| false, &mut datagram));
    let mut sent = 0;
    while let Some(at) = server.poll_timeout() {
        server.handle_timeout(at);
        sent += std::iter::from_fn(|| server.poll_transmit()).count();
    }
    assert!(sent <= 1, "one datagram caused {sent}; a feedback is the most");
    assert!(server.is_empty());
}

/// Runs a prober and a server as `input` describes, two bytes per step: probes; lost, duplicated, damaged or foreign
/// datagrams; time; restarts of the server.
///
/// # Panics
/// When an invariant is violated.
pub fn check_exchange(input: &[u8]) {
    let mut run = Run {
        now: Instant::ZERO,
        prober: Prober::new(Instant::ZERO, 1),
        echo: Echo::new(&[0; 32], EchoLimits::default()),
        probes: 0,
        sent: 0,
        answered: 0,
        echoed: Vec::new(),
    };
    for step in input.chunks_exact(2) {
        run.step(step[0], step[1]);
    }
    let counters = run.echo.counters();
    assert!(run.answered <= run.sent, "no more bytes come back than went out");
    assert!(counters.echoed <= run.probes);
}

struct Run {
    now: Instant,
    prober: Prober,
    echo: Echo,
    probes: u64,
    sent: usize,
    answered: usize,
    echoed: Vec<u64>,
}

impl Run {
    fn step(&mut self, what: u8, how: u8) {
        match what % 6 {
            0 => {
                self.prober
                    .probe(self.now, self.probes, ByteSize::from_bytes(u64::from(how) * 8));
                self.probes += 1;
            }
            1 => self.now += Duration::from_millis(u64::from(how) * 17),
            2 => self.now += Duration::from_secs(u64::from(how)),
            3 if how < 8 => self.echo = Echo::new(&[how; 32], EchoLimits::default()),
            4 => self.timeout(),
            _ => {}
        }
        let stable = self.prober.poll_timeout();
        assert_eq!(stable, self.prober.poll_timeout());
        let fate = if what % 6 == 5 { how } else { 0 };
        while let Some(bytes) = self.prober.poll_transmit() {
            self.carry(bytes, fate);
        }
    }

    /// Invariant of timeouts: handling one causes an output or moves it to a later time.
    fn timeout(&mut self) {
        let at = self.prober.poll_timeout();
        self.now = self.now.max(at);
        self.prober.handle_timeout(self.now);
        let next = self.prober.poll_timeout();
        match self.prober.poll_transmit() {
            Some(bytes) => self.carry(bytes, 0),
            None => assert!(next > at, "a timeout had no effect"),
        }
    }

    /// Delivers a datagram to the server and its reply back; `fate` selects faults.
    fn carry(&mut self, mut bytes: Vec<u8>, fate: u8) {
        let port = if fate % 7 == 1 { 2 } else { 1 };
        let from = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if fate % 7 == 2 {
            return;
        }
        if fate % 7 == 3 {
            let at = usize::from(fate) % bytes.len();
            bytes[at] ^= fate | 1;
        }
        for _ in 0..if fate % 7 == 4 { 2 } else { 1 } {
            let mut answer = bytes.clone();
            self.sent += bytes.len();
            let Some(dscp) = self.echo.handle_datagram(self.now, from, |_| false, &mut answer) else {
                continue;
            };
            assert!(dscp <= 63);
            self.answered += answer.len();
            self.prober.handle_datagram(self.now, None, &answer);
            if let Some(Event::Echo { id, .. }) = self.prober.poll_event() {
                assert!(id < self.probes || fate % 7 == 3, "an echo of what was never sent");
                self.echoed.push(id);
            }
        }
    }
}
