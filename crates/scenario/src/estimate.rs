//! How many bytes a plan will move.

use crate::environment::Environment;
use crate::plan::Plan;
use crate::resolve::operation_size;
use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::{Config, Kind};

/// An estimate of the content that a plan moves, all repeats together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteEstimate {
    /// What the schedules ask for; the rates that bound the run bound it too.
    pub scheduled: ByteSize,
    /// The max that may move: the schedules and whatever is unthrottled. `None`: nothing bounds it.
    pub max: Option<ByteSize>,
}

/// ByteEstimate wanted in one direction.
struct Wanted {
    scheduled: u128,
    /// `None`: nothing bounds it.
    max: Option<u128>,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted {
            scheduled: 0,
            max: Some(0),
        }
    }
}

impl Wanted {
    fn add(&mut self, scheduled: u128) {
        self.scheduled += scheduled;
        self.max = self.max.map(|max| max + scheduled);
    }

    fn join(&mut self, other: &Wanted) {
        self.scheduled += other.scheduled;
        self.max = self.max.zip(other.max).map(|(one, other)| one + other);
    }

    fn bound(&mut self, bytes: u128) {
        self.scheduled = self.scheduled.min(bytes);
        self.max = Some(self.max.map_or(bytes, |max| max.min(bytes)));
    }
}

impl Plan {
    /// What the hop at the server lets through, each way. On `local`, where no wire does, 1 Gbit/s unless it is said:
    /// the machine is not to be what is measured.
    #[must_use]
    pub fn server_rate(&self, environment: Environment) -> Option<BitRate> {
        let local = (environment == Environment::Local).then_some(BitRate::from_mbps(1000));
        self.server.link.rate.or(local)
    }

    /// How many bytes of content it will move. On `local` the server's rate bounds them, 1 Gbit/s if it isn't said;
    /// elsewhere only rates that the plan states, the server's and those of stations' own wires. The probes that measure idle latency are not counted.
    #[must_use]
    pub fn bytes_expected(&self, environment: Environment) -> ByteEstimate {
        let (mut down, mut up) = (Wanted::default(), Wanted::default());
        for station in &self.stations {
            let end = station.end(self.duration);
            let span = end.saturating_sub(station.start);
            let (mut to, mut from) = (Wanted::default(), Wanted::default());
            for workload in &station.workloads {
                let config = &workload.config;
                match config.kind {
                    Kind::Download => to.max = None,
                    Kind::Upload => from.max = None,
                    Kind::Probe => {
                        let scheduled = scheduled(config, span);
                        to.add(scheduled);
                        from.add(scheduled);
                    }
                    Kind::Pages | Kind::Stream | Kind::Calls => to.add(scheduled(config, span)),
                }
            }
            // A wire of its own bounds a station where wires are modelled.
            if let Some(link) = station.link.filter(|_| environment.models_air()) {
                let span = span + self.drain;
                to.bound(carried(link.down, span));
                from.bound(carried(link.max_up(), span));
            }
            down.join(&to);
            up.join(&from);
        }
        if let Some(rate) = self.server_rate(environment) {
            let bytes = carried(rate, self.settled());
            down.bound(bytes);
            up.bound(bytes);
        }
        let repeat = u128::from(self.repeat);
        let scheduled = down.scheduled + up.scheduled;
        let max = down.max.zip(up.max).map(|(down, up)| down + up);
        ByteEstimate {
            scheduled: size(scheduled * repeat),
            max: max.map(|max| size(max * repeat)),
        }
    }
}

/// The content of all operations that fall due in `span`: the first somewhere in the first period, so one for each
/// period begun.
fn scheduled(config: &Config, span: Duration) -> u128 {
    let every = config.interval.map_or(0, Duration::as_nanos);
    let operations = span.as_nanos().div_ceil(every.max(1));
    u128::from(operations) * u128::from(operation_size(config).as_bytes())
}

/// What a rate carries in a time.
fn carried(rate: BitRate, span: Duration) -> u128 {
    u128::from(rate.as_bps()) * u128::from(span.as_nanos()) / 8_000_000_000
}

fn size(bytes: u128) -> ByteSize {
    ByteSize::from_bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Station, StationLink, StationWorkload};

    fn plan(uses: &[(&str, Config)]) -> Plan {
        let mut station = Station::new("all");
        station.workloads = uses
            .iter()
            .map(|(name, config)| StationWorkload::new(*name, config.clone()))
            .collect();
        Plan {
            stations: vec![station],
            ..Plan::new("p")
        }
    }

    #[test]
    fn a_minute_of_browsing_is_twenty_pages() {
        let bytes = plan(&[("browsing", Config::browsing())]).bytes_expected(Environment::Fleet);
        // 60 s in periods of 3 s, 10 objects of 128 KiB each.
        let pages = ByteSize::from_kib(20 * 10 * 128);
        assert_eq!(
            bytes,
            ByteEstimate {
                scheduled: pages,
                max: Some(pages)
            }
        );
    }

    #[test]
    fn an_unthrottled_download_is_bounded_on_local_only() {
        let plan = plan(&[("download", Config::download())]);
        // 65 s (60 and 5 of drain) at 1 Gbit/s.
        let bound = ByteSize::from_bytes(65 * 125_000_000);
        assert_eq!(plan.bytes_expected(Environment::Local).max, Some(bound));
        assert_eq!(plan.bytes_expected(Environment::Fleet).max, None);
        assert_eq!(plan.bytes_expected(Environment::Fleet).scheduled, ByteSize::ZERO);
        let thrice = Plan { repeat: 3, ..plan };
        assert_eq!(thrice.bytes_expected(Environment::Local).max, bound.checked_mul(3));
    }

    /// 65 s of drain included: 8 Mbit/s down are 65 MB, and of 4 up the device lets 2 through, 16.25 MB.
    #[test]
    fn a_wire_of_its_own_bounds_a_station_where_wires_are_modelled() {
        let mut plan = plan(&[("download", Config::download()), ("upload", Config::upload())]);
        plan.stations[0].link = Some(StationLink {
            down: BitRate::from_mbps(8),
            up: BitRate::from_mbps(4),
            device: Some(BitRate::from_mbps(2)),
            ..StationLink::default()
        });
        let max = plan.bytes_expected(Environment::Simulate).max;
        assert_eq!(max, Some(ByteSize::from_bytes(65_000_000 + 16_250_000)));
        assert_eq!(plan.bytes_expected(Environment::Fleet).max, None);
    }

    #[test]
    fn a_slow_link_bounds_the_schedules_too() {
        let mut plan = plan(&[("4kstream", Config::stream_4k())]);
        plan.server.link.rate = Some(BitRate::from_mbps(8));
        let bound = ByteSize::from_bytes(65_000_000);
        assert_eq!(
            plan.bytes_expected(Environment::Local),
            ByteEstimate {
                scheduled: bound,
                max: Some(bound)
            }
        );
    }
}
