//! Clients of the network, and the configuration of their TCP.

use super::video::VideoCall;
use netburn_network::Endpoint as Place;
use netburn_record::recorded_workload::RecordedWorkload;
use netburn_record::row::baseline;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Station, StationWorkload};
use netburn_tcp::EndpointConfig;
use netburn_tcp::config::{CongestionControl, Gso, Tsq, TsqSettings};
use netburn_units::{ByteSize, Instant};
use netburn_workload::kinds::Probe;
use netburn_workload::{Config, RequestId, Workload};
use std::collections::BTreeMap;

/// One workload of one station, or its baseline probe.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) recorded: RecordedWorkload,
    /// Slots of its persistent connections, by the workload's number.
    pub(crate) kept: BTreeMap<u32, usize>,
    /// Slots of requests in flight.
    pub(crate) requests: BTreeMap<RequestId, usize>,
    /// Host that is the server of the workload.
    pub(crate) peer: Place,
    /// Congestion control of its connections, if it has its own.
    pub(crate) cc: Option<CongestionControl>,
    /// Ends of a video call.
    pub(super) video: Option<VideoCall>,
}

/// Clients of a plan, and the start of the earliest one.
pub(crate) fn from_plan(plan: &Plan) -> (Vec<Client>, Instant) {
    let earliest = Instant::ZERO - plan.baseline;
    let mut clients = Vec::new();
    for (station, number) in plan.stations.iter().zip(0_u16..) {
        let mut add = |workload: u16, config: Config, own: Option<&StationWorkload>, load: [Instant; 3]| {
            let [start, end, settle] = load;
            let peer = own.and_then(|own| plan.server_of(own));
            // The same indices as in the other environments, so that due times are equal.
            let index = u64::from(number) << 16 | u64::from(workload);
            let video = VideoCall::new(&config);
            let machine = Workload::new(config, start, end, settle, plan.seed, index);
            clients.push(Client {
                recorded: RecordedWorkload::new(number, workload, machine),
                kept: BTreeMap::new(),
                requests: BTreeMap::new(),
                peer: peer.map_or(Place::Server, |number| Place::Station(number as u16)),
                cc: own.and_then(|own| own.cc.clone()),
                video,
            });
        };
        if !plan.baseline.is_zero() {
            for target in station.idle_targets() {
                let config = Config::with(|probe: &mut Probe| probe.target = target);
                add(baseline(target), config, None, [earliest, Instant::ZERO, Instant::ZERO]);
            }
        }
        let start = Instant::ZERO + station.start;
        let end = (Instant::ZERO + station.end(plan.duration)).max(start);
        for (workload, of_station) in station.workloads.iter().zip(0_u16..) {
            let load = [start, end, end + plan.drain];
            add(of_station, workload.config.clone(), Some(workload), load);
        }
    }
    (clients, earliest)
}

/// Configuration of a station's endpoints.
pub(crate) fn station_endpoint(station: &Station) -> EndpointConfig {
    EndpointConfig {
        congestion: station.cc.clone().unwrap_or_default(),
        ecn: station.ecn,
        tsq: tsq(station),
        gso: if station.gso { Gso::default() } else { Gso::off() },
        // Sending packet by packet is Linux's behaviour before 4.17; BBR has compensated for
        // aggregation since 5.1.
        ack_aggregation: station.gso,
        ..EndpointConfig::default()
    }
}

/// TCP Small Queues of the preset's kernel with a Wi-Fi driver that requests more than a
/// millisecond; an Ethernet driver does not.
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

/// Configuration of the server's endpoints: on Ethernet no driver requests more than a millisecond
/// from TCP Small Queues.
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
