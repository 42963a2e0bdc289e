//! Who uses the network, and how their TCP behaves.

use netburn_record::recorded_workload::RecordedWorkload;
use netburn_record::row::BASELINE;
use netburn_scenario::Plan;
use netburn_scenario::plan::Station;
use netburn_tcp::EndpointConfig;
use netburn_tcp::config::{CongestionControl, Gso, Tsq, TsqSettings};
use netburn_units::{ByteSize, Instant};
use netburn_workload::{Config, RequestId, Workload};
use std::collections::BTreeMap;

/// One workload of one station, or its probe before the load.
#[derive(Debug)]
pub(crate) struct User {
    pub(crate) watched: RecordedWorkload,
    /// Its kept connections' slots, by the number that the workload gave them.
    pub(crate) kept: BTreeMap<u32, usize>,
    /// The slots of requests under way.
    pub(crate) requests: BTreeMap<RequestId, usize>,
    /// The congestion control of its connections, where it has one of its own.
    pub(crate) cc: Option<CongestionControl>,
}

/// The users of a plan, and when the first of them begins.
pub(crate) fn of(plan: &Plan) -> (Vec<User>, Instant) {
    let begin = Instant::ZERO - plan.baseline;
    let mut users = Vec::new();
    for (station, number) in plan.stations.iter().zip(0_u16..) {
        let mut add = |workload: u16, config: Config, cc: Option<&CongestionControl>, load: [Instant; 3]| {
            let [start, end, settle] = load;
            // The same numbers as on the other environments, so that the same things are due at the same instants.
            let index = u64::from(number) << 16 | u64::from(workload);
            let machine = Workload::new(config, start, end, settle, plan.seed, index);
            users.push(User {
                watched: RecordedWorkload::new(number, workload, machine),
                kept: BTreeMap::new(),
                requests: BTreeMap::new(),
                cc: cc.cloned(),
            });
        };
        if !plan.baseline.is_zero() {
            add(BASELINE, Config::probe(), None, [begin, Instant::ZERO, Instant::ZERO]);
        }
        let start = Instant::ZERO + station.start;
        let end = (Instant::ZERO + station.end(plan.duration)).max(start);
        for (workload, of_station) in station.workloads.iter().zip(0_u16..) {
            let load = [start, end, end + plan.drain];
            add(of_station, workload.config.clone(), workload.cc.as_ref(), load);
        }
    }
    (users, begin)
}

/// The endpoints of a station.
pub(crate) fn station_endpoint(station: &Station) -> EndpointConfig {
    EndpointConfig {
        congestion: station.cc.clone().unwrap_or_default(),
        ecn: station.ecn,
        tsq: tsq(station),
        gso: match station.gso {
            true => Gso::default(),
            false => Gso::off(),
        },
        // Packets one at a time are Linux's before 4.17; BBR has compensated for aggregation since 5.1.
        ack_aggregation: station.gso,
        ..EndpointConfig::default()
    }
}

/// A year's TCP Small Queues where a driver of Wi-Fi asked for more than a millisecond; on a wire no driver does.
fn tsq(station: &Station) -> Tsq {
    let tsq = station.tsq.unwrap_or_default();
    match (tsq, tsq.settings()) {
        (Tsq::Preset(_), Some(settings)) if station.link.is_some() => Tsq::Custom(TsqSettings {
            shift: settings.shift.map(|_| 10),
            ..settings
        }),
        _ => tsq,
    }
}

/// The endpoints of the server: on Ethernet, where no driver asks TCP Small Queues for more than a millisecond.
pub(crate) fn server_endpoint(plan: &Plan) -> EndpointConfig {
    EndpointConfig {
        congestion: plan.server.cc.clone().unwrap_or_default(),
        ecn: plan.server.ecn,
        tsq: Tsq::Custom(TsqSettings {
            shift: Some(10),
            cap: Some(ByteSize::from_mib(4)),
            ..TsqSettings::default()
        }),
        ..EndpointConfig::default()
    }
}
