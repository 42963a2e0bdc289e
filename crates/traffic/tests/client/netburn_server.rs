//! The driver with `serve`: both HTTP versions, cleartext and TLS, probes, baseline.

use crate::util::{
    Left, SETTLE, Scripted, calls, drive_later, drive_one, drive_until, new_calls, runtime, upload, wait_until,
};
use netburn_record::row::BASELINE;
use netburn_record::{EventKind, Health, Row};
use netburn_scenario::plan::Http;
use netburn_test_support::unused_address;
use netburn_traffic::client::{Method, Socket, Target, Total, Trust, request};
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{CancelHandle, CancelToken, Idle, baseline};
use netburn_traffic::fetch::permission::{self, Permission};
use netburn_traffic::server::{Addresses, Server, ServerConfig};
use netburn_traffic::tls::Identity;
use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed};
use netburn_workload::config::Grid;
use netburn_workload::kinds::responsiveness::Part;
use netburn_workload::kinds::{Bulk, Packets, Pages, Probe, Responsiveness};
use netburn_workload::{Config, Direction, Failure, LoadConnections, Outcome, PacketStream, ProbeTarget, Streams};
use std::io::Read;
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A server on its own thread, stopped when dropped.
pub(crate) struct Serving {
    addresses: Addresses,
    handle: netburn_traffic::server::ServerHandle,
    identity: Identity,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

pub(crate) fn serve(change: impl FnOnce(&mut ServerConfig)) -> Serving {
    let identity = Identity::generate(&["localhost".into(), "127.0.0.1".into()]).unwrap();
    let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let mut config = ServerConfig {
        listen: vec![any],
        listen_tls: vec![any],
        tls: Some(identity.clone()),
        threads: NonZeroUsize::new(1),
        ..ServerConfig::default()
    };
    change(&mut config);
    let runtime = runtime();
    let server = runtime.block_on(Server::bind(config)).unwrap();
    let (addresses, handle) = (server.addresses().clone(), server.handle());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let thread = std::thread::spawn(move || {
        runtime.block_on(server.run(async { drop(stopped.await) })).unwrap();
    });
    Serving {
        addresses,
        handle,
        identity,
        stop: Some(stop),
        thread: Some(thread),
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Serving {
    pub(crate) fn target(&self, http: Http, tls: bool) -> Target {
        let address = if tls {
            self.addresses.https[0]
        } else {
            self.addresses.http[0]
        };
        Target {
            http,
            tls: tls.then(|| Trust::Fingerprint(self.identity.fingerprint())),
            datagram_port: self.addresses.datagrams.first().map(SocketAddr::port),
            ..Target::new(address)
        }
    }

    /// Returns the server's counters once they are `enough`, or after a timeout. The server counts a response after
    /// sending it, so the client may know first.
    pub(crate) fn health(&self, enough: impl Fn(&Health) -> bool) -> Health {
        wait_until(|| enough(&self.handle.health()));
        self.handle.health()
    }
}

pub(crate) const WAYS: [(Http, bool); 4] = [(Http::H1, false), (Http::H1, true), (Http::H2, false), (Http::H2, true)];

#[test]
fn downloads_are_complete_over_every_protocol() {
    for (http, tls) in WAYS {
        for (keep, config) in [(true, calls(300_000, 20)), (false, new_calls(300_000, 20))] {
            let server = serve(|_| ());
            let left = drive_one(&server.target(http, tls), config, 400, SETTLE);
            let case = format!("{http:?} {tls} {keep}");
            left.expect_all(20, Outcome::Finished);
            let count = left.started() as u64;
            assert_eq!(left.bytes(), count * 300_000, "{case}");
            let dialled = left.operations.iter().filter(|o| o.connected.is_some()).count();
            let most = if keep { left.most_at_once() } else { left.started() };
            assert!(
                dialled <= most && (keep || dialled == most),
                "{case}: {dialled} connections, at most {most}"
            );
            let health = server.health(|health| health.operations >= count);
            assert_eq!(
                (health.operations, health.bytes_down),
                (count, count * 300_000),
                "{case}"
            );
            assert!(!left.connections.is_empty(), "{case}");
        }
    }
}

/// Foreign probes have all their times in order, over a connection each, and self probes are answered on connections with load. On
/// loopback a probe takes far less than the time-out.
#[test]
fn responsiveness_has_probes_and_load() {
    for tls in [false, true] {
        let server = serve(|_| ());
        let config = Config::from(Responsiveness {
            interval: Duration::from_millis(60),
            load: LoadConnections { down: 1, up: 1 },
        });
        // The load may not use the whole processor.
        let target = Target {
            limit: Some(BitRate::from_mbps(20)),
            ..server.target(Http::H2, tls)
        };
        let left = drive_one(&target, config, 3000, SETTLE);
        let of = |part| {
            left.operations
                .iter()
                .filter(move |o| Part::from_sequence(o.sequence) == part)
        };
        // 50 of each kind in 3 s.
        assert_eq!((of(Part::Foreign).count(), of(Part::Own).count()), (50, 50), "{tls}");
        // Probes that a driver with too little processor time did not start. It reports each of them.
        let mut missed = 0;
        for probe in of(Part::Foreign) {
            if probe.outcome == Outcome::NotStarted {
                missed += 1;
                continue;
            }
            assert_eq!(probe.outcome, Outcome::Finished, "{tls}: {probe:?}");
            let times = [probe.started, probe.tcp_connected, probe.connected, probe.finished];
            assert!(
                times.iter().all(Option::is_some) && times.is_sorted(),
                "{tls}: {probe:?}"
            );
            assert!(!tls || probe.tcp_connected < probe.connected, "{probe:?}");
            assert_eq!(probe.bytes, 1);
        }
        // Self probes that were due before a load connection was open are not started.
        let opened = of(Part::Load).filter_map(|load| load.connected).min();
        let mut answered = 0;
        for probe in of(Part::Own) {
            if probe.outcome == Outcome::NotStarted {
                missed += u64::from(Some(probe.due) >= opened);
                continue;
            }
            assert_eq!(probe.outcome, Outcome::Finished, "{tls}: {probe:?}");
            assert!(probe.connected.is_none() && probe.bytes == 1, "{tls}: {probe:?}");
            answered += 1;
        }
        assert!(answered > 0, "{tls}: {:?}", left.operations);
        assert!(
            missed <= left.report.missed_sends,
            "{tls}: {opened:?}: {:?}",
            left.operations
        );
        let loads: Vec<_> = of(Part::Load).map(|load| load.outcome).collect();
        assert_eq!(loads, [Outcome::Cut; 2], "{tls}: load continues to the end");
        assert!(
            left.report.bytes_down > 100_000 && left.report.bytes_up > 100_000,
            "{:?}",
            left.report
        );
    }
}

/// At 100 kbit/s, 16 MiB take 22 minutes. The server sends ahead one window of 64 KiB; the default windows would accept
/// everything.
#[test]
fn a_rate_limit_slows_down_an_http_2_server() {
    for tls in [false, true] {
        let server = serve(|_| ());
        let total = Total::default();
        let target = Target {
            limit: Some(BitRate::from_bps(100_000)),
            total: Some(total.clone()),
            ..server.target(Http::H2, tls)
        };
        let config = Config::with(|bulk: &mut Bulk| bulk.requests.object_size = ByteSize::from_mib(16));
        let (stopper, stop) = CancelHandle::new();
        let left = std::thread::scope(|scope| {
            scope.spawn(|| {
                // More than the heads. Then the server has time for the rest.
                wait_until(|| total.bytes().0 > 8_192);
                std::thread::sleep(std::time::Duration::from_secs(1));
                stopper.stop();
            });
            drive_until(&target, config, 120_000, 0, stop)
        });
        assert!(left.bytes() > 0, "{tls}: {:?}", left.operations);
        let sent = server.health(|health| health.bytes_down > 0).bytes_down;
        assert!((1..1 << 20).contains(&sent), "{tls}: {sent}");
    }
}

#[test]
fn uploads_are_complete_over_every_protocol() {
    for (http, tls) in WAYS {
        let server = serve(|_| ());
        let config = upload(ByteSize::from_bytes(2_000_001));
        let left = drive_one(&server.target(http, tls), config, 1500, SETTLE);
        let case = format!("{http:?} {tls}");
        // Another one begins, unless the driver stood still until the end.
        let stood_still = left.report.standstill_us_max > 500_000.0;
        assert!(left.finished() > 1 || stood_still, "{case}");
        assert_eq!(left.finished(), left.operations.len(), "{case}");
        assert_eq!(left.bytes(), left.finished() as u64 * 2_000_001, "{case}");
        assert_eq!(left.report.bytes_up, left.bytes(), "{case}");
        let health = server.health(|health| health.bytes_up >= left.bytes());
        assert_eq!(health.bytes_up, left.bytes(), "{case}");
    }
}

/// A peer that reads 400 kB and then stops. What it has not received does not count, wherever it waits: in the kernel, in
/// TLS or in HTTP/2. The bound is what the peer's kernel reports (`tcpi_bytes_received`).
#[test]
fn an_upload_counts_what_the_peer_has_received() {
    const READ: u64 = 400_000;
    for (http, tls) in WAYS {
        let server = serve(|_| ());
        let Target { address, .. } = server.target(http, tls);
        let (received, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let relay = Scripted::start({
            let (received, over) = (Arc::clone(&received), Arc::clone(&over));
            move |talk, _| {
                socket2::SockRef::from(&talk.stream).set_recv_buffer_size(64 << 10)?;
                let near = &talk.stream;
                let far = &std::net::TcpStream::connect(address)?;
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        let _ = std::io::copy(&mut &*far, &mut &*near);
                    });
                    std::io::copy(&mut near.take(READ), &mut &*far)?;
                    while !over.load(Ordering::SeqCst) {
                        let now = netburn_platform::tcp_info(near)?.bytes_received.as_bytes();
                        received.fetch_max(now, Ordering::SeqCst);
                        std::thread::sleep(std::time::Duration::from_millis(5));
                    }
                    far.shutdown(std::net::Shutdown::Both)
                })
            }
        });
        let target = Target {
            address: relay.address,
            ..server.target(http, tls)
        };
        let (stopper, stop) = CancelHandle::new();
        let left = std::thread::scope(|scope| {
            scope.spawn(|| {
                wait_until(|| received.load(Ordering::SeqCst) >= READ);
                // The client reads the kernel's counters several times in this time.
                std::thread::sleep(std::time::Duration::from_secs(1));
                stopper.stop();
            });
            drive_until(&target, Config::upload(), 120_000, 0, stop)
        });
        over.store(true, Ordering::SeqCst);
        let (counted, received) = (left.report.bytes_up, received.load(Ordering::SeqCst));
        let rows: u64 = left.intervals.iter().map(|row| row.bytes_up).sum();
        assert_eq!(rows, counted, "{http:?} {tls}");
        // The handshakes and the heads are less than 10 % of the bytes.
        assert!(received >= READ, "{http:?} {tls}: {received}, {counted} counted");
        assert!(
            (READ * 9 / 10..=received).contains(&counted),
            "{http:?} {tls}: {counted} of {received}"
        );
    }
}

#[test]
fn many_streams_share_one_http_2_connection() {
    let server = serve(|_| ());
    let config = Config::with(|pages: &mut Pages| {
        pages.requests.connections = netburn_workload::Connections::Keep;
        pages.grid = Grid::regular(Duration::from_millis(200));
    });
    let left = drive_one(&server.target(Http::H2, false), config, 1200, SETTLE);
    // A page that waits for the previous one too long is not started.
    assert_eq!(left.operations.len(), 6);
    assert!(left.started() > 0);
    assert_eq!(left.finished(), left.started());
    assert_eq!(left.bytes(), left.finished() as u64 * 10 * 131_072);
    let mut ports: Vec<u16> = left.connections.iter().map(|row| row.port).collect();
    ports.dedup();
    assert_eq!(ports.len(), 1);
}

#[test]
fn only_the_right_certificate_is_trusted() {
    let server = serve(|_| ());
    let mut target = server.target(Http::H1, true);
    let rejected = Outcome::Failed(Failure::Dial);
    for (trust, expected) in [
        (Trust::Fingerprint([7; 32]), rejected),
        (Trust::SystemRoots, rejected),
        (Trust::Any, Outcome::Finished),
        (Trust::Fingerprint(server.identity.fingerprint()), Outcome::Finished),
    ] {
        target.tls = Some(trust);
        let left = drive_one(&target, calls(1000, 20), 100, SETTLE);
        left.expect_all(5, expected);
    }
}

#[test]
fn a_server_that_restarts_is_found_again_by_every_version() {
    for http in [Http::H1, Http::H2] {
        let address = unused_address();
        let first = serve(|config| config.listen = vec![address]);
        let target = first.target(http, false);
        let (stopper, stop) = CancelHandle::new();
        let driving = std::thread::spawn(move || drive_until(&target, calls(1000, 10), 120_000, 0, stop));
        assert!(first.health(|health| health.operations > 0).operations > 0, "{http:?}");
        drop(first);
        let second = serve(|config| config.listen = vec![address]);
        let found = second.health(|health| health.operations > 0).operations;
        stopper.stop();
        let left = driving.join().unwrap();
        assert!(found > 0, "{http:?}: {:?}", left.operations.last());
        // Every operation that fell due is there.
        let mut sequences: Vec<u64> = left.operations.iter().map(|o| o.sequence).collect();
        sequences.sort();
        assert!(sequences.into_iter().eq(0..left.operations.len() as u64), "{http:?}");
    }
}

#[test]
fn a_limited_server_is_measured_at_its_rate() {
    let server = serve(|config| config.rate = Some(netburn_units::BitRate::from_mbps(40)));
    let begun = std::time::Instant::now();
    let left = drive_one(&server.target(Http::H1, false), Config::download(), 1500, 0);
    // The server cannot exceed its limit by more than one burst.
    let mbps = left.report.bytes_down as f64 * 8e-6 / begun.elapsed().as_secs_f64();
    assert!(mbps < 44.0, "{mbps} Mbit/s");
    assert!(!left.intervals.is_empty());
}

#[test]
fn packets_carry_the_dscp() {
    let server = serve(|_| ());
    let target = server.target(Http::H1, false);
    // The upper six bits of the field: CS6 is 110000 (RFC 2474 §4.2.2.2), EF 101110 (RFC 3246 §2.7).
    let wanted = [(48, 0xc0), (46, 0xb8), (0, 0)];
    runtime().block_on(async {
        for (dscp, field) in wanted {
            let socket = Socket::dial(&target, dscp, &std::rc::Rc::default()).await.unwrap();
            assert_eq!(socket2::SockRef::from(socket.tcp()).tos_v4().unwrap(), field);
        }
    });
}

fn probe() -> Config {
    Config::with(|probe: &mut Probe| probe.grid = Grid::regular(Duration::from_millis(10)))
}

#[test]
fn echoes_contain_the_remote_times() {
    let server = serve(|_| ());
    let left = drive_one(&server.target(Http::H1, false), probe(), 500, SETTLE);
    left.expect_all(50, Outcome::Finished);
    let echoed = || left.operations.iter().filter(|o| o.outcome == Outcome::Finished);
    for operation in echoed() {
        let far = operation.far.unwrap();
        assert!(far.received <= far.sent);
        assert_eq!(operation.bytes, 64);
    }
    let mut received: Vec<i64> = echoed().map(|o| o.far.unwrap().received).collect();
    received.dedup();
    assert!(received.is_sorted() && received.len() * 10 > left.finished() * 9);
}

#[test]
fn a_server_without_echo_causes_timeouts() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    for address in [silent.local_addr().unwrap(), unused_address()] {
        let config = Config {
            timeout: Duration::from_millis(200),
            ..probe()
        };
        let left = drive_one(&Target::new(address), config, 300, SETTLE);
        left.expect_all(30, Outcome::TimedOut);
    }
}

fn in_direction(left: &Left, direction: Direction) -> Vec<netburn_workload::Operation> {
    let is = |operation: &&netburn_workload::Operation| Direction::of_packet(operation.sequence) == direction;
    left.operations.iter().filter(is).copied().collect()
}

/// The packets or frames that arrived. All of the others were not started, because a driver with too little processor time
/// skips them, and reports each.
#[track_caller]
fn arrived(left: &Left, packets: &[netburn_workload::Operation]) -> Vec<netburn_workload::Operation> {
    let is_not_started = |packet: &&netburn_workload::Operation| packet.outcome == Outcome::NotStarted;
    let missed = packets.iter().filter(is_not_started).count();
    assert!(
        missed as u64 <= left.report.missed_sends && missed < packets.len(),
        "{packets:?}"
    );
    let arrived: Vec<_> = packets
        .iter()
        .filter(|packet| packet.latency().is_some())
        .copied()
        .collect();
    assert_eq!(arrived.len(), packets.len() - missed, "{packets:?}");
    arrived
}

/// 1.5 s of a call with a packet every 10 ms in each direction. The first packet of a direction is due in the first 20 ms.
#[test]
fn a_call_has_packets_in_both_directions() {
    let server = serve(|_| ());
    let config = Config::from(Packets::voice(Duration::from_millis(10), ByteSize::from_bytes(172)));
    let left = drive_later(&server.target(Http::H1, false), config, 1_500, SETTLE);
    for direction in [Direction::Up, Direction::Down] {
        let packets = in_direction(&left, direction);
        assert!((149..=150).contains(&packets.len()), "{direction:?}: {}", packets.len());
        let arrived: Vec<Duration> = arrived(&left, &packets)
            .iter()
            .filter_map(|packet| packet.latency())
            .collect();
        // Loopback. A busy test machine may delay some packets, and all of them during a standstill.
        let stood_still = left.report.standstill_us_max > 100_000.0;
        let quick = arrived
            .iter()
            .filter(|delay| **delay < Duration::from_millis(50))
            .count();
        assert!(quick * 2 > arrived.len() || stood_still, "{direction:?}: {arrived:?}");
    }
    assert_eq!(left.bytes(), 172 * left.finished() as u64);
}

/// 1.5 s of frames of 5 packets of 1000 B every 20 ms down, and of packets of 100 B every 10 ms up. The first packet up is
/// due in the first 10 ms, and the first frame in the 20 ms after it.
#[test]
fn streams_of_datagrams_differ_by_direction() {
    let server = serve(|_| ());
    let streams = Streams {
        up: Some(PacketStream::single(
            Duration::from_millis(10),
            ByteSize::from_bytes(100),
        )),
        down: Some(PacketStream {
            interval: Duration::from_millis(20),
            burst: 5,
            spacing: Duration::from_micros(200),
            size: ByteSize::from_bytes(1000),
        }),
    };
    let config = Config::with(|packets: &mut Packets| packets.streams = streams);
    let left = drive_later(&server.target(Http::H1, false), config, 1_500, SETTLE);
    for (direction, counts, size) in [(Direction::Up, 149..=150, 100), (Direction::Down, 367..=375, 1000)] {
        let packets = in_direction(&left, direction);
        assert!(counts.contains(&packets.len()), "{direction:?}: {}", packets.len());
        let arrived = arrived(&left, &packets);
        assert!(arrived.iter().all(|packet| packet.bytes == size), "{direction:?}");
    }
}

/// 2 s of 30 frames per second in each direction, from 1.2 Mbit/s (4999 B) to less than the target of 10,422 B.
#[test]
fn a_video_call_has_frames_in_both_directions() {
    let server = serve(|_| ());
    let left = drive_later(&server.target(Http::H1, false), Config::video_call(), 2_000, SETTLE);
    for direction in [Direction::Up, Direction::Down] {
        let frames = in_direction(&left, direction);
        assert!((58..=60).contains(&frames.len()), "{direction:?}: {}", frames.len());
        let complete = arrived(&left, &frames);
        // A frame at the minimum rate of 100 kbit/s has 416 B.
        assert!(
            complete.iter().all(|frame| (416..=10_422).contains(&frame.bytes)),
            "{direction:?}"
        );
        assert_eq!(complete[0].bytes, 4_999, "{direction:?}");
        // The packets of a frame are paced within 13.3 ms. A busy test machine may delay some, and all of them during a
        // standstill. A pacer that waits for the next feedback would need 50 ms on average.
        let stood_still = left.report.standstill_us_max > 100_000.0;
        let quick = complete
            .iter()
            .filter(|frame| frame.latency() < Some(Duration::from_millis(30)));
        assert!(
            quick.count() * 2 > frames.len() || stood_still,
            "{direction:?}: {frames:?}"
        );
    }
}

/// The link of the server carries 2 Mbit/s: 172 B take 0.7 ms.
#[test]
fn a_call_passes_a_rate_limited_server() {
    let server = serve(|config| config.rate = Some(BitRate::from_mbps(2)));
    let left = drive_later(&server.target(Http::H1, false), Config::voice(), 1_000, SETTLE);
    assert!(left.operations.len() >= 98);
    assert_eq!(arrived(&left, &left.operations).len(), left.finished());
}

#[test]
fn the_packets_of_a_call_without_a_server_time_out() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let config = Config {
        timeout: Duration::from_millis(200),
        ..Config::voice()
    };
    let left = drive_one(&Target::new(silent.local_addr().unwrap()), config, 300, SETTLE);
    assert!((28..=30).contains(&left.operations.len()));
    assert_eq!(left.count(|o| o == Outcome::TimedOut), left.operations.len());
}

fn idle(target: Target, datagrams: bool) -> Left {
    let idle = Idle {
        station: 9,
        target: Arc::new(target),
        targets: vec![ProbeTarget::Server],
        datagrams,
    };
    let (rows, mut received) = tokio::sync::mpsc::unbounded_channel();
    // One second is used to wait for datagrams if there is no echo.
    let clock = RunClock::starting_at(std::time::Instant::now() + std::time::Duration::from_secs(5));
    let report = baseline(vec![idle], Instant::ZERO, Seed(1), clock, rows, CancelToken::never());
    let report = runtime().block_on(report).unwrap();
    let mut left = Left {
        report,
        ..Left::default()
    };
    while let Ok(batch) = received.try_recv() {
        for row in batch {
            if let Row::Operation(row) = &row {
                assert_eq!((row.station, row.workload), (9, BASELINE));
            }
            left.put(row);
        }
    }
    left
}

#[test]
fn idle_latency_is_that_of_datagrams_or_else_of_tiny_requests() {
    let server = serve(|_| ());
    let left = idle(server.target(Http::H1, false), true);
    assert!(left.finished() >= 3 && left.operations.iter().any(|o| o.far.is_some()));
    assert!(left.operations.iter().all(|o| o.due < Instant::ZERO));
    assert!(left.events.is_empty());

    let server = serve(|config| config.datagrams = false);
    let left = idle(server.target(Http::H1, false), true);
    assert!(left.finished() >= 3, "{:?}", left.operations);
    assert!(left.operations.iter().all(|o| o.far.is_none()));
    assert_eq!(left.events.len(), 1);
    assert_eq!(left.events[0].kind, EventKind::Warning);
}

#[test]
fn a_server_s_consent_is_read() {
    let server = serve(|config| config.consent.operator = "the tests".into());
    let target = server.target(Http::H1, false);
    let path = netburn_traffic::consent::PATH;
    let patience = std::time::Duration::from_secs(60);
    let page = runtime()
        .block_on(request(&target, Method::Get, path, 65_536, patience))
        .unwrap();
    let by = "the tests".to_owned();
    assert_eq!(permission::decide(&page), Permission::Consents { by });
    // No confirmation: the server is on this machine.
    assert_eq!(runtime().block_on(permission::check(&target)), Permission::ThisMachine);
    let page = runtime()
        .block_on(request(&target, Method::Get, "/bytes/1MiB", 1000, patience))
        .unwrap();
    assert!(page.cut && page.content.len() == 1000);
}
