//! Streams of datagrams: the keys `up` and `down` of a workload.

use crate::decode::Section;
use crate::scalars::{ObjectSize, Rate, SomeTime, Span, Whole};
use crate::section_macro::section;
use crate::value::PlanValue;
use netburn_units::{ByteSize, Duration};
use netburn_workload::{Config, PacketStream};

section! {
    /// A stream of datagrams in one direction. Bursts of packets are due at fixed intervals.
    StreamSection(PacketStream = stream_of_datagrams()) {
        /// Rate of the UDP payload, from which `interval` is computed. For the frames of `cloud-gaming`, `burst` is computed from it. For `video-call` it is the target rate, from which `burst` and `size` are computed.
        rate: Rate, default "1 Mbit/s for `datagrams`; 25 Mbit/s for frames of `cloud-gaming`; 2.5 Mbit/s for `video-call`";
        /// Time from the start of a burst to the start of the next one, up to 1 s. At most 10,000 packets per second.
        interval: SomeTime => interval, default "from `rate`; 15.625 ms for `game`; 8 ms up and 16.666667 ms down for `cloud-gaming`; 33.333333 ms for `video-call`";
        /// Packets per burst.
        burst: Whole<1, 1000> => burst, default "1; for frames from `rate`";
        /// Time between two packets of a burst; `0 s`: all packets of a burst are sent at once.
        spacing: Span => spacing, default "0 s; for frames 40 % of the interval in all, as WebRTC's pacer";
        /// UDP payload of a packet, 32 B to 1400 B. For a `video-call` without `burst` the maximum, from 100 B.
        size: ObjectSize => size;
    }
}

fn stream_of_datagrams() -> PacketStream {
    let of = Config::datagrams().packet_streams().up;
    of.unwrap_or(PacketStream::single(
        Duration::from_millis(10),
        ByteSize::from_bytes(1200),
    ))
}

impl PlanValue<StreamSection> for PacketStream {
    /// The stream of `datagrams` with the section's keys, without its rate.
    fn from_key(key: &StreamSection) -> Self {
        let mut stream = stream_of_datagrams();
        key.apply(&mut stream);
        stream
    }

    fn to_json(&self) -> serde_json::Value {
        StreamSection::encode(self).into_json()
    }
}
