//! Order of the stages of a measurement. A later stage depends on the samples of the earlier ones.

use crate::fit::FASTEST_ATM;
use crate::samples::{Samples, Transfer};
use crate::service::Service;
use crate::stage::{HEADERS_V4, Load, MAX_PACKETS, MAX_PAYLOAD, MIN_PAYLOAD, Stage};
use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::Direction;
use std::ops::ControlFlow;

/// Both directions, in the order of the measurement.
pub const DIRECTIONS: [Direction; 2] = [Direction::Down, Direction::Up];
/// Content of a full TCP segment in bytes: 1500 bytes less the headers of IPv4 and TCP with timestamps.
const SEGMENT: u64 = 1448;
/// Thresholds of the overhead in bytes, between those of known ATM lines: a packet that is this much shorter than whole cells
/// needs one cell more above the threshold.
const ATM_THRESHOLDS: [u32; 7] = [8, 12, 15, 20, 28, 36, 44];
/// Bytes of a window that count at most: those of 8 Tbit/s. A foreign record can have more.
const MAX_WINDOW: u64 = 100_000_000_000;
/// Most tries to find a rate of datagrams that fills the line.
const TRIES: usize = 3;
/// Spread of the goodput above which a line counts as one that varies: from the 10th to the 90th percentile of 1 s, as a
/// share of the median. The sawtooth of TCP stays below it, and the steps in which a socket takes content of an upload.
pub const VARYING: f64 = 0.35;

/// Spread of the service times from which on the rate of the line varies, and its framing is not visible.
pub const VARYING_SERVICE: f64 = 0.2;

/// Length of the stream of the largest datagrams on such a line: its rate has some hundred windows.
const VARYING_LENGTH: Duration = Duration::from_secs(20);

/// Samples of a measurement, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measured {
    /// Samples of all stages.
    pub samples: Samples,
    /// True if it ended before its last stage.
    pub is_interrupted: bool,
}

/// Samples of a stage, and whether the measurement goes on.
pub type Played = (Samples, ControlFlow<()>);

/// Measures a line. `play` plays a stage, with its number from 1, and returns its samples. `headers` are the bytes of IP and
/// UDP before the payload of a datagram.
///
/// # Errors
/// Those of `play`.
pub fn measure<E>(headers: u32, play: &mut dyn FnMut(usize, &Stage) -> Result<Played, E>) -> Result<Measured, E> {
    let mut measured = Measured::default();
    let mut number = 0;
    let mut run = |stage: &Stage, measured: &mut Measured| -> Result<bool, E> {
        number += 1;
        let (samples, flow) = play(number, stage)?;
        measured.samples.add(samples);
        measured.is_interrupted = flow.is_break();
        Ok(flow.is_continue())
    };
    if !run(&transfers(), &mut measured)? {
        return Ok(measured);
    }
    let mut wanted: Vec<(Direction, u64)> = DIRECTIONS
        .into_iter()
        .filter_map(|direction| {
            let rate = packets_of(&measured.samples, direction)?;
            // A packet that waits for two seconds counts as lost. The queue of a line that varies would become that long.
            let is_varying = is_varying(&measured.samples, direction);
            Some((direction, if is_varying { rate } else { rate * 5 / 4 }))
        })
        .collect();
    for _ in 0..TRIES {
        let stage = saturation(&measured.samples, &wanted);
        if !stage.phases.is_empty() && !run(&stage, &mut measured)? {
            return Ok(measured);
        }
        wanted.retain_mut(|(direction, rate)| {
            let is_saturated = largest(&measured.samples, *direction).is_some_and(|own| own.is_saturated);
            let is_possible = *rate < MAX_PACKETS;
            *rate *= 2;
            !is_saturated && is_possible
        });
        if wanted.is_empty() {
            break;
        }
    }
    let stage = sizes(&measured.samples, headers);
    if !stage.phases.is_empty() {
        run(&stage, &mut measured)?;
    }
    Ok(measured)
}

/// The first stage: round trips without load, TCP down, again without load, and TCP up.
#[must_use]
pub fn transfers() -> Stage {
    let mut stage = Stage::default();
    let seconds = Duration::from_secs;
    stage.add(Load::Idle, seconds(3), Duration::ZERO);
    stage.add(Load::Transfer(Direction::Down), seconds(9), seconds(3));
    // Not after the upload, because the kernel sends what its socket holds after the end of an upload.
    stage.add(Load::Idle, seconds(2), Duration::ZERO);
    stage.add(Load::Transfer(Direction::Up), seconds(9), seconds(5));
    stage
}

/// Content that a measurement transfers at most over a line of these rates.
#[must_use]
pub fn max_bytes(down: BitRate, up: BitRate) -> ByteSize {
    let packets = MAX_PACKETS * u64::from(MAX_PAYLOAD);
    // The stream of the largest datagrams has up to 8 s in each try, and 20 s on a line that varies; the sizes have 15 s.
    let streams = [down, up].map(|rate| packets.min(rate.as_bps() / 4) * 20 + packets.min(rate.as_bps() / 8) * 15);
    ByteSize::from_bytes(transfers().max_bytes(down, up).as_bytes() + streams.iter().sum::<u64>())
}

/// Median goodput of a transfer in windows of 1 s, and its spread from the 10th to the 90th percentile as a share of it.
#[must_use]
pub fn goodput(transfer: &Transfer) -> Option<(BitRate, f64)> {
    let mut sums: Vec<u64> = transfer
        .windows
        .chunks_exact(10)
        .map(|own| own.iter().map(|bytes| *bytes.min(&MAX_WINDOW)).sum::<u64>() * 8)
        .collect();
    sums.sort_unstable();
    let at = |percent: usize| sums.get(sums.len().checked_sub(1)? * percent / 100).copied();
    let median = at(50).filter(|own| *own > 0)?;
    let spread = (at(90)? - at(10)?) as f64 / median as f64;
    Some((BitRate::from_bps(median), spread))
}

fn is_varying(samples: &Samples, direction: Direction) -> bool {
    transfer(samples, direction)
        .and_then(goodput)
        .is_some_and(|(_, spread)| spread > VARYING)
}

/// The transfer of a direction.
#[must_use]
pub fn transfer(samples: &Samples, direction: Direction) -> Option<&Transfer> {
    samples.transfers.iter().find(|own| own.direction == direction)
}

/// Service of the largest datagrams in a direction: of the last try.
#[must_use]
pub fn largest(samples: &Samples, direction: Direction) -> Option<Service> {
    let own = samples.streams.iter().filter(|own| own.direction == direction);
    let size = own.clone().map(|own| own.size).max()?;
    own.filter(|own| own.size == size)
        .filter_map(Service::from_stream)
        .next_back()
}

/// Packets per second of the largest datagrams that fill the line, by the goodput of TCP.
fn packets_of(samples: &Samples, direction: Direction) -> Option<u64> {
    let (rate, _) = goodput(transfer(samples, direction)?)?;
    let segments = rate.as_bps() / 8 / SEGMENT;
    Some((segments * 1500 / u64::from(MAX_PAYLOAD + HEADERS_V4)).max(4))
}

/// Streams of the largest datagrams at these rates.
fn saturation(samples: &Samples, wanted: &[(Direction, u64)]) -> Stage {
    let mut stage = Stage::default();
    for (direction, rate) in wanted {
        let rate = (*rate).min(MAX_PACKETS);
        let is_varying = is_varying(samples, *direction);
        let packets = Duration::from_nanos(120 * 1_000_000_000 / rate);
        let length = if is_varying {
            VARYING_LENGTH
        } else {
            packets.clamp(Duration::from_millis(2500), Duration::from_secs(8))
        };
        let load = Load::Packets {
            direction: *direction,
            payload: MAX_PAYLOAD,
            rate,
        };
        stage.add(load, length, Duration::from_millis(2500));
    }
    stage
}

/// Streams of smaller datagrams, in each direction that the largest ones filled.
fn sizes(samples: &Samples, headers: u32) -> Stage {
    let mut stage = Stage::default();
    for direction in DIRECTIONS {
        let Some(service) = largest(samples, direction).filter(|own| own.is_saturated) else {
            continue;
        };
        if service.spread > VARYING_SERVICE {
            continue;
        }
        let pause = service.added.1 + service.added.1 / 4 + Duration::from_millis(400);
        for size in sizes_of(&service, headers) {
            let rate = rate_of(&service, size).min(MAX_PACKETS);
            let packets = Duration::from_nanos(80 * 1_000_000_000 / rate);
            let load = Load::Packets {
                direction,
                payload: size - headers,
                rate,
            };
            stage.add(
                load,
                packets.clamp(Duration::from_millis(1500), Duration::from_secs(4)),
                pause,
            );
        }
    }
    stage
}

/// Packets per second of this size that fill the line, if it adds 10 bytes to each. With more bytes it needs fewer.
fn rate_of(service: &Service, size: u32) -> u64 {
    let time = u128::from(service.time_ps) * u128::from(size + 10) / u128::from(service.size + 10);
    let rate = 1_200_000_000_000 / time.max(1);
    u64::try_from(rate).unwrap_or(u64::MAX).max(4)
}

/// Lengths of IP packets that separate overheads and framings.
fn sizes_of(service: &Service, headers: u32) -> Vec<u32> {
    let least = (MIN_PAYLOAD + headers..service.size).find(|size| rate_of(service, *size) <= MAX_PACKETS);
    let Some(least) = least else { return Vec::new() };
    if service.ip_rate() <= FASTEST_ATM {
        let cells = (least + 44).div_ceil(48);
        return ATM_THRESHOLDS.iter().map(|threshold| cells * 48 - threshold).collect();
    }
    // Below this difference, an error of 0.4 % is more than the overhead.
    if least * 5 > service.size * 4 {
        return Vec::new();
    }
    vec![least, u32::midpoint(least, service.size)]
}
