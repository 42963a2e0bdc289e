//! Adaptive streaming: the rule with values of its map computed by hand, and whole runs in closed form.

use crate::util::ms;
use crate::util::network::{Network, Run};
use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::config::Dash;
use netburn_workload::kinds::DashClient;
use netburn_workload::{Config, Direction, Stall};
use proptest::prelude::*;

fn mbps(rate: u64) -> BitRate {
    BitRate::from_mbps(rate)
}

/// 1 to 5 Mbit/s. The map rises from 1 Mbit/s at 5 s by 0.4 Mbit/s per second.
fn five_rates() -> Dash {
    Dash {
        ladder: (1..=5).map(mbps).collect(),
        ..Dash::default()
    }
}

#[test]
fn the_bit_rate_follows_the_map_when_it_passes_the_next_one() {
    for (level_ms, previous, next) in [
        // The reservoir, and above the cushion.
        (0, 3, 1),
        (5_000, 5, 1),
        (15_000, 1, 5),
        (30_000, 2, 5),
        // Upwards: f is 1.8, 2, 2.04 and 4.2 Mbit/s.
        (7_000, 1, 1),
        (7_500, 1, 1),
        (7_600, 1, 2),
        (13_000, 1, 4),
        // Between the neighbours: f is 3.8 Mbit/s.
        (12_000, 4, 4),
        (12_000, 3, 3),
        // Downwards: f is 3, 2.96 and 1.4 Mbit/s.
        (10_000, 4, 4),
        (9_900, 4, 3),
        (6_000, 4, 2),
    ] {
        let selected = five_rates().select(Duration::from_millis(level_ms), mbps(previous));
        assert_eq!(selected, mbps(next), "{level_ms} ms after {previous} Mbit/s");
    }
}

proptest! {
    /// With more in the buffer the rule never selects less, and it selects a bit rate of the ladder.
    #[test]
    fn the_rule_is_monotonic(level in 0_u64..20_000, more in 0_u64..5_000, previous in 1_u64..=5) {
        let dash = five_rates();
        let select = |level| dash.select(Duration::from_millis(level), mbps(previous));
        prop_assert!(select(level) <= select(level + more));
        prop_assert!(dash.ladder.contains(&select(level)));
    }
}

/// Segments of 1 s at 1 and 2 Mbit/s: 125,000 and 250,000 B.
fn two_rates() -> Config {
    Config::with(|client: &mut DashClient| {
        client.dash = Dash {
            ladder: vec![mbps(1), mbps(2)],
            segment: Duration::from_secs(1),
            start: Duration::from_secs(1),
            max_buffer: Duration::from_secs(3),
            reservoir: Duration::from_secs(1),
            cushion: Duration::from_secs(1),
        };
    })
}

/// Due times in ms, and sizes in kB.
fn requests(run: &Run) -> Vec<(i64, u64)> {
    let of = |(_, request): &(Instant, netburn_workload::Request)| {
        (request.due.as_nanos() / 1_000_000, request.size.as_bytes() / 1000)
    };
    run.requests.iter().map(of).collect()
}

/// A round trip has 10 ms, and 8 Mbit/s are 1 kB per ms. The first segment ends at 10 + 10 + 125 = 145 ms, and each
/// further one of 1 Mbit/s needs 135 ms. After the third, at 415 ms, the buffer has 3 - 0.27 = 2.73 s, so the fourth
/// waits for 0.73 s. From then on the buffer has 2 s at each request, and a segment of 2 Mbit/s is due every second.
#[test]
fn segments_fill_the_buffer_and_then_follow_playback() {
    let run = Network::new(10, 8).run(&two_rates(), ms(4_000), 1);
    let expected = [
        (0, 125),
        (145, 125),
        (280, 125),
        (1_145, 250),
        (2_145, 250),
        (3_145, 250),
    ];
    assert_eq!(requests(&run), expected);
    assert_eq!(run.startup, Some(Duration::from_millis(145)));
    assert_eq!(run.stalls, []);
    let took: Vec<u64> = run
        .operations
        .iter()
        .map(|o| o.latency().unwrap().as_nanos() / 1_000_000)
        .collect();
    assert_eq!(took, [145, 135, 135, 260, 260, 260]);
}

/// The buffer has 2 s when the segment of 1,145 ms is requested, and is empty at 3,145 ms. This segment is sent after
/// the outage: it is complete at 4,150 + 250 + 5 ms. The bit rate falls to the lowest one with 1 s in the buffer.
#[test]
fn an_outage_stalls_the_player_and_lowers_the_bit_rate() {
    let network = Network::new(10, 8).outage(ms(1_150), ms(4_150));
    let run = network.run(&two_rates(), ms(4_500), 1);
    assert_eq!(requests(&run)[3..], [(1_145, 250), (4_405, 125)]);
    let stall = Stall {
        began: ms(3_145),
        length: Duration::from_millis(1_260),
    };
    assert_eq!(run.stalls, [stall]);
}

/// After 1 s a request fails one round trip later, and the next one follows 1 s after that.
#[test]
fn a_failed_segment_is_requested_again_after_the_backoff() {
    let run = Network::new(10, 8).dead_from(ms(1_000)).run(&two_rates(), ms(3_000), 1);
    let dues: Vec<i64> = requests(&run).iter().map(|(due, _)| *due).collect();
    assert_eq!(dues[..4], [0, 145, 280, 1_145]);
    let failed = run.operations[3].finished.unwrap();
    assert_eq!(run.operations[4].due, failed + Duration::from_secs(1));
}

#[test]
fn segments_have_the_size_of_their_bit_rate() {
    let dash = Dash::default();
    // 16.8 Mbit/s for 4 s are 67.2 Mbit.
    assert_eq!(dash.segment_size(dash.highest()).as_bytes(), 8_400_000);
    assert_eq!(dash.rate_of(8_400_000), Some(dash.highest()));
    assert_eq!(dash.rate_of(8_399_999), None);
    let config = Config::dash();
    assert_eq!(config.operation_size().unwrap().as_bytes(), 8_400_000);
    // 60 s and the buffer of 30 s in segments of 4 s: 22.5.
    let minute = Duration::from_secs(60);
    assert_eq!(config.volume(Direction::Down, minute).scheduled, 23 * 8_400_000);
    assert_eq!(config.volume(Direction::Up, minute).scheduled, 0);
}

#[test]
fn invalid_values_are_rejected() {
    let problem = |change: fn(&mut Dash)| {
        let config = Config::with(|client: &mut DashClient| change(&mut client.dash));
        config.validate().map_err(|error| error.problem)
    };
    let half = |dash: &mut Dash| dash.segment = Duration::from_millis(500);
    assert_eq!(problem(half), Ok(()));
    for (change, expected) in [
        (
            (|dash| dash.ladder.clear()) as fn(&mut Dash),
            "has an invalid `ladder`: found 0 bit rates, expected 1 to 32",
        ),
        (
            |dash| dash.ladder.swap(3, 4),
            "has an invalid `ladder`: found 900 kbit/s after 1.6 Mbit/s, expected ascending bit rates",
        ),
        (
            |dash| dash.segment = Duration::from_millis(499),
            "has an invalid `segment`: found 499 ms, expected 500 ms to 30 s",
        ),
        (
            |dash| dash.max_buffer = Duration::from_millis(7_999),
            "has an invalid `max_buffer`: found 7.999 s, expected 8 s (`start` and one segment) to 10 min",
        ),
        (
            |dash| dash.cushion = Duration::ZERO,
            "has an invalid `cushion`: found 0 s, expected more than 0 s, at most 10 min",
        ),
    ] {
        assert_eq!(problem(change), Err(expected.to_owned()));
    }
}
