//! Upper bounds that follow from the plan: counts by time, and sizes.

use netburn_units::{BitRate, Duration};
use netburn_workload::config::BIN;
use netburn_workload::{BACKOFF, Config};

/// The highest rate that one workload of one station can have: 1 Tbit/s, more than any network card carries.
pub const MAX_RATE: BitRate = BitRate::from_mbps(1_000_000);
/// Factor by which accepted rows may exceed the number that the plan permits.
const FACTOR: u64 = 2;
/// Number of rows that are accepted at any time, for bursts.
const BURST: u64 = 100;
/// The shortest operation of a workload without a period.
const MIN_OPERATION: Duration = Duration::from_micros(10);
/// Sampling interval of drivers for each open connection.
const LOOKS: Duration = Duration::from_secs(1);
/// Period in which the packets of streams are counted.
const SECOND: Duration = Duration::from_secs(1);
/// Closing connections of one workload that drivers sample in a second.
const CLOSING: u64 = 10;
/// Events of one workload: 10 a second.
const EVENT: Duration = Duration::from_millis(100);
/// Text of the events of one workload: 1 KiB a second.
const TEXT: (u64, Duration) = (1 << 10, Duration::from_secs(1));
/// Text of the events of one station, at any time: 64 KiB.
const TEXT_BURST: u64 = 64 << 10;

/// One row for each interval; some are split where an agent lost its connection.
pub(super) const INTERVALS: Pace = Pace {
    burst: BURST,
    count: FACTOR,
    every: BIN,
};

/// One sample of a station's Wi-Fi link per second.
pub(super) const LINKS: Pace = Pace {
    burst: BURST,
    count: FACTOR,
    every: LOOKS,
};

/// A server samples each of its connections once a second; 16,384 connections by default.
pub(super) const SERVER_LOOKS: Pace = Pace {
    burst: FACTOR * 16_384,
    count: FACTOR * 16_384,
    every: LOOKS,
};

/// Burst of `burst`, then `count` more in every `every`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) burst: u64,
    pub(super) count: u64,
    /// Not zero.
    pub(super) every: Duration,
}

/// Limits of one workload.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    pub(super) operations: Pace,
    pub(super) connections: Pace,
    /// Content of one operation, in bytes.
    pub(super) operation_bytes: u64,
    /// True if its operations follow each other without a pause. Then only time bounds its content.
    greedy: bool,
}

/// Limits on the events that an agent may report for its stations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remarks {
    pub(super) events: Pace,
    pub(super) text: Pace,
}

impl Pace {
    /// Returns the number of rows that are allowed after `elapsed`.
    pub(super) fn allowed(&self, elapsed: Duration) -> u64 {
        let periods = elapsed.as_nanos() / self.every.as_nanos().max(1);
        self.burst.saturating_add(periods.saturating_mul(self.count))
    }
}

impl Limits {
    /// Limits of a workload.
    pub(super) fn from_config(config: &Config) -> Limits {
        let size = config.operation_size().map_or(u64::MAX, |size| size.as_bytes());
        let in_flight = u64::from(config.max_in_flight());
        let at_once = config.requests().map_or(1, |requests| u64::from(requests.objects)) * in_flight;
        let period = config.interval().filter(|every| !every.is_zero());
        // Packets or frames of the first second, and those of each second.
        let of_streams = config.packet_streams().packets_within(SECOND).max(1);
        let (burst, count, every) = match period {
            // Two kinds of probes, and objects of the load, which can fail at once and again after each backoff.
            Some(every) if config.responsiveness().is_some() => {
                let loads = u64::from(config.load().count());
                let probes = SECOND.as_nanos() / every.as_nanos() * 2 + 2;
                (BURST + FACTOR * loads, FACTOR * (probes + loads), SECOND)
            }
            _ if config.kind().has_stream_keys => (BURST + FACTOR * of_streams, FACTOR * of_streams, SECOND),
            Some(every) => (BURST, FACTOR, every),
            // All operations can fail at once, and again after each backoff. Successful ones share the rate.
            None => (
                BURST + FACTOR * (in_flight - 1),
                FACTOR,
                shortest(size).min(BACKOFF / in_flight),
            ),
        };
        Limits {
            operations: Pace { burst, count, every },
            connections: Pace {
                burst: BURST + FACTOR * at_once,
                count: FACTOR * (at_once + CLOSING),
                every: LOOKS,
            },
            operation_bytes: size,
            greedy: period.is_none() && !config.kind().has_stream_keys || config.load().count() > 0,
        }
    }

    /// Limits of the idle-latency probe before the load, whose requests may be tiny.
    pub(super) fn baseline() -> Limits {
        Limits::from_config(&Config::probe())
    }

    /// Maximum content after `elapsed`, in bytes.
    pub(super) fn bytes(&self, elapsed: Duration) -> u128 {
        if self.greedy {
            bytes_at(MAX_RATE, elapsed).saturating_add(bytes_at(MAX_RATE, BIN))
        } else {
            u128::from(self.operations.allowed(elapsed)) * u128::from(self.operation_bytes)
        }
    }
}

impl Remarks {
    /// Limits for this number of stations and workloads.
    pub(super) fn on(stations: usize, workloads: usize) -> Remarks {
        let (stations, workloads) = (stations as u64, workloads as u64 + 1);
        Remarks {
            events: Pace {
                burst: BURST * stations,
                count: workloads,
                every: EVENT,
            },
            text: Pace {
                burst: TEXT_BURST * stations,
                count: TEXT.0 * workloads,
                every: TEXT.1,
            },
        }
    }
}

/// Bytes transferred at `rate` in `span`.
pub(super) fn bytes_at(rate: BitRate, span: Duration) -> u128 {
    u128::from(rate.as_bps()) * u128::from(span.as_nanos()) / 8_000_000_000
}

/// The least time that an operation of this size takes.
fn shortest(size: u64) -> Duration {
    let nanos = u128::from(size) * 8_000_000_000 / u128::from(MAX_RATE.as_bps());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).max(MIN_OPERATION)
}
