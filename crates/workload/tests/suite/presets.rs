//! The built-in workloads on a modelled network whose latencies have closed forms.

use crate::util::ms;
use crate::util::network::{Network, PIECE, Run};
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::kinds::Bulk;
use netburn_workload::{
    BACKOFF, Config, Direction, Goal, Operation, Outcome, PlayerConfig, Tally, Verdict, judge, windows, worst,
};

fn count(run: &Run, outcome: Outcome) -> usize {
    run.operations.iter().filter(|o| o.outcome == outcome).count()
}

fn latency(operation: &Operation) -> Duration {
    operation
        .latency()
        .unwrap_or_else(|| panic!("{operation:?} has no latency"))
}

/// Verdict on a stream's two goals.
fn verdict_on_stream(run: &Run, config: &Config, end: Instant) -> (netburn_workload::GoalResult, Verdict) {
    let from = run.first_due.unwrap();
    let rate = judge(
        config.goals[0],
        &windows(run.bins.iter().map(|(at, b)| (*at, *b)), config.goals[0], from, end),
    );
    let stall = judge(Goal::NoStall, &Tally::from_stalls(&run.stalls, Instant::ZERO, end));
    (rate, worst([rate.verdict, stall.verdict]))
}

#[test]
fn every_page_takes_two_round_trips_and_its_ten_objects() {
    // 10 × 128 KiB at 100 Mbit/s: 104.8576 ms. Dial and request: 10 ms each.
    let network = Network::new(10, 100);
    let run = network.run(&Config::browsing(), ms(300_000), 1);
    assert_eq!(run.operations.len(), 100);
    for page in &run.operations {
        assert_eq!(latency(page), Duration::from_nanos(104_857_600 + 20_000_000));
        assert_eq!(page.bytes, 10 * 128 * 1024);
        assert_eq!(page.connected, Some(page.due + Duration::from_millis(10)));
    }
    let Goal::Latency { limit } = Config::browsing().goals[0] else {
        panic!("browsing has a latency goal");
    };
    let result = judge(
        Config::browsing().goals[0],
        &Tally::from_operations(&run.operations, limit),
    );
    assert_eq!((result.verdict, result.met), (Verdict::Pass, Some(1.0)));
    assert!(!result.provisional, "100 pages are more than 59");
}

#[test]
fn pages_fall_due_around_a_grid_that_does_not_drift() {
    let run = Network::new(10, 100).run(&Config::browsing(), ms(3_600_000), 5);
    let first = run.operations[0].due;
    let (mut early, mut late) = (0, 0);
    for (number, page) in (0..).zip(&run.operations) {
        let off = page.due.as_nanos() - (first + Duration::from_secs(3) * number).as_nanos();
        assert!(off.abs() <= 500_000_000, "page {number} is {off} ns off");
        early += u32::from(off < -400_000_000);
        late += u32::from(off > 400_000_000);
    }
    // A tenth of 1200 each, ± four standard deviations (10.4).
    assert!(
        (78..=162).contains(&early) && (78..=162).contains(&late),
        "{early} early, {late} late"
    );
}

#[test]
fn every_call_takes_one_round_trip_and_its_object() {
    // 16 KiB at 100 Mbit/s: 1.31072 ms. The connection is dialled once.
    let run = Network::new(10, 100).run(&Config::voip(), ms(60_000), 1);
    // 16 KiB × 8 / 1 Mbit/s = 131.072 ms.
    assert!((457..=458).contains(&run.operations.len()), "60 s / 131.072 ms");
    assert_eq!(latency(&run.operations[0]), Duration::from_nanos(21_310_720));
    assert!(
        run.operations[1..]
            .iter()
            .all(|o| latency(o) == Duration::from_nanos(11_310_720))
    );
    assert!(run.operations[1..].iter().all(|o| o.connected.is_none()));
}

#[test]
fn a_stall_of_two_seconds_is_in_the_tail_of_calls_at_its_full_length() {
    let (from, to) = (ms(10_000), ms(12_000));
    let network = Network::new(10, 100).outage(from, to);
    let run = network.run(&Config::voip(), ms(60_000), 1);
    // The server receives a request half a round trip after its due time.
    let begun: Vec<&Operation> = run
        .operations
        .iter()
        .filter(|o| o.outcome != Outcome::NotStarted)
        .collect();
    let first = begun
        .iter()
        .position(|o| o.due + Duration::from_millis(5) >= from)
        .unwrap();
    // Eight wait for the whole outage and complete one after another when it ends.
    for (place, call) in (1..=8_u64).zip(&begun[first..]) {
        assert!(call.due < to, "due during the stall");
        let finished = to + Duration::from_nanos(1_310_720 * place) + Duration::from_millis(5);
        assert_eq!(call.finished, Some(finished), "the {place}th");
        assert_eq!(latency(call), finished.since(call.due));
    }
    let longest = run.operations.iter().filter_map(Operation::latency).max().unwrap();
    assert_eq!(longest, latency(begun[first]));
    assert!(longest > Duration::from_millis(2000 - 132), "{longest}");
    // The others that were due during it are not started: 2000 / 131.072 is 15.3, minus the eight.
    let during =
        |o: &&Operation| o.outcome == Outcome::NotStarted && o.due >= from && o.due < to + Duration::from_millis(7);
    let missed = run.operations.iter().filter(during).count();
    assert_eq!(missed, count(&run, Outcome::NotStarted), "no misses but those");
    assert!((7..=8).contains(&missed), "{missed}");
    // Each ended exactly once, and later ones are normal.
    assert_eq!(
        latency(run.operations.last().unwrap()),
        Duration::from_nanos(11_310_720)
    );
    let result = judge(
        Config::voip().goals[0],
        &Tally::from_operations(&run.operations, Duration::from_millis(150)),
    );
    // 15 or 16 of 458 are beyond 150 ms (the last of the eight may be within): 96.5 % met, but the worst is 12 times.
    assert_eq!(result.verdict, Verdict::Marginal, "{result:?}");
    assert!(result.excess.unwrap() > 12.4, "{result:?}");
}

#[test]
fn a_stream_passes_at_60_megabits() {
    let config = Config::stream_4k();
    let network = Network::new(10, 60);
    let run = network.run(&config, ms(60_000), 1);
    // 1 MiB at 60 Mbit/s: 139.810134 ms, well within the 335.544320 ms that it has.
    for (index, object) in run.operations.iter().enumerate() {
        let dial = if index == 0 { 10_000_000 } else { 0 };
        assert_eq!(latency(object), Duration::from_nanos(139_810_134 + 10_000_000 + dial));
    }
    assert!(
        run.operations
            .windows(2)
            .all(|pair| pair[1].due.since(pair[0].due).as_nanos() == 335_544_320)
    );
    let (rate, verdict) = verdict_on_stream(&run, &config, ms(60_000));
    assert_eq!((verdict, rate.met), (Verdict::Pass, Some(1.0)));
    // Six intervals are 2.013265920 s and contain 50.331648 Mbit. A window lacks 13.265920 ms of
    // that, in which at most 0.796 Mbit arrive, and the pieces at its ends: two of 16 KiB. The dial
    // delays the first by 10 ms: 0.6 Mbit more.
    let least = 50_331_648.0 - 60e6 * (0.013_265_92 + 0.01) - 2.0 * 8.0 * PIECE as f64;
    let excess = rate.excess.unwrap();
    assert!((40e6 / 50_331_648.0..=40e6 / least).contains(&excess), "{excess}");
    // 2 s at 20 Mbit/s are 4.77 objects: it starts during the fifth, and never stalls.
    assert_eq!(run.stalls, []);
    let fifth = run.operations[4];
    let began = Instant::ZERO + run.startup.unwrap();
    assert!(began > fifth.due && began < fifth.finished.unwrap(), "{began}");
}

#[test]
fn a_stream_fails_at_15_megabits() {
    let config = Config::stream_4k();
    let run = Network::new(10, 15).run(&config, ms(60_000), 1);
    // 559.240534 ms and a round trip each: the next is due when the previous ends, and none is
    // omitted.
    for pair in run.operations[1..].windows(2) {
        assert_eq!(pair[1].due.since(pair[0].due).as_nanos(), 559_240_534 + 10_000_000);
    }
    assert_eq!(count(&run, Outcome::NotStarted), 0);
    let (rate, verdict) = verdict_on_stream(&run, &config, ms(60_000));
    assert_eq!((verdict, rate.met), (Verdict::Fail, Some(0.0)));
    // At most 30 Mbit in 2 s where 40 are required; at least the rest if four round trips carry
    // nothing.
    let excess = rate.excess.unwrap();
    assert!(
        (40.0 / 30.0..=40.0 / (30.0 - 4.0 * 0.15 - 0.3)).contains(&excess),
        "{excess}"
    );
    // The player consumes 20 and receives 14.74, so it stalls for about 26 % of the time after its
    // start.
    let tally = Tally::from_stalls(&run.stalls, Instant::ZERO, ms(60_000));
    let watched = 60.0 - run.startup.unwrap().as_secs_f64();
    let share = tally.stalled.as_secs_f64() / watched;
    assert!((share - (1.0 - 14.736 / 20.0)).abs() < 0.05, "{share}");
    assert_eq!(judge(Goal::NoStall, &tally).verdict, Verdict::Fail);
}

#[test]
fn an_unfinished_download_keeps_its_bytes_at_full_rate() {
    let network = Network::new(10, 100);
    let run = network.run(&Config::download(), ms(10_000), 1);
    assert_eq!(run.operations.len(), 1);
    let download = run.operations[0];
    assert_eq!((download.due, download.outcome), (Instant::ZERO, Outcome::Cut));
    // 15 s, less a dial and a request: 14.98 s at 100 Mbit/s, in whole pieces.
    let bytes = 14_980 * 12_500;
    assert_eq!(download.bytes, bytes / PIECE * PIECE);
    assert_eq!(run.bins.values().sum::<u64>(), download.bytes);
}

#[test]
fn small_downloads_follow_immediately() {
    let config = Config::with(|bulk: &mut Bulk| bulk.requests.object_size = ByteSize::from_mib(1));
    let run = Network::new(10, 100).run(&config, ms(10_000), 1);
    for pair in run.operations.windows(2) {
        assert_eq!(Some(pair[1].due), pair[0].finished);
    }
    // 83.88608 ms + 10 ms each, the first 10 ms more: 106.4 in 10 s, and the one in flight finishes
    // in the drain.
    assert_eq!(run.operations.len(), 107);
    assert_eq!(count(&run, Outcome::Finished), 107);
}

#[test]
fn an_upload_has_the_other_direction() {
    let run = Network::new(10, 100).run(&Config::upload(), ms(1_000), 1);
    assert!(
        run.requests
            .iter()
            .all(|(_, r)| r.direction == netburn_workload::Direction::Up)
    );
    assert_eq!(run.operations[0].outcome, Outcome::Cut);
}

#[test]
fn probes_measure_round_trips_and_losses() {
    let run = Network::new(10, 100)
        .outage(ms(5_000), ms(6_000))
        .run(&Config::probe(), ms(20_000), 1);
    assert_eq!(run.operations.len(), 400, "one every 50 ms");
    assert_eq!(count(&run, Outcome::TimedOut), 20, "those of one second");
    for probe in &run.operations {
        match probe.outcome {
            Outcome::Finished => assert_eq!(latency(probe), Duration::from_millis(10)),
            Outcome::TimedOut => assert_eq!(probe.finished, Some(probe.due + Duration::from_secs(3))),
            other => panic!("{other:?}"),
        }
    }
}

/// A round trip of 30 ms is 15 ms each way. In an outage of 1 s, 50 packets of each direction are
/// lost, and end 2 s after they were due.
#[test]
fn calls_have_a_stream_in_each_direction() {
    let run = Network::new(30, 100)
        .outage(ms(5_000), ms(6_000))
        .run(&Config::voice(), ms(20_000), 1);
    let of = |direction| {
        run.operations
            .iter()
            .filter(move |o| Direction::of_packet(o.sequence) == direction)
    };
    for direction in [Direction::Up, Direction::Down] {
        let packets: Vec<_> = of(direction).collect();
        assert!((999..=1000).contains(&packets.len()), "one every 20 ms");
        for pair in packets.windows(2) {
            assert_eq!(pair[1].due.since(pair[0].due), Duration::from_millis(20));
        }
        let lost: Vec<_> = packets.iter().filter(|o| o.outcome == Outcome::TimedOut).collect();
        assert_eq!(lost.len(), 50);
        assert!(lost.iter().all(|o| o.finished == Some(o.due + Duration::from_secs(2))));
        let arrived: Vec<_> = packets.iter().filter_map(|o| o.latency()).collect();
        assert_eq!(arrived.len() + lost.len(), packets.len());
        assert!(arrived.iter().all(|latency| *latency == Duration::from_millis(15)));
    }
}

/// The phases of both directions are independent of each other, and differ between workloads.
#[test]
fn the_directions_of_a_call_have_phases_of_their_own() {
    let offsets: std::collections::BTreeSet<_> = (0..20)
        .map(|seed| {
            let run = Network::new(30, 100).run(&Config::voice(), ms(100), seed);
            let offset = run.operations[1].due.since(run.operations[0].due);
            assert!(offset < Duration::from_millis(20));
            offset
        })
        .collect();
    assert_eq!(offsets.len(), 20);
}

#[test]
fn a_dead_server_gets_few_retries() {
    let dead = Network::new(0, 100).dead_from(Instant::ZERO);
    // 10 s: browsing every 3 s, the stream every 335.5 ms, calls every 131 ms, a download every
    // back-off of 1 s.
    for (config, most) in [
        (Config::browsing(), 40),
        (Config::stream_4k(), 30),
        (Config::voip(), 77),
        (Config::download(), 10),
        (Config::upload(), 10),
    ] {
        let run = dead.run(&config, ms(10_000), 1);
        assert!(
            !run.requests.is_empty() && run.requests.len() <= most,
            "{:?}: {}",
            config.kind(),
            run.requests.len()
        );
        assert!(run.operations.iter().all(|o| matches!(o.outcome, Outcome::Failed(_))));
    }
    assert_eq!(BACKOFF, Duration::from_secs(1));
    // The viewer of the stream saw nothing.
    let stalls = dead.run(&Config::stream_4k(), ms(10_000), 1).stalls;
    assert_eq!(
        stalls.iter().map(|s| (s.began, s.length)).collect::<Vec<_>>(),
        [(ms(0), Duration::from_secs(10))]
    );
}

#[test]
fn a_server_that_dies_in_the_middle_leaves_failures_and_the_run_ends_in_time() {
    let run = Network::new(10, 100)
        .dead_from(ms(5_000))
        .run(&Config::voip(), ms(10_000), 1);
    let (before, after): (Vec<&Operation>, Vec<&Operation>) = run.operations.iter().partition(|o| o.due < ms(5_000));
    assert!(before.iter().all(|o| o.outcome == Outcome::Finished));
    assert!(after.iter().all(|o| matches!(o.outcome, Outcome::Failed(_))) && after.len() >= 38);
}

#[test]
fn the_drivers_lateness_is_in_the_latency_but_changes_no_due_instant() {
    let lag = Duration::from_millis(3);
    let prompt = Network::new(10, 100).run(&Config::voip(), ms(10_000), 1);
    let late = Network::new(10, 100)
        .driver_lag(lag)
        .run(&Config::voip(), ms(10_000), 1);
    assert_eq!(prompt.operations.len(), late.operations.len());
    for (prompt, late) in prompt.operations.iter().zip(&late.operations) {
        assert_eq!(prompt.due, late.due);
        assert_eq!(late.started, Some(late.due + lag));
        assert_eq!(latency(late), latency(prompt) + lag);
    }
}

#[test]
fn one_seed_gives_one_trace_and_another_gives_another() {
    for use_ in netburn_workload::config::PRESETS {
        // The objects of `responsiveness` are too large for this network.
        let config = Config::preset(use_).unwrap();
        if config.load().count() > 0 {
            continue;
        }
        let network = Network::new(10, 50).outage(ms(2_000), ms(2_500));
        let once = network.run(&config, ms(10_000), 3);
        assert_eq!(once.trace, network.run(&config, ms(10_000), 3).trace);
        let other = network.run(&config, ms(10_000), 4);
        assert_eq!(
            ["download", "upload", "dash"].contains(use_),
            once.first_due == other.first_due,
            "{use_}: the phase is seeded"
        );
    }
}

#[test]
fn phases_spread_over_one_period() {
    let config = Config::voip();
    let period = config.interval().unwrap();
    let mut firsts: Vec<u64> = (0..1000)
        .map(|index| {
            let seed = netburn_units::Seed(1);
            let end = Instant::from_secs(10);
            let workload = netburn_workload::Workload::new(config.clone(), Instant::ZERO, end, end, seed, index);
            workload.first_due().unwrap().since(Instant::ZERO).as_nanos()
        })
        .collect();
    firsts.sort_unstable();
    // Kolmogorov–Smirnov against the uniform distribution: 1.95/√1000 = 0.0617 is exceeded once in 1000.
    let distance = firsts.iter().enumerate().map(|(rank, first)| {
        let expected = *first as f64 / period.as_nanos() as f64;
        (expected - rank as f64 / 1000.0)
            .abs()
            .max((expected - (rank + 1) as f64 / 1000.0).abs())
    });
    let distance = distance.fold(0.0, f64::max);
    assert!(distance < 0.0617, "{distance}");
}

#[test]
fn the_presets_have_their_documented_values() {
    let browsing = Config::browsing();
    let requests = browsing.requests().unwrap();
    assert_eq!((requests.objects, requests.object_size), (10, ByteSize::from_kib(128)));
    assert_eq!(
        (browsing.interval(), browsing.jitter()),
        (Some(Duration::from_secs(3)), Duration::from_millis(500))
    );
    assert_eq!(Config::stream_4k().interval(), Some(Duration::from_nanos(335_544_320)));
    assert_eq!(Config::stream_4k().playback(), Some(PlayerConfig::default()));
    assert_eq!(Config::voip().interval(), Some(Duration::from_nanos(131_072_000)));
    assert_eq!(Config::voip().max_in_flight(), 8);
    assert_eq!(
        (Config::probe().operation_size(), Config::probe().interval()),
        (Some(ByteSize::from_bytes(64)), Some(Duration::from_millis(50)))
    );
    for use_ in netburn_workload::config::PRESETS {
        assert_eq!(Config::preset(use_).unwrap().validate(), Ok(()), "{use_}");
    }
    assert_eq!(Config::preset("4k"), None);
}
