//! Estimate of the traffic of a plan.

use crate::environment::Environment;
use crate::plan::Plan;
use netburn_units::{BitRate, ByteSize, Duration, Instant};
use netburn_workload::Direction;
use netburn_workload::config::Volume;

/// Estimated content bytes of all runs of a plan, both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteEstimate {
    /// Bytes that the schedules request, limited by the rates of the plan.
    pub scheduled: ByteSize,
    /// Maximum, including unthrottled workloads. `None`: unbounded.
    pub max: Option<ByteSize>,
}

/// Requested bytes in one direction.
struct Demand {
    scheduled: u128,
    /// `None`: unbounded.
    max: Option<u128>,
}

impl Default for Demand {
    fn default() -> Self {
        Demand {
            scheduled: 0,
            max: Some(0),
        }
    }
}

impl Demand {
    fn add(&mut self, volume: Volume) {
        self.scheduled += volume.scheduled;
        let max = self.max.filter(|_| !volume.is_unlimited);
        self.max = max.map(|max| max + volume.scheduled);
    }

    fn join(&mut self, other: &Demand) {
        self.scheduled += other.scheduled;
        self.max = self.max.zip(other.max).map(|(one, other)| one + other);
    }

    fn bound(&mut self, bytes: u128) {
        self.scheduled = self.scheduled.min(bytes);
        self.max = Some(self.max.map_or(bytes, |max| max.min(bytes)));
    }
}

impl Plan {
    /// Returns the rate of the server's link in each direction. On `local` the default is 1 Gbit/s, so that the processor
    /// is not the bottleneck.
    #[must_use]
    pub fn server_rate(&self, environment: Environment) -> Option<BitRate> {
        let local = (environment == Environment::Local).then_some(BitRate::from_mbps(1000));
        self.server.link.rate.or(local)
    }

    /// Estimates the content bytes of the plan. The server's rate limits them (1 Gbit/s by default on `local`), as do the
    /// stations' wired links where they are modelled. Probes for idle latency are not counted.
    #[must_use]
    pub fn bytes_expected(&self, environment: Environment) -> ByteEstimate {
        let (mut down, mut up) = (Demand::default(), Demand::default());
        for station in &self.stations {
            let end = station.end(self.duration);
            let span = end.saturating_sub(station.start);
            let load = Instant::ZERO + station.start..Instant::ZERO + end;
            let (mut to, mut from) = (Demand::default(), Demand::default());
            for workload in &station.workloads {
                for window in workload.config.windows(load.start, load.end) {
                    let volume = |direction| workload.config.volume(direction, window.length());
                    to.add(volume(Direction::Down));
                    from.add(volume(Direction::Up));
                }
            }
            // A wired link limits its station only where links are modelled.
            if let Some(link) = station.link.as_ref().filter(|_| environment.models_air()) {
                let span = span + self.drain;
                to.bound(bytes_at_rate(link.down, span));
                from.bound(bytes_at_rate(link.max_up(), span));
            }
            down.join(&to);
            up.join(&from);
        }
        if let Some(rate) = self.server_rate(environment) {
            let bytes = bytes_at_rate(rate, self.settled());
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

/// Bytes transferred at `rate` in `span`.
fn bytes_at_rate(rate: BitRate, span: Duration) -> u128 {
    u128::from(rate.as_bps()) * u128::from(span.as_nanos()) / 8_000_000_000
}

fn size(bytes: u128) -> ByteSize {
    ByteSize::from_bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Station, StationLink, StationWorkload};
    use netburn_workload::Config;
    use netburn_workload::config::Activity;

    fn plan(workloads: &[(&str, Config)]) -> Plan {
        let mut station = Station::new("all");
        station.workloads = workloads
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

    /// From 10 s on, 6 s in each 20 s: windows at 10, 30 and 50 s with two pages each.
    #[test]
    fn windows_of_browsing_have_pages_of_their_own() {
        let mut config = Config::browsing();
        config.activity = Activity {
            start: Duration::from_secs(10),
            stop: Some(Duration::from_secs(16)),
            repeat: Some(Duration::from_secs(20)),
        };
        let bytes = plan(&[("browsing", config)]).bytes_expected(Environment::Fleet);
        assert_eq!(bytes.scheduled, ByteSize::from_kib(3 * 2 * 10 * 128));
    }

    #[test]
    fn an_unthrottled_download_is_limited_on_local_only() {
        let plan = plan(&[("download", Config::download())]);
        // 65 s (60 and 5 of drain) at 1 Gbit/s.
        let bound = ByteSize::from_bytes(65 * 125_000_000);
        assert_eq!(plan.bytes_expected(Environment::Local).max, Some(bound));
        assert_eq!(plan.bytes_expected(Environment::Fleet).max, None);
        assert_eq!(plan.bytes_expected(Environment::Fleet).scheduled, ByteSize::ZERO);
        let three_runs = Plan { repeat: 3, ..plan };
        assert_eq!(three_runs.bytes_expected(Environment::Local).max, bound.checked_mul(3));
    }

    /// 65 s with drain: 8 Mbit/s down are 65 MB. The device limits 4 Mbit/s up to 2, which are 16.25 MB.
    #[test]
    fn a_wired_link_limits_its_station_where_links_are_modelled() {
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
    fn a_slow_link_limits_the_schedules_too() {
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
