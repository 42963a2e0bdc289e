//! Demand of workloads, independent of what the network delivers.

use super::{Direction, RunFacts};
use netburn_scenario::plan::Http;
use netburn_units::{BitRate, Duration};
use netburn_workload::config::Dash;
use netburn_workload::{Config, Connections, Goal, PacketStream, Streams as PacketStreams};

/// Initial window in segments (RFC 6928), and content of a segment (RFC 9293, RFC 7323).
const INITIAL_WINDOW: u64 = 10;
const SEGMENT: u64 = 1_448;

/// Rate that one workload needs to meet its goals.
#[derive(Debug, Clone)]
pub(in crate::explain) struct Need {
    pub(in crate::explain) direction: Direction,
    /// Mbit/s of content.
    pub(in crate::explain) mbps: f64,
    /// Text form: `browsing needs 1.31 MB within 500 ms (21.0 Mbit/s)`.
    pub(in crate::explain) why: String,
}

impl RunFacts<'_> {
    /// Rate that a station's workload needs; `None` if its goals require none.
    pub(in crate::explain) fn need(&self, station: usize, workload: usize) -> Option<Need> {
        let workload = self.plan.stations[station].workloads.get(workload)?;
        let config = &workload.config;
        let played = || config.playback().map(|player| player.rate);
        let rate = config.goals.iter().filter_map(|goal| match goal {
            Goal::NoStall => played(),
            goal => goal.rate().map(|(at_least, _)| at_least),
        });
        if let Some(rate) = rate.max() {
            let mbps = rate.as_mbps_f64();
            return Some(Need {
                direction: config.direction(),
                mbps,
                why: format!("{} needs {} Mbit/s", workload.name, crate::format::mbps(mbps)),
            });
        }
        if config.kind().has_stream_keys {
            let rate = |direction, stream: Option<PacketStream>| Some((direction, stream?.rate()));
            let PacketStreams { up, down } = config.packet_streams();
            let streams = [rate(Direction::Down, down), rate(Direction::Up, up)];
            let (direction, rate) = streams.into_iter().flatten().max_by_key(|(_, rate)| *rate)?;
            let mbps = rate.as_mbps_f64();
            return Some(Need {
                direction,
                mbps,
                why: format!(
                    "{} {} {} Mbit/s",
                    workload.name,
                    if config.video().is_some() {
                        "sends up to"
                    } else {
                        "sends"
                    },
                    crate::format::mbps(mbps)
                ),
            });
        }
        let limit = config.latency_limit().map(Duration::as_secs_f64)?;
        let bytes = bytes_at_once(config) as f64;
        let mbps = bytes * 8e-6 / limit.max(1e-9);
        Some(Need {
            direction: config.direction(),
            mbps,
            why: format!(
                "{} needs {} within {} ({} Mbit/s)",
                workload.name,
                amount(bytes),
                crate::format::span(limit * 1e3),
                crate::format::mbps(mbps)
            ),
        })
    }

    /// Mean rate of a station's periodic workloads in one direction, in Mbit/s of content.
    pub(in crate::explain) fn demanded_mbps(&self, station: usize, wanted: Direction) -> f64 {
        let workloads = self.plan.stations[station]
            .workloads
            .iter()
            .map(|workload| &workload.config);
        let each = workloads.filter_map(|config| {
            if let Some(dash) = config.dash().filter(|_| wanted == Direction::Down) {
                return Some(media_rate(config, dash).as_mbps_f64());
            }
            if config.kind().is_one_way() {
                let streams = config.packet_streams();
                let stream = match wanted {
                    Direction::Up => streams.up,
                    Direction::Down => streams.down,
                };
                return Some(stream?.rate().as_mbps_f64());
            }
            let paced = config.direction() == wanted;
            let interval = config.interval().filter(|_| paced)?.as_secs_f64();
            Some(bytes_at_once(config) as f64 * 8e-6 / interval.max(1e-9))
        });
        each.sum()
    }

    /// Returns two values: the round trips that an operation needs (for a stream, its first
    /// object), and the time that its goal allows, in ms. `None` without a goal of time.
    pub(in crate::explain) fn round_trips(&self, station: usize, workload: usize) -> Option<(u32, f64)> {
        let config = &self.plan.stations[station].workloads.get(workload)?.config;
        if let Some(dash) = config.dash() {
            // A segment has its own playback time, on an open connection.
            return Some((1, dash.segment.as_millis_f64()));
        }
        let windows_of_rates = config.goals.iter().filter_map(|goal| goal.rate());
        let limit = config
            .latency_limit()
            .or(windows_of_rates.map(|(_, window)| window).min())?
            .as_secs_f64()
            * 1e3;
        // Only a stream has both an interval and a goal of a rate.
        let is_stream = config.latency_limit().is_none() && config.interval().is_some();
        let requests = config.requests();
        let Some(requests) = requests.filter(|requests| requests.connections == Connections::New || is_stream) else {
            // A connection that stays open has a window for what it carries.
            return Some((1, limit));
        };
        let at_once = match self.plan.server.http {
            Http::H1 => requests.object_size.as_bytes(),
            // All objects of an operation share a connection.
            Http::H2 => bytes_at_once(config),
        };
        let dial = 1 + u32::from(self.plan.server.tls);
        Some((dial + windows(at_once), limit))
    }
}

/// Returns the number of windows that are needed to send this content. The first has ten segments,
/// and each has twice as many as the one before.
fn windows(bytes: u64) -> u32 {
    let (mut left, mut window, mut count) = (bytes.div_ceil(SEGMENT), INITIAL_WINDOW, 1);
    while left > window {
        left -= window;
        window = window.saturating_mul(2);
        count += 1;
    }
    count
}

/// Bit rate that the goals of a `dash` workload need; at least the lowest of its ladder.
fn media_rate(config: &Config, dash: &Dash) -> BitRate {
    let goals = config.goals.iter().filter_map(Goal::rate);
    goals.map(|(at_least, _)| at_least).max().unwrap_or(dash.lowest())
}

fn bytes_at_once(config: &Config) -> u64 {
    let size = config.requests().map(|requests| requests.bounded_size());
    size.or(config.operation_size()).unwrap_or_default().as_bytes()
}

/// An amount of bytes: `1.31 MB`, `16 kB`.
fn amount(bytes: f64) -> String {
    match bytes {
        1e6.. => format!("{:.2} MB", bytes / 1e6),
        1e3.. => format!("{:.0} kB", bytes / 1e3),
        _ => format!("{bytes:.0} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::windows;

    /// 10, 20, 40 and 80 segments of 1448 bytes.
    #[test]
    fn windows_double() {
        assert_eq!(
            [1, 14_480, 14_481, 43_440, 43_441, 131_072, 150 * 1_448, 150 * 1_448 + 1].map(windows),
            [1, 1, 2, 2, 3, 4, 4, 5]
        );
    }
}
