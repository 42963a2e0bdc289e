//! Rules of each kind, step by step.

use crate::util::script::play;
use netburn_units::{ByteSize, Duration};
use netburn_workload::config::{Grid, Requests};
use netburn_workload::kinds::{Bulk, Pages, Periodic, Probe, Stream};
use netburn_workload::{Config, Connections, Direction, PlayerConfig};

/// 100 ms without jitter.
const GRID: Grid = Grid::regular(Duration::from_millis(100));

fn within_50_ms(config: Config) -> Config {
    Config {
        goals: vec![netburn_workload::Goal::Latency {
            limit: Duration::from_millis(50),
        }],
        ..config
    }
}

/// Pages of two objects every 100 ms, on new connections, good within 50 ms.
fn pages() -> Config {
    two_objects(Connections::New)
}

fn two_objects(connections: Connections) -> Config {
    let mut pages = Pages::default();
    pages.requests.objects = 2;
    pages.requests.connections = connections;
    pages.grid = GRID;
    within_50_ms(pages.into())
}

fn calls(outstanding: u32) -> Config {
    calls_every(GRID.interval, outstanding)
}

fn calls_every(interval: Duration, outstanding: u32) -> Config {
    within_50_ms(Config::from(Periodic {
        requests: Requests::kept(ByteSize::from_kib(128)),
        grid: Grid::regular(interval),
        outstanding,
    }))
}

fn stream(object_size: ByteSize, player: Option<PlayerConfig>) -> Config {
    let config = Config::from(Stream {
        requests: Requests::kept(object_size),
        grid: GRID,
        player,
    });
    Config {
        goals: Vec::new(),
        ..config
    }
}

#[test]
fn a_page_is_loaded_with_the_last_byte_of_its_last_object() {
    let operations = play(
        &pages(),
        150,
        1000,
        &[
            ("both objects begin at once", 0, "wake", "begin 0.0 new, begin 0.1 new"),
            ("the first is dialled", 5, "connected 0.0", ""),
            ("the second is dialled", 9, "connected 0.1", ""),
            ("the second brings the first byte", 12, "bytes 0.1 10", ""),
            ("the first brings some", 13, "bytes 0.0 20", ""),
            ("the first is complete, the page isn't", 30, "finished 0.0", ""),
            ("more bytes for what is complete don't count", 31, "bytes 0.0 1000", ""),
            ("the second brings the rest", 39, "bytes 0.1 5", ""),
            ("the second is complete", 40, "finished 0.1", "0 finished in 40 ms"),
        ],
    );
    let page = operations[0];
    let after = |millis| Some(page.due + Duration::from_millis(millis));
    assert_eq!(
        (page.started, page.connected, page.first_byte),
        (after(0), after(9), after(12))
    );
    assert_eq!((page.finished, page.bytes), (after(40), 35));
}

#[test]
fn one_page_may_wait_and_counts_from_when_it_was_due() {
    play(
        &pages(),
        1000,
        1000,
        &[
            ("page 0 begins", 0, "wake", "begin 0.0 new, begin 0.1 new"),
            ("page 1 waits", 100, "wake", ""),
            ("page 2 is due beyond: a miss at once", 200, "wake", "2 missed"),
            ("half of page 0", 240, "finished 0.0", ""),
            (
                "page 0 ends and page 1 begins at once",
                250,
                "finished 0.1",
                "begin 1.0 new, begin 1.1 new, 0 finished in 250 ms",
            ),
            ("page 3 waits", 300, "wake", ""),
            ("half of page 1", 310, "finished 1.0", ""),
            (
                "page 1 took 70 ms but was due 220 ms ago",
                320,
                "finished 1.1",
                "begin 3.0 new, begin 3.1 new, 1 finished in 220 ms",
            ),
        ],
    );
}

#[test]
fn the_first_failure_fails_the_page_and_cancels_the_rest() {
    let config = Config::with(|pages: &mut Pages| {
        pages.requests.objects = 3;
        pages.requests.connections = Connections::Keep;
        pages.grid = GRID;
    });
    play(
        &config,
        1000,
        1000,
        &[
            (
                "three objects",
                0,
                "wake",
                "begin 0.0 on 0, begin 0.1 on 1, begin 0.2 on 2",
            ),
            ("one is complete", 10, "finished 0.2", ""),
            (
                "one fails; only requests in progress are cancelled",
                20,
                "failed 0.0",
                "cancel 0.1, 0 failed",
            ),
            ("nothing more is heard of it", 21, "failed 0.1", ""),
            (
                "its connections are free",
                100,
                "wake",
                "begin 1.0 on 0, begin 1.1 on 1, begin 1.2 on 2",
            ),
        ],
    );
}

#[test]
fn a_queued_page_begins_when_the_previous_one_fails() {
    play(
        &pages(),
        1000,
        1000,
        &[
            ("page 0 begins", 0, "wake", "begin 0.0 new, begin 0.1 new"),
            ("page 1 waits", 100, "wake", ""),
            (
                "page 0 fails",
                120,
                "failed 0.1",
                "cancel 0.0, begin 1.0 new, begin 1.1 new, 0 failed",
            ),
        ],
    );
}

#[test]
fn calls_beyond_the_outstanding_limit_are_not_started() {
    play(
        &calls(2),
        1000,
        1000,
        &[
            ("the first", 0, "wake", "begin 0.0 on 0"),
            ("the second beside it", 100, "wake", "begin 1.0 on 1"),
            ("the third is beyond", 200, "wake", "2 missed"),
            ("the first ends", 250, "finished 0.0", "0 finished in 250 ms"),
            ("the lowest free connection is taken", 300, "wake", "begin 3.0 on 0"),
            (
                "at one instant what ends comes first",
                400,
                "finished 1.0",
                "begin 4.0 on 1, 1 finished in 300 ms",
            ),
        ],
    );
}

#[test]
fn a_late_driver_gets_all_operations_in_order_with_their_due_times() {
    let operations = play(
        &calls(2),
        1000,
        1000,
        &[
            (
                "woken 50 ms after the fourth was due",
                350,
                "wake",
                "begin 0.0 on 0, begin 1.0 on 1, 2 missed, 3 missed",
            ),
            (
                "latency counts from the due instant",
                360,
                "finished 1.0",
                "1 finished in 260 ms",
            ),
        ],
    );
    assert_eq!(
        operations[1].started,
        Some(operations[0].due + Duration::from_millis(350))
    );
    let dues: Vec<_> = operations[..4]
        .iter()
        .map(|o| o.due.since(operations[0].due).as_millis())
        .collect();
    assert_eq!(dues, [0, 100, 200, 300]);
}

#[test]
fn earlier_due_times_precede_an_input() {
    play(
        &calls(1),
        1000,
        1000,
        &[
            ("the first", 0, "wake", "begin 0.0 on 0"),
            (
                "it ends at 130 ms: at 100 ms it was still in progress",
                130,
                "finished 0.0",
                "0 finished in 130 ms, 1 missed",
            ),
        ],
    );
}

#[test]
fn a_stream_never_catches_up() {
    play(
        &stream(ByteSize::from_kib(128), None),
        2000,
        1000,
        &[
            ("the first", 0, "wake", "begin 0.0 on 0"),
            (
                "in time: the next is a period after this one was due",
                30,
                "finished 0.0",
                "0 finished in 30 ms",
            ),
            ("there", 100, "wake", "begin 1.0 on 0"),
            (
                "350 ms late: the next is due at once",
                450,
                "finished 1.0",
                "begin 2.0 on 0, 1 finished in 350 ms",
            ),
            ("in time again", 460, "finished 2.0", "2 finished in 10 ms"),
            ("the schedule has shifted: not at 500", 549, "wake", ""),
            ("but a period after the last was due", 550, "wake", "begin 3.0 on 0"),
        ],
    );
}

#[test]
fn a_failing_server_gets_one_request_per_interval() {
    play(
        &stream(ByteSize::from_kib(128), None),
        2000,
        1000,
        &[
            ("the first", 0, "wake", "begin 0.0 on 0"),
            ("fails at once", 1, "failed 0.0", "0 failed"),
            ("not yet", 99, "wake", ""),
            ("a period later", 100, "wake", "begin 1.0 on 0"),
            ("fails late", 260, "failed 1.0", "begin 2.0 on 0, 1 failed"),
        ],
    );
}

#[test]
fn a_download_continues_immediately_and_after_a_second_on_failure() {
    play(
        &Config::download(),
        10_000,
        1000,
        &[
            ("it begins at the start", 0, "wake", "begin 0.0 on 0"),
            (
                "the next when the last ends",
                700,
                "finished 0.0",
                "begin 1.0 on 0, 0 finished in 700 ms",
            ),
            ("a failure", 800, "failed 1.0", "1 failed"),
            ("not yet", 1799, "wake", ""),
            ("1 s later", 1800, "wake", "begin 2.0 on 0"),
        ],
    );
}

#[test]
fn an_operation_without_progress_times_out_and_its_connection_is_replaced() {
    let mut config = calls_every(Duration::from_secs(1), 2);
    config.timeout = Duration::from_millis(500);
    let operations = play(
        &config,
        10_000,
        1000,
        &[
            ("the first", 0, "wake", "begin 0.0 on 0"),
            ("a connection is progress", 400, "connected 0.0", ""),
            ("bytes are progress", 800, "bytes 0.0 7", ""),
            ("the second meanwhile", 1000, "wake", "begin 1.0 on 1"),
            ("500 ms after the last bytes", 1300, "wake", "cancel 0.0, 0 timed out"),
            ("bytes that come later don't count", 1301, "bytes 0.0 9", ""),
            ("500 ms without anything", 1500, "wake", "cancel 1.0, 1 timed out"),
        ],
    );
    assert_eq!(operations[0].bytes, 7);
    assert_eq!(
        operations[0].finished,
        Some(operations[0].due + Duration::from_millis(1300))
    );
    assert_eq!(operations[0].latency(), None);
}

#[test]
fn progress_at_the_instant_of_the_timeout_counts() {
    let mut config = calls(1);
    config.timeout = Duration::from_millis(50);
    play(
        &config,
        90,
        1000,
        &[
            ("the first", 0, "wake", "begin 0.0 on 0"),
            ("just in time", 50, "bytes 0.0 1", ""),
            ("not given up", 50, "wake", ""),
            ("until now", 100, "wake", "cancel 0.0, 0 timed out"),
        ],
    );
}

#[test]
fn a_probe_is_lost_after_its_timeout_and_a_later_reply_is_ignored() {
    let mut config = Config::with(|probe: &mut Probe| probe.grid = GRID);
    config.timeout = Duration::from_millis(250);
    let operations = play(
        &config,
        1000,
        1000,
        &[
            ("the first", 0, "wake", "send 0"),
            ("is answered", 8, "reply 0", "0 finished in 8 ms"),
            ("once", 9, "reply 0", ""),
            ("the second", 100, "wake", "send 1"),
            ("the third", 200, "wake", "send 2"),
            ("the fourth", 300, "wake", "send 3"),
            ("answers may overtake each other", 310, "reply 3", "3 finished in 10 ms"),
            (
                "the second is lost, and no datagram is cancelled",
                350,
                "wake",
                "1 timed out",
            ),
            ("its late answer", 360, "reply 1", ""),
            ("an answer to what was never asked", 361, "reply 99", ""),
            ("an answer just in time", 399, "reply 2", "2 finished in 199 ms"),
        ],
    );
    assert_eq!(operations[0].far.map(|far| (far.received, far.sent)), Some((1, 2)));
    assert_eq!(operations[0].bytes, 64);
    assert_eq!(operations[1].far, None);
}

#[test]
fn operations_in_flight_may_finish_until_settled() {
    play(
        &calls(8),
        250,
        100,
        &[
            ("the first", 0, "wake", "begin 0.0 on 0"),
            ("the second", 100, "wake", "begin 1.0 on 1"),
            ("the third", 200, "wake", "begin 2.0 on 2"),
            ("the end", 250, "wake", ""),
            ("no further operation is due", 300, "wake", ""),
            ("the first still finishes", 320, "finished 0.0", "0 finished in 320 ms"),
            (
                "settled: both are older than their goal of 50 ms",
                350,
                "wake",
                "cancel 1.0, cancel 2.0, 1 unfinished, 2 unfinished",
            ),
            ("nothing is heard any more", 360, "finished 2.0", ""),
        ],
    );
}

#[test]
fn operations_younger_than_their_goal_are_not_counted() {
    // Settled at 249 ms. An operation due at 200 ms is 49 ms old then. At 250 ms it would be 50 ms, which is not
    // older than 50 ms.
    for (drain, outcome) in [(39, "2 cut"), (40, "2 cut"), (41, "2 unfinished")] {
        let expected = format!("cancel 2.0, {outcome}");
        play(
            &calls(8),
            210,
            drain,
            &[
                ("the first", 0, "wake", "begin 0.0 on 0"),
                ("ends", 1, "finished 0.0", "0 finished in 1 ms"),
                ("the second", 100, "wake", "begin 1.0 on 0"),
                ("ends", 101, "finished 1.0", "1 finished in 1 ms"),
                ("the third", 200, "wake", "begin 2.0 on 0"),
                ("settled", 210 + drain as i64, "wake", &expected),
            ],
        );
    }
}

#[test]
fn a_queued_page_at_the_end_is_judged_by_its_age() {
    for (end, outcome) in [(150, "1 cut"), (151, "1 unfinished")] {
        play(
            &pages(),
            end,
            1000,
            &[
                ("page 0 begins", 0, "wake", "begin 0.0 new, begin 0.1 new"),
                ("page 1 waits", 100, "wake", ""),
                ("the end", end as i64, "wake", outcome),
                ("half of page 0", 300, "finished 0.0", ""),
                (
                    "page 0 finishes in the drain",
                    310,
                    "finished 0.1",
                    "0 finished in 310 ms",
                ),
            ],
        );
    }
}

#[test]
fn a_download_that_is_cut_keeps_its_bytes() {
    let operations = play(
        &Config::download(),
        1000,
        500,
        &[
            ("it begins", 0, "wake", "begin 0.0 on 0"),
            ("bytes", 900, "bytes 0.0 1000", ""),
            ("bytes in the drain", 1400, "bytes 0.0 234", ""),
            ("settled", 1500, "wake", "cancel 0.0, 0 cut"),
        ],
    );
    assert_eq!(operations[0].bytes, 1234);
}

#[test]
fn a_run_that_ends_before_the_first_due_time_has_no_operations() {
    assert_eq!(play(&pages(), 0, 0, &[("the end", 0, "wake", "")]), []);
}

#[test]
fn a_stream_feeds_its_player_and_the_stall_begins_to_the_nanosecond() {
    // 8 Mbit/s: 1000 bytes play for 1 ms. It starts with 20 ms.
    let player = PlayerConfig {
        start: Duration::from_millis(20),
        rate: netburn_units::BitRate::from_mbps(8),
        max_buffer: Duration::from_millis(60),
    };
    let config = stream(ByteSize::from_bytes(50_000), Some(player));
    play(
        &config,
        400,
        1000,
        &[
            ("the first", 0, "wake", "begin 0.0 on 0"),
            ("19 ms are not enough", 10, "bytes 0.0 19000", ""),
            ("50 ms are: it plays until 70", 20, "bytes 0.0 31000", ""),
            ("complete", 20, "finished 0.0", "0 finished in 20 ms"),
            ("empty", 70, "wake", ""),
            ("the second", 100, "wake", "begin 1.0 on 0"),
            ("not enough to go on", 110, "bytes 1.0 10000", ""),
            (
                "enough, after 50 ms; it plays until 140",
                120,
                "bytes 1.0 10000",
                "stall at 70 for 50 ms",
            ),
            (
                "at the very instant it runs empty more comes: no stall",
                140,
                "bytes 1.0 100000",
                "",
            ),
            ("it holds 60 ms and no more: until 200; noticed late", 230, "wake", ""),
            (
                "time passes",
                390,
                "finished 1.0",
                "begin 2.0 on 0, 1 finished in 290 ms",
            ),
            ("at the end the stall ends", 400, "wake", "stall at 200 for 200 ms"),
            ("bytes in the drain are not played", 410, "bytes 2.0 100000", ""),
        ],
    );
}

/// Two streams: each begins its next object when its own ended, a failed one 1 s later. Neither waits for the other. An
/// object uses the lowest free connection.
#[test]
fn streams_are_independent_sequences() {
    let config = Config::with(|bulk: &mut Bulk| bulk.streams = 2);
    play(
        &config,
        3000,
        0,
        &[
            ("both begin at once", 0, "wake", "begin 0.0 on 0, begin 1.0 on 1"),
            (
                "the second ends",
                400,
                "finished 1.0",
                "begin 2.0 on 1, 1 finished in 400 ms",
            ),
            ("the first fails", 500, "failed 0.0", "0 failed"),
            (
                "the second goes on",
                900,
                "finished 2.0",
                "begin 3.0 on 0, 2 finished in 500 ms",
            ),
            ("the first waits for a second", 1499, "wake", ""),
            ("and goes on", 1500, "wake", "begin 4.0 on 1"),
            (
                "both are cut at the end",
                3000,
                "wake",
                "cancel 3.0, cancel 4.0, 3 cut, 4 cut",
            ),
        ],
    );
}

#[test]
fn streams_that_fail_together_continue_together() {
    let mut bulk = Bulk::new(Direction::Up);
    bulk.streams = 3;
    bulk.requests.connections = Connections::New;
    let config = Config::from(bulk);
    play(
        &config,
        2000,
        0,
        &[
            ("all begin", 0, "wake", "begin 0.0 new, begin 1.0 new, begin 2.0 new"),
            ("one fails", 5, "failed 2.0", "2 failed"),
            ("another one", 5, "failed 0.0", "0 failed"),
            ("both are due 1 s later", 1005, "wake", "begin 3.0 new, begin 4.0 new"),
        ],
    );
}
