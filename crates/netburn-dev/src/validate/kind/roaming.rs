//! Roaming: scans, joining, shadowing, and whole walks.

use super::{FixedMetrics, Kind, Metric, Metrics, changed_keys};
use crate::experiment::changed_scenario;
use crate::validate::quantity::{Dimension, micros, parsed};
use netburn_medium::config::{RoamingPolicy, Security};
use netburn_medium::fading::{FadingModel, crossings};
use netburn_medium::packet::{Ecn, Packet};
use netburn_network::validation::{self, Joining, ScanTimes};
use netburn_network::{ClientEvent, ClientEventKind, Endpoint, Network, Output};
use netburn_scenario::Plan;
use netburn_units::{Db, Distance, Duration, Instant, Seed};
use serde::Deserialize;

/// Seed of the cases that draw random numbers.
const SEED: Seed = Seed(1);

/// Scan of a connected client with mac80211's times.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoamScan {
    active: usize,
    passive: usize,
    /// True if packets wait in the client.
    waiting: bool,
}

/// Frames with which a client joins.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RoamJoin {
    /// For the name of the case.
    #[serde(default, rename = "label")]
    _label: String,
    security: SecurityName,
    #[serde(default)]
    fast_transition: bool,
    #[serde(deserialize_with = "parsed")]
    radius: Duration,
    #[serde(deserialize_with = "parsed")]
    processing: Duration,
    /// Time of a frame on the air.
    #[serde(deserialize_with = "parsed")]
    air: Duration,
    /// Numbers of the frames that are lost, from 0.
    #[serde(default)]
    lost: Vec<usize>,
}

/// Key management, as named in scenarios.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SecurityName {
    Open,
    Psk,
    Sae,
    Enterprise,
}

/// Autocorrelation of shadowing after `lag` steps.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShadowingInput {
    #[serde(deserialize_with = "parsed")]
    sigma: Db,
    #[serde(deserialize_with = "parsed")]
    distance: Distance,
    #[serde(deserialize_with = "parsed")]
    step: Distance,
    lag: usize,
    count: usize,
}

/// Crossings of Rayleigh fading by a moving station.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fading {
    /// Doppler frequency in Hz: speed over wavelength.
    doppler: f64,
    /// Power in dB relative to the mean.
    threshold: f64,
    /// Independent paths, wavelengths of each, and samples per wavelength.
    ways: (u64, u32, u32),
}

/// A client between two access points with the same mean signal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PingPong {
    #[serde(deserialize_with = "parsed")]
    margin: Db,
    #[serde(deserialize_with = "parsed")]
    sigma: Db,
    scans: u32,
}

/// A station in the network of a scenario, which runs without workloads. Times are counted from the start of the load.
#[derive(Debug, Deserialize)]
#[serde(try_from = "WalkFields")]
pub(super) struct Walk {
    plan: Plan,
    station: u16,
    flow: Option<Flow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WalkFields {
    /// For the name of the case.
    #[serde(default, rename = "label")]
    _label: String,
    scenario: String,
    #[serde(default)]
    set: toml::Table,
    station: String,
    flow: Option<Flow>,
}

/// Datagrams from the server to the station.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flow {
    bytes: u32,
    #[serde(deserialize_with = "parsed")]
    every: Duration,
    /// TID, 0 to 7.
    #[serde(default)]
    tid: u8,
    /// Number of runs. The packets of each begin a part of `every` later, so that the worst delay does not depend on
    /// the time of a packet.
    #[serde(default = "one")]
    phases: u32,
}

const fn one() -> u32 {
    1
}

/// Number of scans and roams that a metric can name.
const MAX_EVENTS: usize = 4;

impl FixedMetrics for RoamScan {
    type Result = ScanTimes;
    const METRICS: &'static [Metric<ScanTimes>] = &[
        Metric("total", Dimension::Time, |times| micros(times.total)),
        Metric("away", Dimension::Time, |times| micros(times.away)),
        // Longest absence.
        Metric("longest", Dimension::Time, |times| micros(times.longest)),
    ];

    fn result(&self) -> ScanTimes {
        validation::scan_times(RoamingPolicy::Linux, self.active, self.passive, self.waiting)
    }
}

impl FixedMetrics for RoamJoin {
    /// Time and number of frames; `None` if the client gives up.
    type Result = Option<(Duration, usize)>;
    const METRICS: &'static [Metric<Self::Result>] = &[
        Metric("gap", Dimension::Time, |joined| {
            joined.map_or(f64::NAN, |(gap, _)| micros(gap))
        }),
        Metric("frames", Dimension::Count, |joined| {
            joined.map_or(f64::NAN, |(_, frames)| frames as f64)
        }),
    ];

    fn result(&self) -> Option<(Duration, usize)> {
        let joining = Joining {
            security: match self.security {
                SecurityName::Open => Security::Open,
                SecurityName::Psk => Security::Psk,
                SecurityName::Sae => Security::Sae,
                SecurityName::Enterprise => Security::Enterprise,
            },
            fast_transition: self.fast_transition,
            radius: self.radius,
            processing: self.processing,
            air: self.air,
            lost: self.lost.clone(),
        };
        validation::join(&joining)
    }
}

impl FixedMetrics for ShadowingInput {
    type Result = f64;
    const METRICS: &'static [Metric<f64>] = &[Metric("correlation", Dimension::Share, |correlation| *correlation)];

    fn result(&self) -> f64 {
        let values = validation::shadowing(self.sigma, self.distance, self.step, self.count, SEED);
        let mean_of = |lag: usize| {
            let pairs = values.iter().zip(&values[lag..]);
            pairs.map(|(a, b)| a * b).sum::<f64>() / (values.len() - lag) as f64
        };
        if self.lag >= values.len() {
            return f64::NAN;
        }
        mean_of(self.lag) / mean_of(0)
    }
}

/// Crossings of fast fading.
pub(super) struct Fades {
    per_second: f64,
    /// Mean duration in µs.
    length: f64,
    count: f64,
}

impl FixedMetrics for Fading {
    type Result = Fades;
    const METRICS: &'static [Metric<Fades>] = &[
        Metric("crossings per s", Dimension::Count, |fades| fades.per_second),
        Metric("fade", Dimension::Time, |fades| fades.length),
        Metric("fades", Dimension::Count, |fades| fades.count),
    ];

    fn result(&self) -> Fades {
        let amplitude = libm::pow(10.0, self.threshold / 20.0);
        let found = crossings(FadingModel::Rayleigh, Db::ZERO, amplitude, self.ways, SEED);
        Fades {
            per_second: found.rate * self.doppler,
            length: found.length / self.doppler * 1e6,
            count: found.count as f64,
        }
    }

    fn effort(&self) -> u64 {
        let (ways, wavelengths, samples) = self.ways;
        ways * u64::from(wavelengths) * u64::from(samples) * 10_000
    }
}

impl FixedMetrics for PingPong {
    type Result = f64;
    const METRICS: &'static [Metric<f64>] = &[Metric("moves per scan", Dimension::Share, |moves| *moves)];

    fn result(&self) -> f64 {
        validation::ping_pong(self.margin, self.sigma, self.scans, SEED)
    }
}

impl TryFrom<WalkFields> for Walk {
    type Error = String;

    fn try_from(fields: WalkFields) -> Result<Self, String> {
        let document = changed_scenario(&fields.scenario, &changed_keys(&fields.set)).map_err(|why| why.to_string())?;
        let plan = document.resolve().map_err(|why| why.to_string())?;
        let station = plan.stations.iter().position(|station| station.name == fields.station);
        let station = station.ok_or_else(|| format!("unknown station `{}`", fields.station))?;
        Ok(Walk {
            plan,
            station: station as u16,
            flow: fields.flow,
        })
    }
}

impl Kind for Walk {
    fn metrics(&self) -> Metrics {
        let time = |name: String| (name, Dimension::Time);
        let numbered = (1..=MAX_EVENTS).flat_map(|number| {
            let roam = ["at", "gap"].map(|what| time(format!("roam {number} {what}")));
            let scan = ["at", "total", "away"].map(|what| time(format!("scan {number} {what}")));
            let loss = ["at", "detected"].map(|what| time(format!("loss {number} {what}")));
            roam.into_iter().chain(scan).chain(loss)
        });
        let counts = ["roams", "lost"].map(|name| (name.to_owned(), Dimension::Count));
        numbered.chain([time("worst delay".to_owned())]).chain(counts).collect()
    }

    /// Cost: a simulated second costs about 1 ms.
    fn effort(&self) -> u64 {
        let phases = self.flow.as_ref().map_or(1, |flow| flow.phases);
        self.plan.duration.as_nanos() / 10 * u64::from(phases)
    }

    fn run(&self, wanted: &[&str]) -> Vec<f64> {
        let (events, mut packets) = self.events_and_packets(Duration::ZERO);
        if let Some(flow) = &self.flow {
            for phase in 1..flow.phases {
                let offset = flow.every * u64::from(phase) / u64::from(flow.phases);
                packets.extend(self.events_and_packets(offset).1);
            }
        }
        let own = events.iter().filter(|event| event.station == self.station);
        let (scans, others): (Vec<&ClientEvent>, Vec<&ClientEvent>) =
            own.partition(|event| matches!(event.kind, ClientEventKind::Scanned { .. }));
        let of = |select: fn(&ClientEventKind) -> bool| -> Vec<&ClientEvent> {
            others.iter().copied().filter(|event| select(&event.kind)).collect()
        };
        let roams = of(|kind| {
            matches!(
                kind,
                ClientEventKind::Roamed { .. } | ClientEventKind::Reconnected { .. }
            )
        });
        let losses = of(|kind| matches!(kind, ClientEventKind::LinkLost { .. }));
        let value = |metric: &&str| {
            let words: Vec<&str> = metric.split(' ').collect();
            let number = words
                .get(1)
                .and_then(|number| number.parse::<usize>().ok())
                .unwrap_or(0);
            let list = match words[0] {
                "roam" => &roams,
                "loss" => &losses,
                _ => &scans,
            };
            let event = number.checked_sub(1).and_then(|index| list.get(index));
            match (words[0], words.get(2).copied(), event) {
                ("roams", ..) => roams.len() as f64,
                ("lost", ..) => packets.iter().filter(|delay| delay.is_none()).count() as f64,
                ("worst", ..) => packets.iter().flatten().max().map_or(f64::NAN, |delay| micros(*delay)),
                (_, Some("at"), Some(event)) => (event.at.as_nanos() as f64) / 1e3,
                (_, Some("gap" | "total" | "detected"), Some(event)) => micros(event.length),
                (_, Some("away"), Some(event)) => match event.kind {
                    ClientEventKind::Scanned { away } => micros(away),
                    _ => f64::NAN,
                },
                _ => f64::NAN,
            }
        };
        wanted.iter().map(value).collect()
    }
}

impl Walk {
    /// Events of all clients, and the delay of each packet of the flow, which begins at `offset`; `None`: lost.
    fn events_and_packets(&self, offset: Duration) -> (Vec<ClientEvent>, Vec<Option<Duration>>) {
        // The reader has resolved the plan; a layout without a network has no events.
        let Ok(mut network) = Network::<(usize, Instant)>::new(&self.plan) else {
            return (Vec::new(), Vec::new());
        };
        let load = Instant::ZERO + self.plan.duration;
        // Packets in the network arrive, and scans end.
        let end = load + Duration::from_secs(12);
        let (mut events, mut packets) = (Vec::new(), Vec::new());
        let mut now = Instant::ZERO - self.plan.baseline;
        let mut send = self.flow.as_ref().map(|_| Instant::ZERO + offset);
        while now < end {
            let due = network.poll_timeout().map_or(end, |(at, _)| at).min(end);
            now = send.map_or(due, |send| send.min(due));
            match (&self.flow, send) {
                (Some(flow), Some(at)) if at == now => {
                    let packet = Packet {
                        length: flow.bytes,
                        flow: 1,
                        tid: flow.tid.min(7),
                        ecn: Ecn::NotEct,
                        payload: (packets.len(), now),
                    };
                    packets.push(None);
                    network.handle_packet(now, Endpoint::Server, Endpoint::Station(self.station), packet);
                    send = Some(now + flow.every).filter(|next| *next < load);
                }
                _ => network.handle_timeout(now),
            }
            while let Some(output) = network.poll_output() {
                if let Output::Delivered { at, packet, .. } = output {
                    let (number, sent) = packet.payload;
                    packets[number] = Some(at.since(sent));
                }
            }
            events.extend(std::iter::from_fn(|| network.poll_client_event()));
        }
        (events, packets)
    }
}
