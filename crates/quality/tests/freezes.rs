//! Freezes of a video: values by hand.

use netburn_quality::{Freezes, Packet, freezes};
use netburn_units::{Duration, Instant};
use proptest::prelude::*;

const INTERVAL: Duration = Duration::from_millis(40);
const TIMEOUT: Duration = Duration::from_millis(2_000);

/// Frames every 40 ms with these delays in ms; `None` is never complete.
fn video(delays: &[Option<u64>]) -> Vec<Packet> {
    let frames = (0..).zip(delays).map(|(index, delay)| Packet {
        due: Instant::ZERO + INTERVAL * index,
        delay: delay.map(Duration::from_millis),
    });
    frames.collect()
}

fn found(delays: &[Option<u64>]) -> Freezes {
    freezes(&video(delays), INTERVAL, TIMEOUT)
}

/// With frames every 40 ms the limit is max(120, 190) = 190 ms. Frame 40 is due at 1600 ms. The frame before it is
/// shown at 1570 ms. With a delay of 159 ms it is shown 189 ms after that, with 160 ms 190 ms after that, which is a
/// freeze. Frames 41 to 43 wait for it.
#[test]
fn a_freeze_is_150_ms_above_the_mean() {
    let with = |delay| {
        let mut delays = [Some(10); 60];
        delays[40] = Some(delay);
        found(&delays)
    };
    assert_eq!(with(159).count, 0);
    let freeze = with(160);
    let length = Duration::from_millis(190);
    assert_eq!((freeze.count, freeze.total, freeze.longest), (1, length, length));
    // From the first frame at 10 ms to the last one at 59 · 40 + 10 ms.
    assert_eq!(freeze.observed, Duration::from_millis(59 * 40));
}

/// One frame per 100 ms: the limit is max(300, 250) = 300 ms. Two lost frames after 30 good ones are a time of 300
/// ms, one is a time of 200 ms. A receiver that waits only 50 ms for a frame has given up both when the next one is
/// complete.
#[test]
fn a_freeze_is_three_times_a_long_mean() {
    let interval = Duration::from_millis(100);
    let with = |lost: usize| {
        let frames = (0..40).map(|index| Packet {
            due: Instant::ZERO + interval * index as u64,
            delay: (index < 31 || index >= 31 + lost).then_some(Duration::from_millis(60)),
        });
        let frames: Vec<Packet> = frames.collect();
        freezes(&frames, interval, Duration::from_millis(50))
    };
    assert_eq!(with(1).count, 0);
    assert_eq!((with(2).count, with(2).total), (1, Duration::from_millis(300)));
}

/// Frame 10 is never complete. The receiver waits for it until 400 + 2000 ms. The frame before it was shown at 370
/// ms, so the freeze lasts 2030 ms. The frames 11 to 59 are complete by then and are shown at once.
#[test]
fn a_receiver_waits_for_a_missing_frame() {
    let mut delays = [Some(10); 60];
    delays[10] = None;
    let freeze = found(&delays);
    assert_eq!((freeze.count, freeze.total), (1, Duration::from_millis(2_030)));
}

/// After 20 frames nothing arrives: from 19 · 40 + 10 = 770 ms to the last due time of 59 · 40 = 2360 ms. Without any
/// frame the whole time is a freeze. A single frame, or none, has no time.
#[test]
fn the_end_without_frames_is_a_freeze() {
    let mut delays = [Some(10); 60];
    delays[20..].fill(None);
    let freeze = found(&delays);
    let length = Duration::from_millis(1_590);
    assert_eq!((freeze.count, freeze.total), (1, length));
    assert_eq!(freeze.observed, Duration::from_millis(2_350));
    let whole = Duration::from_millis(2_360);
    let expected = Freezes {
        count: 1,
        longest: whole,
        total: whole,
        observed: whole,
    };
    assert_eq!(found(&[None; 60]), expected);
    assert_eq!(found(&[Some(10)]), Freezes::default());
    assert_eq!(found(&[]), Freezes::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The freezes are part of the observed time, and each has at least 150 ms.
    #[test]
    fn freezes_are_part_of_the_observed_time(delays in prop::collection::vec(prop::option::weighted(0.8, 0_u64..3_000), 0..200)) {
        let freezes = found(&delays);
        prop_assert!(freezes.total <= freezes.observed);
        prop_assert!(freezes.total >= Duration::from_millis(150) * freezes.count || freezes.observed < Duration::from_millis(150));
        prop_assert!(freezes.longest <= freezes.total);
        prop_assert_eq!(freezes.count == 0, freezes.longest.is_zero());
    }
}
