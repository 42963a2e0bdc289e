use super::dawn::score;
use super::*;
use netburn_units::{Db, Dbm};

/// A radio on 2.4 GHz with 802.11n, or on 5 GHz with 802.11ac.
fn target(ap: usize, band: Band, known: Option<f64>) -> TargetView {
    TargetView {
        radio: 2 * ap + usize::from(band == Band::Ghz5),
        ap,
        band,
        ht: true,
        vht: band == Band::Ghz5,
        load: 0.0,
        known: known.map(|signal| (signal, Duration::ZERO)),
    }
}

/// A station that is idle and has been connected for long.
fn view(signal: f64, targets: Vec<TargetView>) -> StationView {
    StationView {
        client: 0,
        current: 0,
        signal,
        connected: Duration::from_secs(1_000),
        idle: Duration::from_secs(20),
        uplink_rate: BitRate::from_mbps(6),
        airtime: Duration::ZERO,
        reports: true,
        transitions: true,
        targets,
    }
}

fn steerer(config: SteeringConfig) -> Steerer {
    Steerer::new(Instant::ZERO, &config).unwrap()
}

/// Decisions and their times in seconds, with one view per second.
fn run(steerer: &mut Steerer, seconds: u64, at: impl Fn(u64) -> Vec<StationView>) -> Vec<(u64, Order)> {
    let mut decisions = Vec::new();
    for second in 1..=seconds {
        let now = Instant::from_secs(second as i64);
        let new = steerer.handle_view(now, &at(second));
        decisions.extend(new.into_iter().map(|decision| (second, decision.order)));
    }
    decisions
}

fn requests(decisions: &[(u64, Order)]) -> Vec<(u64, Vec<usize>)> {
    let requests = decisions.iter().filter_map(|(at, order)| match order {
        Order::Request { candidates, .. } => Some((*at, candidates.clone())),
        Order::Measure | Order::Disassociate => None,
    });
    requests.collect()
}

/// The worked scores: a client with 802.11n on both bands and 802.11ac on 5 GHz has 85 on 2.4 GHz and
/// 110 on 5 GHz; 15 more from −60 dBm, 15 less down to −80 dBm and on a busy channel.
#[test]
fn scores_of_dawn() {
    let (two, five) = (target(0, Band::Ghz2_4, None), target(0, Band::Ghz5, None));
    for (at, signal, load, expected) in [
        (&two, -70.0, 0.0, 85),
        (&five, -70.0, 0.0, 110),
        (&five, -75.0, 0.0, 110),
        (&five, -55.0, 0.0, 125),
        (&five, -80.0, 0.0, 95),
        (&five, -60.0, 0.0, 125),
        (&two, -50.0, 0.0, 100),
        (&five, -55.0, 0.7, 110),
        (&five, -55.0, 0.66, 125),
    ] {
        assert_eq!(score(at, signal, load), expected, "{signal} dBm, {load}");
    }
}

/// The worked decisions with the threshold of 20. A condition must hold for three rounds of 10 s.
#[test]
fn decisions_of_dawn() {
    let config = SteeringConfig {
        policy: SteeringPolicy::Dawn,
        // The absolute rule is tested below.
        trigger: Some(Dbm::from_hundredths(-10_000)),
        ..SteeringConfig::default()
    };
    use Band::{Ghz2_4, Ghz5};
    for (own_band, own, other_band, other, moves) in [
        (Ghz5, -75.0, Ghz5, -55.0, false),
        (Ghz5, -80.0, Ghz5, -61.0, false),
        (Ghz5, -80.0, Ghz5, -60.0, true),
        (Ghz2_4, -50.0, Ghz5, -65.0, false),
        (Ghz2_4, -61.0, Ghz5, -61.0, true),
        (Ghz5, -81.0, Ghz2_4, -55.0, false),
    ] {
        let targets = vec![target(0, own_band, None), target(1, other_band, Some(other))];
        let decisions = run(&mut steerer(config), 35, |_| vec![view(own, targets.clone())]);
        let expected = if moves { vec![(30, vec![1])] } else { vec![] };
        assert_eq!(requests(&decisions), expected, "{own} and {other} dBm");
    }
}

/// A station with traffic has a higher rate than 6 Mbit/s, so it is never moved.
#[test]
fn dawn_moves_only_idle_stations() {
    let config = SteeringConfig {
        policy: SteeringPolicy::Dawn,
        ..SteeringConfig::default()
    };
    let targets = vec![target(0, Band::Ghz5, None), target(1, Band::Ghz5, Some(-50.0))];
    let weak = view(-85.0, targets);
    let busy = StationView {
        uplink_rate: BitRate::from_bps(6_500_000),
        ..weak.clone()
    };
    assert_eq!(requests(&run(&mut steerer(config), 120, |_| vec![busy.clone()])), []);
    assert_eq!(
        requests(&run(&mut steerer(config), 35, |_| vec![weak.clone()])).len(),
        1
    );
}

/// The absolute rule names all other radios from −70 dBm on, without knowing their signals. Of the
/// stations of one access point one is moved per round.
#[test]
fn the_absolute_rule_of_dawn() {
    let config = SteeringConfig {
        policy: SteeringPolicy::Dawn,
        ..SteeringConfig::default()
    };
    let targets = vec![
        target(0, Band::Ghz5, None),
        target(1, Band::Ghz5, None),
        target(2, Band::Ghz5, None),
    ];
    let weak = view(-70.5, targets.clone());
    let second = StationView {
        client: 1,
        ..weak.clone()
    };
    let decisions = run(&mut steerer(config), 45, |_| vec![weak.clone(), second.clone()]);
    assert_eq!(requests(&decisions), [(30, vec![1, 2]), (40, vec![1, 2])]);
    let strong = view(-70.0, targets);
    assert_eq!(requests(&run(&mut steerer(config), 60, |_| vec![strong.clone()])), []);
}

/// The timer of 150 beacons of 102.4 ms ends in a disassociation, unless it is switched off.
#[test]
fn timers_end_in_disassociation() {
    for (disassociate, expected) in [(None, vec![(0, 0)]), (Some(false), vec![])] {
        let config = SteeringConfig {
            policy: SteeringPolicy::Dawn,
            disassociate,
            ..SteeringConfig::default()
        };
        let mut steerer = steerer(config);
        let weak = view(-85.0, vec![target(0, Band::Ghz5, None), target(1, Band::Ghz5, None)]);
        run(&mut steerer, 30, |_| vec![weak.clone()]);
        let end = Instant::from_secs(30) + Duration::from_micros(15_360_000);
        assert_eq!(steerer.handle_timers(end - Duration::from_nanos(1)), []);
        assert_eq!(steerer.handle_timers(end), expected);
        assert_eq!(steerer.handle_timers(end), []);
    }
}

/// (a) With every default usteer moves no station between access points.
#[test]
fn usteer_moves_no_station_by_default() {
    let config = SteeringConfig {
        policy: SteeringPolicy::Usteer,
        ..SteeringConfig::default()
    };
    let targets = vec![target(0, Band::Ghz5, None), target(1, Band::Ghz5, Some(-40.0))];
    let decisions = run(&mut steerer(config), 300, |_| vec![view(-88.0, targets.clone())]);
    assert_eq!(decisions, []);
}

/// (b) Band steering needs 30 samples in a row from −60 dBm and 5 dB above the signal at the
/// connection. A station that does not move gets no request. One that comes nearer gets it 30 s later.
#[test]
fn usteer_steers_only_stations_that_come_nearer() {
    let config = SteeringConfig {
        policy: SteeringPolicy::Usteer,
        ..SteeringConfig::default()
    };
    let targets = vec![target(0, Band::Ghz2_4, None), target(0, Band::Ghz5, None)];
    let still = run(&mut steerer(config), 300, |_| vec![view(-45.0, targets.clone())]);
    assert_eq!(requests(&still), []);
    let nearer = |second: u64| {
        let signal = if second < 100 { -65.0 } else { -60.0 };
        vec![view(signal, targets.clone())]
    };
    assert_eq!(requests(&run(&mut steerer(config), 130, nearer)), [(129, vec![1])]);
    // Each weaker sample lowers the reference by 1 dB: after five of them the old signal is enough.
    let dip = |second: u64| {
        let signal = if (2..=6).contains(&second) { -62.0 } else { -58.0 };
        vec![view(signal, targets.clone())]
    };
    assert_eq!(requests(&run(&mut steerer(config), 40, dip)), []);
    let deep = |second: u64| {
        let signal = if (2..=6).contains(&second) { -70.0 } else { -58.0 };
        vec![view(signal, targets.clone())]
    };
    assert_eq!(requests(&run(&mut steerer(config), 40, deep)), [(36, vec![1])]);
}

/// With thresholds it asks for a beacon report, up to three times at an interval of 10 s. Once a better
/// access point is known it asks the station to move. A rejection pauses it for 60 s.
#[test]
fn usteer_with_thresholds() {
    let config = SteeringConfig {
        policy: SteeringPolicy::Usteer,
        trigger: Some(Dbm::from_dbm(-70)),
        margin: Some(Db::from_db(5)),
        ..SteeringConfig::default()
    };
    let unknown = vec![target(0, Band::Ghz5, None), target(1, Band::Ghz5, Some(-70.0))];
    let decisions = run(&mut steerer(config), 95, |_| vec![view(-71.0, unknown.clone())]);
    let at: Vec<u64> = decisions.iter().map(|(at, _)| *at).collect();
    assert_eq!(at, [1, 11, 21, 81, 91]);
    assert!(decisions.iter().all(|(_, order)| *order == Order::Measure));

    let better = vec![target(0, Band::Ghz5, None), target(1, Band::Ghz5, Some(-66.0))];
    let mut rejected = steerer(config);
    let mut times = Vec::new();
    for second in 1..=130 {
        let now = Instant::from_secs(second);
        for _ in rejected.handle_view(now, &[view(-71.0, better.clone())]) {
            times.push(second);
            rejected.handle_answer(now, 0, false);
        }
    }
    assert_eq!(times, [1, 61, 121]);

    // Without an answer the station is disassociated after 10 s.
    let silent = run(&mut steerer(config), 12, |_| vec![view(-71.0, better.clone())]);
    assert_eq!(silent.last(), Some(&(11, Order::Disassociate)));
    let patient = SteeringConfig {
        disassociate: Some(false),
        ..config
    };
    let silent = run(&mut steerer(patient), 60, |_| vec![view(-71.0, better.clone())]);
    assert_eq!(requests(&silent), [(1, vec![1])]);
    assert_eq!(silent.len(), 1);
}

/// It acts 30 to 45 s after the start on a channel that is busy for 70 % of the time: at the first
/// check, one per 15 s, after 30 views. It moves the station with the most airtime, once.
#[test]
fn load_moves_one_station() {
    let config = SteeringConfig {
        policy: SteeringPolicy::Load,
        ..SteeringConfig::default()
    };
    let at = |load: f64, other: f64| {
        let mut five = target(0, Band::Ghz5, None);
        five.load = load;
        let mut two = target(0, Band::Ghz2_4, None);
        two.load = other;
        let one = |client: usize, millis: u64| StationView {
            client,
            airtime: Duration::from_millis(millis),
            ..view(-50.0, vec![five, two])
        };
        vec![one(0, 100), one(1, 400), one(2, 200)]
    };
    let mut balance = steerer(config);
    let mut moved = Vec::new();
    for second in 1..=44 {
        for decision in balance.handle_view(Instant::from_secs(second), &at(0.71, 0.1)) {
            moved.push((second, decision.client));
        }
    }
    assert_eq!(moved, [(30, 1)]);
    for (load, other) in [(0.69, 0.1), (0.9, 0.51)] {
        assert_eq!(
            run(&mut steerer(config), 100, |_| at(load, other)),
            [],
            "{load} and {other}"
        );
    }
    let own = SteeringConfig {
        load: netburn_units::Probability::from_ppb(500_000_000),
        ..config
    };
    assert_eq!(run(&mut steerer(own), 31, |_| at(0.6, 0.1)).len(), 1);
}

/// Idle stations move from −60 dBm (35 dB over noise), those with traffic above −65 dBm and 50 Mbit/s.
#[test]
fn prefer_5_ghz() {
    let config = SteeringConfig {
        policy: SteeringPolicy::Prefer5Ghz,
        ..SteeringConfig::default()
    };
    let targets = vec![target(0, Band::Ghz2_4, None), target(0, Band::Ghz5, None)];
    let at = |signal: f64, idle: u64, mbps: u64| {
        let view = StationView {
            idle: Duration::from_secs(idle),
            uplink_rate: BitRate::from_mbps(mbps),
            ..view(signal, targets.clone())
        };
        requests(&run(&mut steerer(config), 10, |_| vec![view.clone()]))
    };
    assert_eq!(at(-60.0, 10, 6), [(1, vec![1])]);
    assert_eq!(at(-60.1, 10, 6), []);
    assert_eq!(at(-64.9, 1, 51), [(1, vec![1])]);
    assert_eq!(at(-64.9, 1, 50), []);
    assert_eq!(at(-65.0, 1, 100), []);
}
