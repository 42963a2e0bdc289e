//! Streams of datagrams in one direction: bursts on a fixed grid.

use super::{ConfigError, Volume, wrong};
use crate::direction::Direction;
use netburn_units::{BitRate, ByteSize, Duration};

/// Minimum mean time between the packets of a stream: 100 µs, which is 10,000 packets per second.
pub const MIN_PACKET_PERIOD: Duration = Duration::from_micros(100);

/// Maximum time between the bursts of a stream: 1 s.
pub const MAX_BURST_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum number of packets of a burst.
pub const MAX_BURST: u32 = 1000;

/// Minimum UDP payload of a packet of a stream, in bytes: the header of netburn's datagrams.
pub const MIN_PACKET_SIZE: u64 = 32;

/// Maximum UDP payload of a packet of a stream, in bytes.
pub const MAX_PACKET_SIZE: u64 = 1400;

/// A stream of packets in one direction. Packet number n belongs to burst n / `burst`. It is due
/// (n / `burst`) · `interval` + (n mod `burst`) · `spacing` after packet 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketStream {
    /// Time from the first packet of a burst to the first packet of the next; up to 1 s.
    pub interval: Duration,
    /// Packets of a burst, 1 to 1000. The mean time between packets is at least 100 µs.
    pub burst: u32,
    /// Time between two packets of a burst. The last packet of a burst is due before the next burst.
    pub spacing: Duration,
    /// UDP payload of a packet, 32 B to 1400 B.
    pub size: ByteSize,
}

/// Streams of a workload whose datagrams are not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Streams {
    /// From the station to the server.
    pub up: Option<PacketStream>,
    /// From the server to the station.
    pub down: Option<PacketStream>,
}

/// Size of a frame at this rate, rounded down.
#[must_use]
pub fn frame_size(rate: BitRate, interval: Duration) -> ByteSize {
    let bytes = u128::from(rate.as_bps()) * u128::from(interval.as_nanos()) / 8_000_000_000;
    ByteSize::from_bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
}

impl PacketStream {
    /// Stream of single packets.
    #[must_use]
    pub const fn single(interval: Duration, size: ByteSize) -> Self {
        PacketStream {
            interval,
            burst: 1,
            spacing: Duration::ZERO,
            size,
        }
    }

    /// Stream of frames: each is a burst of packets of `size`, as many as `rate` needs, rounded to the nearest number, 1 to 1000.
    /// They are sent within 40 % of the interval: WebRTC's pacer sends at 2.5 times the rate.
    #[must_use]
    pub fn frames(interval: Duration, rate: BitRate, size: ByteSize) -> Self {
        let packet = (u128::from(size.as_bytes()) * 8_000_000_000).max(1);
        let frame = u128::from(rate.as_bps()) * u128::from(interval.as_nanos());
        let burst = ((frame + packet / 2) / packet).clamp(1, u128::from(MAX_BURST));
        PacketStream {
            interval,
            burst: u32::try_from(burst).unwrap_or(MAX_BURST),
            spacing: Duration::ZERO,
            size,
        }
        .paced()
    }

    /// Frames of a sender that adapts its rate, at their target `rate`: as few packets of equal size as `largest`
    /// permits. The size of a packet is rounded up. A frame has at most 1000 packets.
    #[must_use]
    pub fn adaptive(interval: Duration, rate: BitRate, largest: ByteSize) -> Self {
        let frame = u128::from(rate.as_bps()) * u128::from(interval.as_nanos());
        let frame = u64::try_from(frame.div_ceil(8_000_000_000)).unwrap_or(u64::MAX).max(1);
        let burst = frame.div_ceil(largest.as_bytes().max(1)).clamp(1, u64::from(MAX_BURST));
        let size = frame.div_ceil(burst).min(largest.as_bytes());
        PacketStream {
            interval,
            burst: u32::try_from(burst).unwrap_or(MAX_BURST),
            spacing: Duration::ZERO,
            size: ByteSize::from_bytes(size),
        }
        .paced()
    }

    /// The bursts of this stream, each as one large packet.
    #[must_use]
    pub fn as_frames(&self) -> Self {
        PacketStream::single(self.interval, self.burst_size())
    }

    /// The same stream with its packets paced as those of [`frames`](Self::frames).
    #[must_use]
    pub fn paced(self) -> Self {
        PacketStream {
            spacing: self.interval / 5 * 2 / u64::from(self.burst.max(1)),
            ..self
        }
    }

    /// Time from packet 0 to packet `number`. `None` beyond the range of time.
    #[must_use]
    pub fn offset(&self, number: u64) -> Option<Duration> {
        let burst = u64::from(self.burst.max(1));
        let begin = self.interval.checked_mul(number / burst)?;
        begin.checked_add(self.spacing.checked_mul(number % burst)?)
    }

    /// Number of packets that are due within `span` of packet 0, which is included.
    #[must_use]
    pub fn packets_within(&self, span: Duration) -> u64 {
        let burst = u64::from(self.burst.max(1));
        let (span, interval) = (span.as_nanos(), self.interval.as_nanos().max(1));
        let rest = span % interval;
        let begun = match self.spacing.as_nanos() {
            _ if rest == 0 => 0,
            0 => burst,
            spacing => rest.div_ceil(spacing).min(burst),
        };
        (span / interval).saturating_mul(burst).saturating_add(begun)
    }

    /// Mean rate of the payload, rounded down.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        let burst = self.size.checked_mul(u64::from(self.burst));
        burst
            .and_then(|burst| BitRate::mean(burst, self.interval))
            .unwrap_or(BitRate::from_bps(u64::MAX))
    }

    /// Payload of one burst.
    #[must_use]
    pub fn burst_size(&self) -> ByteSize {
        let size = self.size.checked_mul(u64::from(self.burst));
        size.unwrap_or(ByteSize::from_bytes(u64::MAX))
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// The name of the first invalid value in scenario files, and the problem with it.
    pub fn validate(&self) -> Result<(), (&'static str, String)> {
        let PacketStream {
            interval,
            burst,
            spacing,
            size,
        } = *self;
        if !(1..=MAX_BURST).contains(&burst) {
            return Err(("burst", format!("found {burst} packets, expected 1 to {MAX_BURST}")));
        }
        if !(MIN_PACKET_SIZE..=MAX_PACKET_SIZE).contains(&size.as_bytes()) {
            let expected = format!("{MIN_PACKET_SIZE} B to {MAX_PACKET_SIZE} B");
            return Err(("size", format!("found {} B, expected {expected}", size.as_bytes())));
        }
        if interval > MAX_BURST_INTERVAL {
            return Err((
                "interval",
                format!("found {interval}, expected up to {MAX_BURST_INTERVAL}"),
            ));
        }
        let least = MIN_PACKET_PERIOD * u64::from(burst);
        if interval < least {
            let packets = if burst == 1 { "packet" } else { "packets" };
            let why = format!("found {interval} for {burst} {packets}, expected at least {least}");
            return Err(("interval", format!("{why}, which is 10000 packets per second")));
        }
        let length = spacing.checked_mul(u64::from(burst - 1));
        if length.is_none_or(|length| length >= interval) {
            let why = format!("found {spacing} between {burst} packets");
            return Err(("spacing", format!("{why}, expected less than {interval} in all")));
        }
        Ok(())
    }
}

impl Streams {
    /// The same stream in both directions.
    #[must_use]
    pub const fn both(stream: PacketStream) -> Self {
        Streams {
            up: Some(stream),
            down: Some(stream),
        }
    }

    /// Stream of a direction.
    #[must_use]
    pub const fn get(&self, direction: Direction) -> Option<PacketStream> {
        match direction {
            Direction::Up => self.up,
            Direction::Down => self.down,
        }
    }

    /// The streams of both directions, converted.
    #[must_use]
    pub fn map(&self, convert: impl Fn(PacketStream) -> PacketStream) -> Self {
        Streams {
            up: self.up.map(&convert),
            down: self.down.map(convert),
        }
    }

    /// All streams with their directions: up, then down.
    pub fn all(&self) -> impl Iterator<Item = (Direction, PacketStream)> {
        let both = [(Direction::Up, self.up), (Direction::Down, self.down)];
        both.into_iter()
            .filter_map(|(direction, stream)| Some((direction, stream?)))
    }

    /// Mean rate of the payload in both directions, rounded down in each.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        let rates = self.all().map(|(_, stream)| stream.rate().as_bps());
        BitRate::from_bps(rates.fold(0, u64::saturating_add))
    }

    /// Content that is due in one direction within `span`.
    #[must_use]
    pub fn volume(&self, direction: Direction, span: Duration) -> Volume {
        let stream = self.get(direction);
        stream.map_or(Volume::default(), |stream| {
            Volume::new(stream.packets_within(span), stream.size)
        })
    }

    /// Checks the streams of a kind, which has at least `least` of them.
    pub(crate) fn validate(&self, kind: &str, least: usize) -> Result<(), ConfigError> {
        let count = self.all().count();
        if count < least {
            let text = if least == 1 { "or `down` is" } else { "and `down` are" };
            return wrong("up", format!("{text} required for kind `{kind}`"));
        }
        for (direction, stream) in self.all() {
            if let Err((key, problem)) = stream.validate() {
                return wrong(direction.key(), format!("has an invalid `{key}`: {problem}"));
            }
        }
        Ok(())
    }

    /// Number of packets that can be due within `span`.
    #[must_use]
    pub fn packets_within(&self, span: Duration) -> u64 {
        let packets = self.all().map(|(_, stream)| stream.packets_within(span));
        packets.fold(0, u64::saturating_add)
    }
}
