//! Parts of texts that several kinds have.

use crate::common::{PacketStream, Requests, Streams};
use netburn_units::Duration;

/// Rounds times of 1 ms and more to 0.1 ms: `335.5 ms`.
pub(super) fn rounded(time: Duration) -> Duration {
    const STEP: u64 = 100_000;
    match time.as_nanos() {
        nanos @ 1_000_000.. => Duration::from_nanos((nanos + STEP / 2) / STEP * STEP),
        _ => time,
    }
}

/// `every 3 s ± 500 ms`
pub(super) fn every(interval: Duration, jitter: Duration) -> String {
    if jitter.is_zero() {
        format!("every {}", rounded(interval))
    } else {
        format!("every {} ± {jitter}", rounded(interval))
    }
}

/// `10 objects of 128 KiB`
pub(super) fn objects(requests: &Requests) -> String {
    match requests.objects {
        1 => format!("an object of {}", requests.object_size),
        objects => format!("{objects} objects of {}", requests.object_size),
    }
}

/// A text for each stream: `up …, down …`
pub(super) fn streams(streams: &Streams, text: impl Fn(PacketStream) -> String) -> String {
    let texts = streams
        .all()
        .map(|(direction, stream)| format!("{} {}", direction.key(), text(stream)));
    texts.collect::<Vec<_>>().join(", ")
}
