//! Client and server of a video call in virtual time.

use super::wire::{self, Request};
use super::{CallClient, CallEvent, CallLimits, CallPlan, CallServer, VideoParameters, VideoPlan, media};
use crate::datagram::DatagramMachine;
use crate::datagram::{Echo, EchoLimits};
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::kinds::video_call::video::{Feedback, MediaPacket};
use netburn_workload::{Adaptation, Direction, PacketStream};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The server's clock minus the client's.
const AHEAD: Duration = Duration::from_secs(1_000);
const DELAY: Duration = Duration::from_millis(10);

fn ms(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

fn address() -> SocketAddr {
    "192.0.2.1:5000".parse().unwrap()
}

/// 1.8 Mbit/s: a frame of 9 packets of 1000 B every 40 ms.
fn frames() -> PacketStream {
    PacketStream::adaptive(
        Duration::from_millis(40),
        BitRate::from_bps(1_800_000),
        ByteSize::from_bytes(1_000),
    )
}

fn adaptation() -> Adaptation {
    Adaptation {
        min_rate: BitRate::from_bps(100_000),
        start_rate: BitRate::from_bps(900_000),
    }
}

/// A video call from 1 s to 11 s, first frames at 1.000 s up and 1.015 s down.
fn plan() -> CallPlan {
    CallPlan {
        up: Some((ms(1_000), frames().as_frames())),
        down: Some((ms(1_015), frames().as_frames())),
        end: ms(11_000),
        dscp: 40,
        timeout: Duration::from_secs(2),
        video: Some(VideoPlan {
            up: frames(),
            down: frames(),
            adaptation: adaptation(),
        }),
    }
}

/// Arrivals by direction and number: delay from the due time, and size.
type Arrivals = BTreeMap<(Direction, u32), (Duration, u64)>;

/// Runs a call until 18 s. Both directions have a delay of 10 ms.
fn run() -> (Arrivals, CallServer) {
    let (mut client, mut server) = (
        CallClient::new(Instant::ZERO, 5, 6, plan()),
        CallServer::new(CallLimits::default()),
    );
    let mut echo = Echo::new(&[1; 32], EchoLimits::default());
    let mut flights: BTreeMap<(Instant, u64), (bool, Vec<u8>)> = BTreeMap::new();
    let (mut now, mut flown, mut number) = (Instant::ZERO, 0, 0_u32);
    let mut arrivals = Arrivals::new();
    let due = |first: i64, number: u32| ms(first) + Duration::from_millis(40) * u64::from(number);
    loop {
        let up = std::iter::from_fn(|| client.poll_transmit()).map(|bytes| (true, bytes));
        let down = std::iter::from_fn(|| server.poll_transmit()).map(|packet| {
            assert_eq!((packet.to, packet.dscp), (address(), 40));
            (false, packet.bytes)
        });
        for flight in up.chain(down).collect::<Vec<_>>() {
            flights.insert((now + DELAY, flown), flight);
            flown += 1;
        }
        while let Some(event) = client.poll_event() {
            let CallEvent::Frame {
                direction,
                number,
                at,
                size,
            } = event
            else {
                panic!("{event:?}");
            };
            let first = if direction == Direction::Up { 1_000 } else { 1_015 };
            let delay = at.since(due(first, number));
            let before = arrivals.insert((direction, number), (delay, size.as_bytes()));
            assert_eq!(before, None, "each frame arrives once");
        }
        let frame = Some(due(1_000, number)).filter(|due| *due < ms(11_000));
        let arrival = flights.keys().next().map(|(at, _)| *at);
        let of_server = server.poll_timeout().map(|at| at - AHEAD);
        let times = [frame, arrival, of_server, Some(client.poll_timeout())];
        now = now.max(times.into_iter().flatten().min().unwrap());
        if now > ms(18_000) {
            return (arrivals, server);
        }
        if frame.is_some_and(|due| due <= now) {
            client.send_frame(now, number);
            number += 1;
        }
        if client.poll_timeout() <= now {
            client.handle_timeout(now);
        }
        if server.poll_timeout().is_some_and(|at| at <= now + AHEAD) {
            server.handle_timeout(now + AHEAD);
        }
        while let Some(entry) = flights.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to_server, mut bytes) = entry.remove();
            if !to_server {
                client.handle_datagram(now, None, &bytes);
                continue;
            }
            let at = now + AHEAD;
            let answered = if wire::is_call(&bytes) {
                let is_good = |cookie| echo.is_verified(at, address(), cookie);
                server.handle_datagram(at, address(), None, is_good, &mut bytes)
            } else {
                echo.handle_datagram(at, address(), |_| false, &mut bytes).is_some()
            };
            if answered {
                wire::stamp_sent(&mut bytes, at);
                crate::datagram::wire::stamp_sent(&mut bytes, at);
                flights.insert((now + DELAY, flown), (false, bytes));
                flown += 1;
            }
        }
    }
}

/// 10 s of 25 frames per second: 250 up, and 250 down, of which the last one is due at 10.975 s. At 0.9 Mbit/s a
/// frame has 5 packets of 900 B. Each is sent 3.2 ms after the one before, so frame 0 is complete after 12.8 + 10 ms.
/// The first feedback adds 1 kbit/s. Then the rate rises by 8 % per second: from 0.901 to 1.8 Mbit/s in 8.992 s, with
/// feedbacks every 100 ms. A frame at the target has 9 packets of 1000 B, 1.778 ms apart: 14.222 + 10 ms. Ages are rounded
/// down to 1 µs, so an arrival up is up to 1 µs later.
#[test]
fn both_senders_reach_their_target_rate() {
    let (arrivals, server) = run();
    for direction in [Direction::Up, Direction::Down] {
        let of: Vec<_> = arrivals
            .iter()
            .filter(|((way, _), _)| *way == direction)
            .map(|(_, value)| *value)
            .collect();
        assert_eq!(of.len(), 250, "{direction:?}");
        let near = |(delay, _): (Duration, u64), expected: u64| delay.as_nanos().abs_diff(expected) <= 2_000;
        assert!(
            near(of[0], 22_800_000) && of[0].1 == 4_500,
            "{direction:?}: {:?}",
            of[0]
        );
        let first = of.iter().position(|(_, size)| *size == 9_000).unwrap();
        // 9.0 s after the first feedback, which arrives 20 ms after the first frame. Frame 225 is sent at 9.0 s.
        assert_eq!(first, 9_020 / 40 + 1, "{direction:?}");
        assert!(
            of[first..]
                .iter()
                .all(|frame| near(*frame, 24_222_222) && frame.1 == 9_000),
            "{direction:?}"
        );
    }
    assert_eq!(server.counters().malformed, 0);
    assert!(server.is_empty(), "without requests the call ends");
}

/// A cookie for `address()`, at the server's time `now`.
fn cookie(echo: &mut Echo, now: Instant) -> crate::datagram::wire::Cookie {
    let mut hello = crate::datagram::wire::hello(1);
    assert!(echo.handle_datagram(now, address(), |_| false, &mut hello).is_some());
    match crate::datagram::wire::read(&hello) {
        Ok(crate::datagram::wire::Datagram::Welcome { cookie, .. }) => cookie,
        other => panic!("{other:?}"),
    }
}

/// One request allows the frames of 2 s: numbers 0 to 49. The client claims every 50 ms that all packets but the last
/// one are lost. The server sends at most the bytes of 50 frames at the target rate, and two frames more. After 5 s
/// the call has ended.
#[test]
fn the_server_sends_no_more_than_was_requested() {
    let start = Instant::from_secs(100);
    let mut echo = Echo::new(&[1; 32], EchoLimits::default());
    let mut server = CallServer::new(CallLimits::default());
    let request = Request {
        call: 1,
        anchor: start,
        stream: frames(),
        until: u32::MAX,
        from: 0,
        dscp: 0,
        stamp: Instant::ZERO,
        video: Some(VideoParameters {
            adaptation: Adaptation {
                start_rate: BitRate::from_bps(1_800_000),
                ..adaptation()
            },
            timeout: Duration::from_secs(2),
        }),
    };
    let cookie = cookie(&mut echo, start);
    let mut bytes = wire::request(cookie, &request, 0);
    assert_eq!(bytes.len(), wire::REQUEST + 12);
    assert!(server.handle_datagram(start, address(), None, |_| true, &mut bytes));
    let (mut sent, mut packets) = (0, 0);
    for step in 0..160 {
        let now = start + Duration::from_millis(50) * step;
        while let Some(at) = server.poll_timeout().filter(|at| *at <= now) {
            server.handle_timeout(at);
        }
        while let Some(packet) = server.poll_transmit() {
            sent += packet.bytes.len();
            packets += 1;
        }
        let mut ages = vec![None; 200];
        ages[199] = Some(Duration::ZERO);
        let claimed = Feedback {
            stamp: now,
            from: u64::saturating_sub(packets, 200),
            ages,
        };
        let mut bytes = media::feedback(1, &claimed);
        assert!(!server.handle_datagram(now, address(), None, |_| true, &mut bytes));
    }
    assert!((50 * 900..=52 * 9_000).contains(&sent), "{sent} bytes");
    assert!(server.is_empty());
}

/// Media and feedback of an unknown call, and for a call without video, have no effect.
#[test]
fn datagrams_of_other_calls_are_ignored() {
    let start = Instant::from_secs(100);
    let mut server = CallServer::new(CallLimits::default());
    let feedback = Feedback {
        stamp: start,
        from: 0,
        ages: vec![Some(Duration::ZERO)],
    };
    let mut bytes = media::feedback(1, &feedback);
    assert!(!server.handle_datagram(start, address(), None, |_| true, &mut bytes));
    assert_eq!(server.counters().unverified, 1);
    let request = Request {
        call: 1,
        anchor: start,
        stream: frames(),
        until: 0,
        from: 0,
        dscp: 0,
        stamp: Instant::ZERO,
        video: None,
    };
    let mut request = wire::request([0; 16], &request, 0);
    assert!(server.handle_datagram(start, address(), None, |_| true, &mut request));
    assert!(!server.handle_datagram(start, address(), None, |_| true, &mut bytes));
    assert_eq!(server.counters().malformed, 1);
}

/// The limits of a request: the target rate, the time-out, and the order of the rates.
#[test]
fn invalid_rates_are_rejected() {
    let request = |stream, adaptation, timeout| Request {
        call: 1,
        anchor: Instant::ZERO,
        stream,
        until: 0,
        from: 0,
        dscp: 0,
        stamp: Instant::ZERO,
        video: Some(VideoParameters { adaptation, timeout }),
    };
    let second = Duration::from_secs(1);
    let is_valid = |request: &Request| wire::read(&wire::request([0; 16], request, 0)).is_some();
    assert!(is_valid(&request(frames(), adaptation(), second)));
    assert!(!is_valid(&request(frames(), adaptation(), Duration::ZERO)));
    assert!(!is_valid(&request(frames(), adaptation(), second * 3)));
    // 200 packets of 1000 B every 40 ms are 40 Mbit/s.
    let fast = PacketStream {
        burst: 200,
        spacing: Duration::ZERO,
        ..frames()
    };
    assert!(!is_valid(&request(fast, adaptation(), second)));
    let reversed = Adaptation {
        min_rate: BitRate::from_bps(950_000),
        ..adaptation()
    };
    assert!(!is_valid(&request(frames(), reversed, second)));
    let mut bytes = wire::request([0; 16], &request(frames(), adaptation(), second), 0);
    bytes[55] = 2;
    assert_eq!(wire::read(&bytes), None);
    bytes[55] = 1;
    assert_eq!(wire::read(&bytes[..wire::REQUEST + 8]), None);
}

#[test]
fn decoding_of_media_inverts_encoding() {
    let packet = MediaPacket {
        transport: 1 << 40,
        frame: 7,
        index: 2,
        count: 9,
        size: ByteSize::from_bytes(1158),
    };
    let due = Instant::from_nanos(-3);
    let bytes = media::media(5, &packet, due);
    assert_eq!(bytes.len(), 1158);
    let expected = media::MediaDatagram::Media { call: 5, packet, due };
    assert_eq!(wire::read(&bytes), Some(wire::CallDatagram::Video(expected)));
    let sent = Feedback {
        stamp: Instant::from_secs(4),
        from: 1 << 33,
        ages: vec![Some(Duration::from_micros(90)), None, Some(Duration::ZERO)],
    };
    let bytes = media::feedback(5, &sent);
    assert_eq!(bytes.len() as u64, sent.size().as_bytes());
    let expected = media::MediaDatagram::Feedback {
        call: 5,
        feedback: sent,
    };
    assert_eq!(wire::read(&bytes), Some(wire::CallDatagram::Video(expected)));
}

#[test]
fn invalid_media_are_rejected() {
    let sent = |from, ages| Feedback {
        stamp: Instant::ZERO,
        from,
        ages: vec![None; ages],
    };
    // The last transport number would not fit.
    assert_eq!(wire::read(&media::feedback(5, &sent(u64::MAX - 299, 1))), None);
    let mut long = media::feedback(5, &sent(0, 300));
    assert!(wire::read(&long).is_some());
    long.extend([0; 4]);
    assert_eq!(wire::read(&long), None);
    assert_eq!(wire::read(&media::feedback(5, &sent(0, 2))[..37]), None);
    let packet = MediaPacket {
        transport: 0,
        frame: 0,
        index: 0,
        count: 1,
        size: ByteSize::from_bytes(1),
    };
    let short = media::media(5, &packet, Instant::ZERO);
    assert_eq!(short.len(), 40);
    assert_eq!(wire::read(&short[..39]), None);
}
