//! How many bytes a plan may move: an upper bound, from the plan alone.

use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::{BitRate, ByteSize, Duration};
use netburn_workload::Kind;

/// The rate of the server's link where the plan says none.
pub(crate) const LINK: BitRate = BitRate::from_mbps(1000);

/// Above so many bytes over a network somebody has to agree: 10 GB.
pub(crate) const ASK_ABOVE: ByteSize = ByteSize::from_bytes(10_000_000_000);

/// The most bytes of content that all rounds of `plan` move, both ways together: what falls due, and never more than
/// the server's link carries in the time.
pub(crate) fn at_most(plan: &Plan) -> ByteSize {
    let link = carried(plan.server.link.rate.unwrap_or(LINK), plan.settled());
    let (mut down, mut up) = (0_u64, 0_u64);
    for station in &plan.stations {
        for workload in &station.workloads {
            let bytes = due(plan, station, workload).unwrap_or(link);
            let to = |way: &mut u64| *way = way.saturating_add(bytes);
            match workload.config.kind {
                Kind::Upload => to(&mut up),
                Kind::Pages | Kind::Stream | Kind::Calls | Kind::Download => to(&mut down),
                Kind::Probe => {
                    to(&mut down);
                    to(&mut up);
                }
            }
        }
    }
    let round = down.min(link).saturating_add(up.min(link));
    ByteSize::from_bytes(round.saturating_mul(u64::from(plan.repeat)))
}

/// The bytes of all that falls due; `None` where only the network sets an end to it.
fn due(plan: &Plan, station: &Station, workload: &StationWorkload) -> Option<u64> {
    let config = &workload.config;
    let every = config.every?;
    let span = station.end(plan.duration).checked_sub(station.start)?;
    let operations = span.as_nanos().checked_div(every.as_nanos())?.saturating_add(1);
    let operation = config.object_size.as_bytes().saturating_mul(u64::from(config.objects));
    Some(operations.saturating_mul(operation))
}

/// What `rate` carries in `span`, rounded up.
fn carried(rate: BitRate, span: Duration) -> u64 {
    let bits = u128::from(rate.as_bps()) * u128::from(span.as_nanos());
    u64::try_from(bits.div_ceil(8_000_000_000)).unwrap_or(u64::MAX)
}

/// `size` as people say it: `7.6 GB`, in powers of ten.
pub(crate) fn spoken(size: ByteSize) -> String {
    let bytes = size.as_bytes() as f64;
    match bytes {
        1e12.. => format!("{:.1} TB", bytes / 1e12),
        1e9.. => format!("{:.1} GB", bytes / 1e9),
        1e6.. => format!("{:.0} MB", bytes / 1e6),
        _ => format!("{:.0} kB", (bytes / 1e3).ceil()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_workload::Config;

    fn plan(uses: &[Config]) -> Plan {
        let workloads = uses.iter().map(|config| StationWorkload {
            name: "use".into(),
            config: config.clone(),
        });
        Plan {
            duration: Duration::from_secs(60),
            drain: Duration::from_secs(5),
            repeat: 1,
            stations: vec![Station {
                workloads: workloads.collect(),
                ..Station::new("one")
            }],
            ..Plan::new("bytes")
        }
    }

    #[test]
    fn what_falls_due_bounds_it() {
        // 60 s / 3 s + 1 = 21 pages of 10 × 131 072 B.
        assert_eq!(at_most(&plan(&[Config::browsing()])).as_bytes(), 21 * 1_310_720);
        // 60 s / 50 ms + 1 = 1201 datagrams of 64 B, there and back; twice.
        let twice = Plan {
            repeat: 2,
            ..plan(&[Config::probe()])
        };
        assert_eq!(at_most(&twice).as_bytes(), 2 * 2 * 1201 * 64);
    }

    #[test]
    fn the_link_bounds_what_has_no_end() {
        // 1 Gbit/s for 65 s are 8.125 GB each way.
        assert_eq!(at_most(&plan(&vec![Config::download(); 2])).as_bytes(), 8_125_000_000);
        assert_eq!(
            at_most(&plan(&[Config::download(), Config::upload()])).as_bytes(),
            16_250_000_000
        );
        let mut slow = plan(&[Config::stream_4k()]);
        slow.server.link.rate = Some(BitRate::from_mbps(8));
        assert_eq!(at_most(&slow).as_bytes(), 65_000_000);
    }

    #[test]
    fn sizes_are_spoken_in_powers_of_ten() {
        for (bytes, text) in [
            (1, "1 kB"),
            (52_400_000, "52 MB"),
            (8_125_000_000, "8.1 GB"),
            (2e13 as u64, "20.0 TB"),
        ] {
            assert_eq!(spoken(ByteSize::from_bytes(bytes)), text);
        }
    }
}
