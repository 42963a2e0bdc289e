//! The player with values computed by hand, and compared with one that counts every nanosecond.

use netburn_units::{BitRate, Duration, Instant};
use netburn_workload::player::Player;
use netburn_workload::{PlayerConfig, Stall};
use proptest::prelude::*;

fn ms(millis: i64) -> Instant {
    Instant::from_millis(millis)
}

fn stalls(player: &mut Player) -> Vec<Stall> {
    std::iter::from_fn(|| player.poll_stall()).collect()
}

/// Starts with 2 s, plays 20 Mbit/s (2.5 MB a second), buffers 10 s at most.
fn player() -> Player {
    Player::new(PlayerConfig::default(), ms(0))
}

#[test]
fn it_starts_when_enough_is_buffered_and_waiting_for_that_is_no_stall() {
    let mut player = player();
    player.handle_bytes(ms(1000), 4_999_999);
    assert_eq!((player.startup(), player.poll_timeout()), (None, None));
    player.handle_bytes(ms(7000), 1);
    assert_eq!(player.startup(), Some(Duration::from_secs(7)));
    assert_eq!(player.poll_timeout(), Some(ms(9000)), "5 MB play for 2 s");
    player.stop(ms(8000));
    assert_eq!(stalls(&mut player), []);
}

#[test]
fn a_player_that_never_started_stalled_all_the_time() {
    let mut player = player();
    player.handle_bytes(ms(10), 4_000_000);
    player.handle_timeout(ms(50_000));
    player.stop(ms(60_000));
    let stall = Stall {
        began: ms(0),
        length: Duration::from_secs(60),
    };
    assert_eq!((player.startup(), stalls(&mut player)), (None, vec![stall]));
}

#[test]
fn a_stall_lasts_until_enough_is_buffered_again() {
    let mut player = player();
    player.handle_bytes(ms(0), 5_000_000);
    player.handle_timeout(ms(2000));
    player.handle_bytes(ms(2500), 2_500_000);
    player.handle_bytes(ms(3000), 2_499_999);
    assert_eq!(stalls(&mut player), [], "a byte is missing");
    player.handle_bytes(ms(3250), 1);
    let stall = Stall {
        began: ms(2000),
        length: Duration::from_millis(1250),
    };
    assert_eq!(stalls(&mut player), [stall]);
    assert_eq!(player.poll_timeout(), Some(ms(5250)));
}

#[test]
fn media_beyond_the_buffer_are_discarded() {
    let mut player = player();
    player.handle_bytes(ms(0), 100_000_000);
    assert_eq!(player.buffered(), Duration::from_secs(10));
    assert_eq!(player.poll_timeout(), Some(ms(10_000)), "10 s of what would be 40");
    player.handle_bytes(ms(4000), 2_500_000);
    assert_eq!(player.buffered(), Duration::from_secs(7));
}

#[test]
fn it_runs_empty_at_the_next_whole_nanosecond() {
    // 3 bit/s: one byte plays for 2.666… s.
    let config = PlayerConfig {
        start: Duration::from_nanos(1),
        rate: BitRate::from_bps(3),
        max_buffer: Duration::from_secs(100),
    };
    let mut player = Player::new(config, ms(0));
    player.handle_bytes(ms(0), 1);
    assert_eq!(player.poll_timeout(), Some(Instant::from_nanos(2_666_666_667)));
    // Three bytes are 8 s, independent of queries in between.
    for millis in [1, 700, 1333, 2000] {
        player.handle_timeout(ms(millis));
    }
    player.handle_bytes(ms(2001), 2);
    assert_eq!(player.poll_timeout(), Some(ms(8000)));
}

#[test]
fn a_stall_noticed_late_began_when_the_buffer_ran_empty() {
    for notice in [true, false] {
        let mut player = player();
        player.handle_bytes(ms(0), 5_000_000);
        if notice {
            player.handle_timeout(ms(2700));
        }
        player.handle_bytes(ms(3000), 5_000_000);
        let stall = Stall {
            began: ms(2000),
            length: Duration::from_secs(1),
        };
        assert_eq!(stalls(&mut player), [stall]);
    }
}

#[test]
fn a_stall_of_zero_length_is_omitted() {
    let mut player = player();
    player.handle_bytes(ms(0), 5_000_000);
    player.handle_timeout(ms(2000));
    player.handle_bytes(ms(2000), 5_000_000);
    player.stop(ms(4000));
    assert_eq!(stalls(&mut player), []);
}

#[test]
fn a_stall_at_the_end_ends_there() {
    let mut player = player();
    player.handle_bytes(ms(0), 5_000_000);
    player.stop(ms(2600));
    let stall = Stall {
        began: ms(2000),
        length: Duration::from_millis(600),
    };
    assert_eq!(stalls(&mut player), [stall]);
    player.handle_bytes(ms(3000), 50_000_000);
    player.handle_timeout(ms(90_000));
    assert_eq!((stalls(&mut player), player.poll_timeout()), (vec![], None));
}

/// Counting model: in each nanosecond it plays `rate` billionths of a bit, if available.
fn counted(config: PlayerConfig, arrivals: &[(u64, u64)], end: u64) -> (Option<u64>, Vec<(u64, u64)>) {
    let rate = u128::from(config.rate.as_bps());
    let media = |span: Duration| rate * u128::from(span.as_nanos());
    let (mut level, mut startup, mut playing, mut began) = (0_u128, None, false, None);
    let mut stalls = Vec::new();
    for now in 0..=end {
        if now > 0 && playing {
            level = level.saturating_sub(rate);
        }
        for (_, bytes) in arrivals.iter().filter(|(at, _)| *at == now) {
            level = (level + u128::from(*bytes) * 8_000_000_000).min(media(config.max_buffer));
            if !playing && level >= media(config.start) {
                playing = true;
                startup = startup.or(Some(now));
                stalls.extend(began.take().map(|began| (began, now - began)));
            }
        }
        if playing && level == 0 {
            playing = false;
            began = Some(now);
        }
    }
    if startup.is_none() {
        began = Some(0);
    }
    stalls.extend(began.filter(|began| *began < end).map(|began| (began, end - began)));
    (startup, stalls)
}

proptest! {
    #[test]
    fn it_plays_as_one_that_counts_every_nanosecond(
        // A rate at which a few bytes play for a few hundred nanoseconds: 10 to 90 Mbit/s are 0.01
        // to 0.09 bits each.
        rate in 10_000_001_u64..90_000_000,
        start in 1_u64..3000,
        hold in 3000_u64..9000,
        arrivals in prop::collection::vec((0_u64..2500, 1_u64..12), 0..20),
        wakes in prop::collection::vec(0_u64..2500, 0..10),
    ) {
        let config = PlayerConfig {
            start: Duration::from_nanos(start),
            rate: BitRate::from_bps(rate),
            max_buffer: Duration::from_nanos(hold),
        };
        let end = 2500;
        let mut arrivals = arrivals;
        arrivals.sort_by_key(|(at, _)| *at);
        let at = |nanos: u64| Instant::from_nanos(nanos as i64);
        let mut player = Player::new(config, at(0));
        let mut events: Vec<(u64, Option<u64>)> = arrivals.iter().map(|(at, bytes)| (*at, Some(*bytes))).collect();
        // Additional timeouts change nothing.
        events.extend(wakes.iter().map(|at| (*at, None)));
        events.sort_by_key(|(at, bytes)| (*at, bytes.is_none()));
        for (now, bytes) in events {
            match bytes {
                Some(bytes) => player.handle_bytes(at(now), bytes),
                None => player.handle_timeout(at(now)),
            }
        }
        player.stop(at(end));
        let (startup, expected) = counted(config, &arrivals, end);
        prop_assert_eq!(player.startup().map(Duration::as_nanos), startup);
        let got: Vec<(u64, u64)> =
            stalls(&mut player).iter().map(|s| (s.began.as_nanos() as u64, s.length.as_nanos())).collect();
        prop_assert_eq!(got, expected);
    }
}
