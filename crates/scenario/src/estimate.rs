//! How many bytes a plan will move.

use crate::ground::Ground;
use crate::plan::Plan;
use crate::resolve::operation_size;
use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::{Config, Kind};

/// An estimate of the content that a plan moves, all repeats together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes {
    /// What the schedules ask for; the rates that bound the run bound it too.
    pub scheduled: ByteSize,
    /// The most that may move: the schedules and whatever is unthrottled. `None`: nothing bounds it.
    pub most: Option<ByteSize>,
}

/// What the schedules and the unthrottled workloads want in one direction.
#[derive(Default)]
struct Wanted {
    scheduled: u128,
    unthrottled: bool,
}

impl Plan {
    /// What the hop at the server lets through, each way. On `local`, where no wire does, 1 Gbit/s unless it is said:
    /// the machine is not to be what is measured.
    #[must_use]
    pub fn server_rate(&self, ground: Ground) -> Option<BitRate> {
        let local = (ground == Ground::Local).then_some(BitRate::from_mbps(1000));
        self.server.link.rate.or(local)
    }

    /// How many bytes of content it will move. On `local` the server's rate bounds them, 1 Gbit/s if it isn't said;
    /// elsewhere only a rate that the plan states. The probes that measure idle latency are not counted.
    #[must_use]
    pub fn bytes_expected(&self, ground: Ground) -> Bytes {
        let (mut down, mut up) = (Wanted::default(), Wanted::default());
        for station in &self.stations {
            let end = station.end(self.duration);
            let span = end.saturating_sub(station.start);
            for workload in &station.workloads {
                let config = &workload.config;
                match config.kind {
                    Kind::Download => down.unthrottled = true,
                    Kind::Upload => up.unthrottled = true,
                    Kind::Probe => {
                        let scheduled = scheduled(config, span);
                        down.scheduled += scheduled;
                        up.scheduled += scheduled;
                    }
                    Kind::Pages | Kind::Stream | Kind::Calls => down.scheduled += scheduled(config, span),
                }
            }
        }
        let bound = self
            .server_rate(ground)
            .map(|rate| u128::from(rate.as_bps()) * u128::from(self.settled().as_nanos()) / 8_000_000_000);
        let repeat = u128::from(self.repeat);
        let ways = [&down, &up];
        let scheduled: u128 = ways
            .iter()
            .map(|way| bound.map_or(way.scheduled, |b| way.scheduled.min(b)))
            .sum();
        let most: Option<u128> = ways
            .iter()
            .map(|way| match (way.unthrottled, bound) {
                (true, bound) => bound,
                (false, Some(bound)) => Some(way.scheduled.min(bound)),
                (false, None) => Some(way.scheduled),
            })
            .sum();
        Bytes {
            scheduled: size(scheduled * repeat),
            most: most.map(|most| size(most * repeat)),
        }
    }
}

/// The content of all operations that fall due in `span`: the first somewhere in the first period, so one for each
/// period begun.
fn scheduled(config: &Config, span: Duration) -> u128 {
    let every = config.every.map_or(0, Duration::as_nanos);
    let operations = span.as_nanos().div_ceil(every.max(1));
    u128::from(operations) * u128::from(operation_size(config).as_bytes())
}

fn size(bytes: u128) -> ByteSize {
    ByteSize::from_bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Station, StationWorkload};

    fn plan(uses: &[(&str, Config)]) -> Plan {
        let mut station = Station::new("all");
        station.workloads = uses
            .iter()
            .map(|(name, config)| StationWorkload {
                name: (*name).to_owned(),
                config: config.clone(),
            })
            .collect();
        Plan {
            stations: vec![station],
            ..Plan::new("p")
        }
    }

    #[test]
    fn a_minute_of_browsing_is_twenty_pages() {
        let bytes = plan(&[("browsing", Config::browsing())]).bytes_expected(Ground::Fleet);
        // 60 s in periods of 3 s, 10 objects of 128 KiB each.
        let pages = ByteSize::from_kib(20 * 10 * 128);
        assert_eq!(
            bytes,
            Bytes {
                scheduled: pages,
                most: Some(pages)
            }
        );
    }

    #[test]
    fn an_unthrottled_download_is_bounded_on_local_only() {
        let plan = plan(&[("download", Config::download())]);
        // 65 s (60 and 5 of drain) at 1 Gbit/s.
        let bound = ByteSize::from_bytes(65 * 125_000_000);
        assert_eq!(plan.bytes_expected(Ground::Local).most, Some(bound));
        assert_eq!(plan.bytes_expected(Ground::Fleet).most, None);
        assert_eq!(plan.bytes_expected(Ground::Fleet).scheduled, ByteSize::ZERO);
        let thrice = Plan { repeat: 3, ..plan };
        assert_eq!(thrice.bytes_expected(Ground::Local).most, bound.checked_mul(3));
    }

    #[test]
    fn a_slow_link_bounds_the_schedules_too() {
        let mut plan = plan(&[("4kstream", Config::stream_4k())]);
        plan.server.link.rate = Some(BitRate::from_mbps(8));
        let bound = ByteSize::from_bytes(65_000_000);
        assert_eq!(
            plan.bytes_expected(Ground::Local),
            Bytes {
                scheduled: bound,
                most: Some(bound)
            }
        );
    }
}
