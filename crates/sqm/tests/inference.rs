//! Exact samples of known lines give back their properties, and samples of disturbed ones give the reason.

use netburn_sqm::fit::fit;
use netburn_sqm::layer::{Cells, KNOWN, Layer};
use netburn_sqm::report::{Answer, Context};
use netburn_sqm::samples::{Probes, Samples, Stream, Transfer};
use netburn_sqm::service::Service;
use netburn_sqm::verdict::{Health, Queue, Reason};
use netburn_sqm::{Measured, Report};
use netburn_units::{Duration, Instant};
use netburn_workload::Direction;
use proptest::prelude::*;

/// Lengths that separate overheads: those at which one more byte needs another cell, and long ones.
const SIZES: [u32; 9] = [60, 68, 76, 81, 84, 88, 100, 600, 1428];

/// A stream at 1.25 times the rate of a line, for 3 s: packet k arrives when the line has sent k packets. The queue is
/// endless.
fn stream(direction: Direction, size: u32, layer: Layer, rate: u64) -> Stream {
    let service = u64::from(layer.bytes(size)) * 8 * 1_000_000_000 / rate;
    let length = Duration::from_secs(3);
    let interval = service * 4 / 5;
    let sent = length.as_nanos() / interval.max(1);
    let at = |nanos: u64| Instant::ZERO + Duration::from_nanos(nanos);
    Stream {
        direction,
        size,
        start: Instant::ZERO,
        length,
        sent,
        arrivals: (0..sent).map(|k| (at((k + 1) * service), at(k * interval))).collect(),
    }
}

fn services(layer: Layer, rate: u64) -> Vec<Service> {
    let streams = SIZES.map(|size| stream(Direction::Up, size, layer, rate));
    streams.iter().filter_map(Service::from_stream).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// The rate within 0.5 %, the cells, and an interval of overheads with the true one. Frames without cells and those with
    /// code words of PTM differ by less than their rounding, so they count as one.
    #[test]
    fn a_known_line_is_recognised(number in 0..KNOWN.len(), rate in 500_000_u64..20_000_000) {
        let truth = KNOWN[number].layer;
        let found = fit(&services(truth, rate)).unwrap();
        prop_assert!(found.is_identified, "{found:?}");
        prop_assert_eq!(found.layer.cells == Cells::Atm, truth.cells == Cells::Atm);
        if found.layer.cells == truth.cells {
            prop_assert!(found.overheads.contains(&truth.overhead), "{found:?}");
            let error = found.rate.as_bps() as f64 / rate as f64 - 1.0;
            prop_assert!(error.abs() < 0.005, "{found:?}");
        }
        // What counts for a shaper: the bytes of each length, compared with those of a full packet.
        for length in SIZES {
            let share = |layer: Layer| f64::from(layer.bytes(length)) / f64::from(layer.bytes(1500));
            let ratio = share(found.layer) / share(truth);
            // One more cell of two, where no length separates the overheads.
            prop_assert!((0.98..1.06).contains(&ratio), "{length} B: {ratio} {found:?}");
        }
    }

    /// Service times that no line has, such as those with the traffic of others, are not explained.
    #[test]
    fn times_of_no_line_are_not_explained(rate in 1_000_000_u64..20_000_000, number in 2..SIZES.len() - 1) {
        let mut services = services(Layer::plain(18, 64), rate);
        services[number].time_ps = services[number].time_ps * 3 / 2;
        prop_assert!(fit(&services).is_err());
    }
}

fn probes(near: u64, line: u64, server: u64) -> Probes {
    let times = |ms: u64| vec![Duration::from_millis(ms); 40];
    Probes {
        near: times(near),
        line: times(line),
        server: times(server),
        unanswered: 0,
    }
}

/// Samples of a line of 10 Mbit/s in each direction, whose queue adds 100 ms. TCP has 95 % of it.
fn samples() -> Samples {
    let layer = Layer::plain(18, 64);
    let transfer = |direction| Transfer {
        direction,
        windows: vec![10_000_000 / 80 * 95 / 100; 70],
        probes: probes(1, 110, 120),
    };
    let streams = |direction| SIZES.map(|size| stream(direction, size, layer, 10_000_000));
    Samples {
        idle: vec![probes(1, 10, 20), probes(1, 10, 20)],
        transfers: vec![transfer(Direction::Down), transfer(Direction::Up)],
        streams: [streams(Direction::Down), streams(Direction::Up)].concat(),
    }
}

fn report(samples: Samples, cpu: f64) -> Report {
    let measured = Measured {
        samples,
        is_interrupted: false,
    };
    let context = Context {
        health: Health { cpu },
        ..Context::default()
    };
    Report::new(&measured, context)
}

fn reasons(report: &Report) -> Vec<&'static str> {
    let all = report.verdicts.iter().flat_map(|own| &own.reasons);
    all.map(Reason::name).collect()
}

/// 10 Mbit/s: 96 % down and 98 % up, with the layer of DOCSIS.
#[test]
fn a_line_with_a_long_queue_has_settings() {
    let report = report(samples(), 0.2);
    assert_eq!(report.answer(), Answer::SetUp);
    let settings = report.settings.unwrap();
    assert_eq!(settings.layer, Layer::plain(18, 64));
    for (found, expected) in [(settings.down, 9_600_000), (settings.up, 9_800_000)] {
        let found = found.unwrap().as_bps() as i64;
        assert!((found - expected).abs() < 20_000, "{found}");
    }
    let text = report.settings.unwrap().openwrt("eth1");
    for line in [
        "interface 'eth1'",
        "qdisc 'cake'",
        "script 'piece_of_cake.qos'",
        "linklayer 'ethernet'",
        "overhead '18'",
        "tcMPU '64'",
    ] {
        assert!(text.contains(&format!("\toption {line}\n")), "{text}");
    }
}

/// 64 of 65 bytes of PTM are content, and SQM has no word for PTM: 10 Mbit/s · 0.98 · 64 / 65 = 9649 kbit/s.
#[test]
fn openwrt_has_the_code_words_of_ptm_in_its_rates() {
    let settings = netburn_sqm::settings::Settings {
        down: None,
        up: Some(netburn_units::BitRate::from_bps(9_800_000)),
        layer: Layer::cells(Cells::Ptm, 30),
    };
    let text = settings.openwrt("wan");
    assert!(
        text.contains("option upload '9649'") && text.contains("option download '0'"),
        "{text}"
    );
    assert!(settings.tc("wan").contains("bandwidth 9800kbit overhead 30 ptm mpu 0"));
    assert!(!settings.tc("wan").contains("ifb"), "the download is not shaped");
}

#[test]
fn a_slow_link_to_the_router_gives_no_settings() {
    let mut samples = samples();
    for transfer in &mut samples.transfers {
        transfer.probes = probes(90, 100, 110);
    }
    let report = report(samples, 0.2);
    assert_eq!(reasons(&report), ["near", "near"]);
    assert_eq!((report.answer(), report.settings), (Answer::CannotTell, None));
}

#[test]
fn a_changed_round_trip_without_load_gives_no_settings() {
    for number in [0, 1] {
        for mut samples in [samples(), managed()] {
            let added = samples.transfers[0].probes.server[0] - Duration::from_millis(20);
            samples.idle[number] = probes(1, 50, 60);
            let report = report(samples, 0.2);
            assert_eq!(reasons(&report), ["idle-changed", "idle-changed"]);
            assert_eq!((report.answer(), report.settings), (Answer::CannotTell, None));
            // The quiet phase is the base.
            assert_eq!(report.verdicts[0].added.server, Some(added));
        }
    }
}

/// TCP has 5 of 10 Mbit/s: another device had the rest.
#[test]
fn different_rates_of_tcp_and_datagrams_give_no_settings() {
    let mut samples = samples();
    samples.transfers[0].windows = vec![5_000_000 / 80; 70];
    assert_eq!(reasons(&report(samples, 0.2)), ["rates-differ"]);
}

#[test]
fn a_line_that_was_never_full_gives_no_settings() {
    for (cpu, name) in [(0.3, "not-full"), (0.99, "busy")] {
        let mut samples = samples();
        samples.streams.clear();
        for transfer in &mut samples.transfers {
            transfer.probes = probes(1, 10, 20);
        }
        let report = report(samples, cpu);
        assert_eq!(reasons(&report), [name, name]);
        assert_eq!(report.settings, None);
    }
}

/// A stream of `rate` datagrams per second for `seconds` that arrive after 10 ms, without a queue. Every `lost`-th one is lost.
fn limited(direction: Direction, rate: u64, seconds: u64, lost: u64) -> Stream {
    let sent = rate * seconds;
    let at = |nanos: u64| Instant::ZERO + Duration::from_nanos(nanos);
    let interval = 1_000_000_000 / rate;
    let arrived = (0..sent).filter(|k| k % lost != lost - 1);
    Stream {
        direction,
        size: 1428,
        start: Instant::ZERO,
        length: Duration::from_secs(seconds),
        sent,
        arrivals: arrived
            .map(|k| (at(k * interval + 10_000_000), at(k * interval)))
            .collect(),
    }
}

/// Samples with other streams, in which TCP has these rates in bit/s of successive seconds, and probes have the added delay in ms.
fn with_streams(stream: &dyn Fn(Direction) -> Stream, rates: [u64; 7], added: u64) -> Samples {
    let mut samples = samples();
    samples.streams = [Direction::Down, Direction::Up].map(stream).to_vec();
    for transfer in &mut samples.transfers {
        transfer.windows = rates.iter().flat_map(|rate| vec![rate / 80; 10]).collect();
        transfer.probes = probes(1, 10 + added, 20 + added);
    }
    samples
}

/// TCP has 900 Mbit/s, and the datagrams 113 Mbit/s, of which a thirtieth is lost: no policer loses them.
#[test]
fn lost_datagrams_that_are_slower_than_tcp_are_no_policer() {
    let slow = |direction| limited(direction, 9_900, 3, 30);
    let report = report(with_streams(&slow, [900_000_000; 7], 3), 0.2);
    assert_eq!(reasons(&report), ["rates-differ", "rates-differ"]);
    assert_eq!(report.settings, None);
}

/// TCP has 20 to 40 Mbit/s, and the datagrams 11.3 Mbit/s with or without loss. The rate is that of TCP.
#[test]
fn a_line_that_varies_is_not_limited_to_the_rate_of_datagrams() {
    for lost in [30, u64::MAX] {
        let slow = |direction| limited(direction, 990, 20, lost);
        let rates = [200, 400, 300, 250, 350, 200, 400].map(|rate: u64| rate * 100_000);
        let mut samples = with_streams(&slow, rates, 100);
        // One direction is enough.
        samples.transfers.truncate(1);
        let report = report(samples, 0.2);
        let down = &report.verdicts[0];
        assert!(down.varies && down.reasons.is_empty(), "{down:?}");
        let rate = down.shaper.unwrap().as_bps();
        assert!((15_000_000..40_000_000).contains(&rate), "{rate}");
    }
}

/// Samples of a line of 10 Mbit/s in each direction with a short queue.
fn managed() -> Samples {
    let mut samples = samples();
    for transfer in &mut samples.transfers {
        transfer.probes = probes(1, 15, 25);
    }
    samples
}

/// A short delay is good only if TCP filled the line, and no probes were late or lost.
#[test]
fn a_short_queue_needs_evidence() {
    assert_eq!(report(managed(), 0.2).answer(), Answer::Right);
    let disturbances: [fn(&mut Transfer); 4] = [
        |own| own.windows = vec![10_000_000 / 80 * 80 / 100; 70],
        |own| own.probes.server[36..].fill(Duration::from_millis(300)),
        |own| own.probes.unanswered = 10,
        |own| own.probes.server.clear(),
    ];
    for (number, disturb) in disturbances.into_iter().enumerate() {
        let mut samples = managed();
        samples.transfers.iter_mut().for_each(disturb);
        let report = report(samples, 0.2);
        assert_eq!(reasons(&report), ["not-full", "not-full"], "{number}");
        assert_eq!(report.answer(), Answer::CannotTell, "{number}");
    }
}

/// The advice names the provider only for a policer, and a delay only for a queue.
#[test]
fn the_advice_names_what_was_found() {
    let mut short = samples();
    let mut policed = with_streams(&|direction| limited(direction, 9_900, 3, 30), [105_000_000; 7], 2);
    for transfer in &mut short.transfers {
        transfer.probes = probes(1, 26, 36);
    }
    for transfer in &mut policed.transfers {
        transfer.probes.server[36..].fill(Duration::from_millis(50));
    }
    for (samples, queue, advice) in [
        (short, Queue::Line, "No: a full upload delays everything else by 16 ms"),
        (policed, Queue::Policer, "No: your provider drops"),
    ] {
        let report = report(samples, 0.2);
        assert_eq!(report.verdicts[0].queue, Some(queue));
        assert_eq!(report.answer(), Answer::SetUp);
        assert!(report.text().starts_with(advice), "{}", report.text());
    }
}

/// Routers with offloading bypass SQM, and many are too slow for fast lines.
#[test]
fn the_settings_name_the_limits_of_routers() {
    let limit = "Many home routers cannot shape more than 300 Mbit/s";
    let slow = report(samples(), 0.2).text();
    assert!(slow.contains("flow offloading") && !slow.contains(limit), "{slow}");
    let mut samples = samples();
    samples.streams.clear();
    for transfer in &mut samples.transfers {
        transfer.windows = vec![400_000_000 / 80; 70];
    }
    let fast = report(samples, 0.2).text();
    assert!(fast.contains("flow offloading") && fast.contains(limit), "{fast}");
}

/// An interrupted measurement has the results of what was measured.
#[test]
fn an_interrupted_measurement_shows_what_was_found() {
    let mut samples = samples();
    // The upload was cut after half of its time.
    samples.transfers[1].windows[35..].fill(0);
    let measured = Measured {
        samples,
        is_interrupted: true,
    };
    let report = Report::new(&measured, Context::default());
    assert_eq!(report.answer(), Answer::CannotTell);
    assert!(report.text().contains("the measurement was interrupted"));
    assert_eq!(reasons(&report), ["not-measured"]);
    assert_eq!(report.verdicts[0].queue, Some(Queue::Line));
    let nothing = Report::new(&Measured::default(), Context::default());
    assert_eq!(reasons(&nothing), ["not-measured", "not-measured"]);
    assert_eq!(nothing.settings, None);
    for report in [report, nothing] {
        assert!(!report.text().is_empty());
        assert_eq!(report.json()["answer"], "cannot-tell");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any samples, such as those of a foreign record, have a report.
    #[test]
    fn any_samples_have_a_report(
        times in prop::collection::vec((-10_i64..10_000_000_000, -10_i64..10_000_000_000), 0..200),
        windows in prop::collection::vec(any::<u64>(), 0..80),
        size in 0_u32..2000,
        sent in any::<u64>(),
        length in 0_u64..20_000_000_000,
        rtt in prop::collection::vec(any::<u64>(), 0..10),
    ) {
        let mut samples = samples();
        let at = Instant::from_nanos;
        samples.streams.push(Stream {
            direction: Direction::Down,
            size,
            start: Instant::ZERO,
            length: Duration::from_nanos(length),
            sent,
            arrivals: times.into_iter().map(|(a, b)| (at(a), at(b))).collect(),
        });
        samples.transfers[1].windows = windows;
        samples.transfers[1].probes.server = rtt.into_iter().map(Duration::from_nanos).collect();
        let report = report(samples, 0.5);
        prop_assert!(!report.text().is_empty());
        prop_assert!(report.json()["answer"].is_string());
    }
}
