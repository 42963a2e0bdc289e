//! Conversion of a plan to a scenario of netburn, and to the input of the program around ns-3.

use super::home::{CABLE_KBPS, Home, LineQueue, Place, Target, default_fifo_bytes};
use super::plan::{CrosscheckPlan, CrosscheckStation, PlanQueue, STATION_FQ_CODEL_LIMIT, Transport};
use netburn_medium::config::{Band, Standard};
use netburn_medium::queue::driver::ATH9K_DEPTH;
use netburn_network::hop::ETHERNET;
use netburn_scenario::plan::StationLink;
use netburn_scenario::{Document, Environment, Plan, ScenarioError};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Bytes of a probe, including IP and UDP headers, as in the workload `probe`.
pub(super) const PROBE_LENGTH: u32 = 92;
/// Retry limit of a frame in netburn.
const TRIES: u32 = 10;
/// Bytes that CCMP adds to a frame.
const CCMP: u32 = 16;
/// Rate of the link to the server.
const WIRE_BPS: u64 = 10_000_000_000;

/// Keys that no plan leaves at their default, although the default is what users get, with the reason.
pub(super) const NEVER_DEFAULT: [(&str, &str); 7] = [
    (
        "ap.*.radio.*.aggregate_time",
        "ns-3 limits an A-MPDU only by the longest PPDU, 5484 µs; the default is 4 ms",
    ),
    ("baseline", "ns-3 starts the load at once"),
    ("drain", "ns-3 stops at the end of the load"),
    ("server.interrupt_interval", "ns-3 does not gather interrupts"),
    ("station.*.gro", "ns-3 does not join segments"),
    ("station.*.gso", "ns-3 does not split segments in the driver"),
    ("station.*.tsq", "ns-3 has no TCP Small Queues"),
];
/// Keys that describe the network and its load. Their values are drawn, so that a default has no meaning.
#[cfg(test)]
const DRAWN: [&str; 14] = [
    "ap.*.queue",
    "ap.*.radio.*.guard",
    "ap.*.radio.*.standard",
    "ap.*.radio.*.streams",
    "ap.*.radio.*.width",
    "duration",
    "seed",
    "server.cc",
    "server.link",
    "station.*.cc",
    "station.*.joins",
    "station.*.mcs",
    "station.*.streams",
    "warmup",
];

impl CrosscheckPlan {
    /// Returns the scenario of this plan in TOML.
    #[must_use]
    pub fn scenario(&self, seed: u64) -> String {
        let mut text = String::new();
        let delay = match self.home {
            Some(_) => 0,
            None => self.round_trip.as_nanos() / 2_000,
        };
        let _ = write!(
            text,
            r#"seed = {seed}
duration = "{duration} ms"
warmup = "{warmup} ms"
baseline = "0 s"
drain = "1 s"
[server]
cc = "{cc}"
interrupt_interval = "0 s"
link = {{ rate = "10 Gbit/s", delay = "{delay} us", queue = "150 MB" }}
"#,
            duration = (self.warmup + self.measured).as_millis(),
            warmup = self.warmup.as_millis(),
            cc = self.congestion_control(),
        );
        if let Some(home) = &self.home {
            text.push_str(&self.router(home));
        }
        let names = &AP_NAMES[..self.home.map_or(1, |home| usize::from(home.access_points))];
        for (ap, name) in names.iter().enumerate() {
            text.push_str(&self.access_point(name, ap));
        }
        for (number, station) in self.stations.iter().enumerate() {
            text.push_str(&self.station_section(number, station));
        }
        if self.has_nas() {
            let _ = write!(text, "[station.nas]\n{}{}", cable(), self.host_keys());
        }
        if self.is_tcp() {
            let every = self.probe_period.as_millis();
            let _ = write!(text, "[workload.ping]\nkind = \"probe\"\ninterval = \"{every} ms\"\n");
        }
        if self.is_tcp() && self.has_nas() {
            for kind in ["download", "upload"] {
                let _ = write!(text, "[workload.nas-{kind}]\nkind = \"{kind}\"\nserver = \"nas\"\n");
            }
        }
        text
    }

    /// Section of the router with its line.
    fn router(&self, home: &Home) -> String {
        let queue = match home.queue {
            LineQueue::Fifo(bytes) => format!(", queue = \"{bytes} B\""),
            LineQueue::DefaultFifo => String::new(),
            LineQueue::FqCodel => ", discipline = \"fq-codel\"".to_owned(),
        };
        format!(
            "[router]\nwan = {{ down = \"{} kbit/s\", up = \"{} kbit/s\", delay = \"{} us\"{queue} }}\n",
            home.down_kbps,
            home.up_kbps,
            self.round_trip.as_nanos() / 2_000,
        )
    }

    fn access_point(&self, name: &str, ap: usize) -> String {
        let limit = format!("queue_limit = \"{} packets\"\ndriver_queue = 1\n", self.ap.limit);
        let channel = match (ap, self.band) {
            (0, _) => "",
            (_, Band::Ghz2_4) => "channel = 1\n",
            _ => "channel = 149\n",
        };
        format!(
            r#"[ap.{name}]
queue = "{queue}"
{limit}{hardware}[ap.{name}.radio.{radio}]
standard = "{standard}"
width = "{width} MHz"
streams = {streams}
guard = "{guard} ns"
aggregate_time = "5484 us"
{channel}"#,
            queue = discipline(&self.ap),
            limit = self.unless_default(limit),
            hardware = self.unless_default(hardware(&self.ap)),
            radio = self.band.name(),
            standard = self.standard.name(),
            width = self.width.as_mhz(),
            streams = self.streams,
            guard = self.guard.as_nanos(),
        )
    }

    fn station_section(&self, number: usize, station: &CrosscheckStation) -> String {
        let connection = match station.place {
            Place::Wired => cable(),
            Place::Ap(ap) => format!(
                "joins = \"{}.{}\"\nstreams = {}\nmcs = {}\n{}",
                AP_NAMES[usize::from(ap)],
                self.band.name(),
                self.streams,
                station.mcs,
                self.unless_default(format!(
                    "queue = \"{}\"\n{}",
                    discipline(&self.station),
                    hardware(&self.station)
                )),
            ),
        };
        let workload = if self.is_tcp() {
            format!(
                "workload = [\"{}{}\", \"ping\"]\n",
                if station.target == Target::Nas { "nas-" } else { "" },
                if station.up { "upload" } else { "download" },
            )
        } else {
            String::new()
        };
        format!("[station.s{number}]\n{connection}{}{workload}", self.host_keys())
    }

    /// Keys of a station's TCP and network device.
    fn host_keys(&self) -> String {
        let cc = self.congestion_control();
        format!("cc = \"{cc}\"\ntsq = \"off\"\ngso = false\ngro = false\n")
    }

    fn congestion_control(&self) -> &'static str {
        match self.transport {
            Transport::Udp { .. } | Transport::Cubic => "cubic",
            Transport::Reno => "reno",
        }
    }

    /// True if a flow is with the NAS. The NAS follows the stations.
    #[must_use]
    pub fn has_nas(&self) -> bool {
        self.stations.iter().any(|station| station.target == Target::Nas)
    }

    /// The keys, or no text in a plan with the default keys.
    fn unless_default(&self, keys: String) -> String {
        if self.has_default_keys() { String::new() } else { keys }
    }

    /// Returns the resolved plan for an environment.
    ///
    /// # Errors
    /// The scenario is invalid, which a test rules out.
    pub fn resolved(&self, seed: u64, environment: Environment) -> Result<Plan, ScenarioError> {
        let document = Document::from_toml("crosscheck.toml", &self.scenario(seed))?;
        Ok(document.resolve_for(environment)?.0)
    }

    /// Returns the input of the program around ns-3, without a seed.
    #[must_use]
    pub fn for_ns3(&self) -> Value {
        let mode = |mcs: u8| match self.standard {
            Standard::B => format!("DsssRate{}Mbps", ["1", "2", "5_5", "11"][usize::from(mcs)]),
            Standard::A => format!("OfdmRate{}Mbps", OFDM[usize::from(mcs)]),
            Standard::G => format!("ErpOfdmRate{}Mbps", OFDM[usize::from(mcs)]),
            Standard::N => format!("HtMcs{}", mcs + 8 * (self.streams - 1)),
            Standard::Ac => format!("VhtMcs{mcs}"),
            Standard::Ax | Standard::Be => format!("HeMcs{mcs}"),
        };
        // ns-3 calls 5.5 and 11 Mbit/s DsssRate5_5Mbps and DsssRate11Mbps as well.
        let ampdu = match self.standard {
            Standard::A | Standard::B | Standard::G => 0,
            Standard::N => 65_535,
            Standard::Ac => 1_048_575,
            Standard::Ax | Standard::Be => 6_500_631,
        };
        let (tcp, kbps) = match self.transport {
            Transport::Udp { kbps } => (false, kbps),
            Transport::Cubic | Transport::Reno => (true, 0),
        };
        let flow = |(number, station): (usize, &CrosscheckStation)| {
            let mut flow = json!({
                "station": number, "up": station.up, "tcp": tcp, "length": 1_500,
                "period": if tcp { 0.0 } else { 12_000.0 * 1e6 / kbps as f64 },
            });
            if self.home.is_some() {
                flow["nas"] = (station.target == Target::Nas).into();
            }
            flow
        };
        let mut fields = json!({
            "warmup": self.warmup.as_nanos(),
            "duration": (self.warmup + self.measured).as_nanos(),
            "standard": self.standard.name(),
            "band2": self.band == Band::Ghz2_4,
            "width": if self.standard == Standard::B { 22 } else { self.width.as_mhz() },
            "guard": self.guard.as_nanos(),
            "streams": self.streams,
            "modes": self.stations.iter().map(|station| mode(station.mcs)).collect::<Vec<_>>(),
            "ampduBytes": ampdu,
            "ampduFrames": self.standard.block_ack_window(),
            "tries": TRIES,
            "encryption": CCMP,
            "cwMin": self.standard.cw_min(),
            "explicitBar": false,
            "detectPreambles": true,
            "apQueue": discipline(&self.ap),
            "apLimit": self.ap.limit,
            "apFrames": self.ap.frames + self.access_point_lists(),
            "stationQueue": discipline(&self.station),
            "stationLimit": self.station.limit,
            // The driver's lists of a station hold further packets of the same receiver.
            "stationFrames": self.station.frames + u32::from(ATH9K_DEPTH),
            "delay": self.round_trip.as_nanos() / 2,
            "rate": WIRE_BPS,
            "congestion": if self.transport == Transport::Reno { "ns3::TcpNewReno" } else { "ns3::TcpCubic" },
            "segment": 1_448,
            "probeLength": PROBE_LENGTH,
            "probePeriod": self.probe_period.as_nanos(),
            "flows": self.stations.iter().enumerate().map(flow).collect::<Vec<_>>(),
        });
        // The digests of other plans are of the fields above.
        if let Some(home) = &self.home {
            let place = |station: &CrosscheckStation| match station.place {
                Place::Wired => -1,
                Place::Ap(ap) => i32::from(ap),
            };
            fields["places"] = self.stations.iter().map(place).collect();
            fields["home"] = line_for_ns3(home);
        }
        fields
    }

    /// Returns a digest of the input of ns-3: 64-bit FNV-1a of the JSON text. A stored result with another digest belongs to another
    /// plan.
    #[must_use]
    pub fn digest(&self) -> String {
        let text = self.for_ns3().to_string();
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        format!("{hash:016x}")
    }
}

/// The line and the cables of a home as input of the program around ns-3. A queue is FQ-CoDel of this many packets, or a
/// FIFO of this many bytes.
fn line_for_ns3(home: &Home) -> Value {
    let limit = |kbps: u64| match home.fifo_bytes(kbps) {
        Some(bytes) => format!("{bytes}B"),
        None => format!("{STATION_FQ_CODEL_LIMIT}p"),
    };
    json!({
        "aps": home.access_points,
        "queue": if home.queue == LineQueue::FqCodel { "fq-codel" } else { "fifo" },
        "down": home.down_kbps * 1_000,
        "up": home.up_kbps * 1_000,
        "limitDown": limit(home.down_kbps),
        "limitUp": limit(home.up_kbps),
        "framing": ETHERNET,
        "cable": CABLE_KBPS * 1_000,
        "limitPort": format!("{}B", default_fifo_bytes(CABLE_KBPS)),
        "limitHost": format!("{STATION_FQ_CODEL_LIMIT}p"),
        // The packet in transmission is in the ring.
        "ring": StationLink::default().ring - 1,
    })
}

fn discipline(queue: &PlanQueue) -> &'static str {
    if queue.fq_codel { "fq-codel" } else { "fifo" }
}

fn hardware(queue: &PlanQueue) -> String {
    format!("hardware_queue = \"{} frames\"\n", queue.frames)
}

/// Key of a wired station.
fn cable() -> String {
    format!("wired = \"{CABLE_KBPS} kbit/s\"\n")
}

/// Names of the access points.
const AP_NAMES: [&str; 2] = ["home", "office"];

/// Rates of 802.11a in Mbit/s.
const OFDM: [&str; 8] = ["6", "9", "12", "18", "24", "36", "48", "54"];

#[cfg(test)]
mod tests {
    use super::super::home::WIRED_HOMES;
    use super::super::plan::DEFAULT_KEYS;
    use super::*;
    use netburn_network::Network;
    use std::collections::BTreeSet;

    #[test]
    fn every_plan_resolves() {
        let first = [DEFAULT_KEYS, WIRED_HOMES];
        for number in (1..=500).chain(first.into_iter().flat_map(|first| first..first + 100)) {
            let plan = CrosscheckPlan::generate(number);
            let resolved = plan
                .resolved(1, Environment::Simulate)
                .unwrap_or_else(|why| panic!("{number}: {}", why.render(false)));
            assert_eq!(
                resolved.stations.len(),
                plan.stations.len() + usize::from(plan.has_nas())
            );
            Network::<u8>::new(&resolved).unwrap_or_else(|why| panic!("{number}: {why}"));
        }
    }

    /// The limits that a plan with default keys has in ns-3 are those of the defaults.
    #[test]
    fn plans_with_default_keys_have_the_limits_of_the_defaults() {
        use netburn_medium::config::{Composition, HardwareQueue, QueueLimit};
        for number in DEFAULT_KEYS..DEFAULT_KEYS + 100 {
            let plan = CrosscheckPlan::generate(number);
            let resolved = plan.resolved(1, Environment::Simulate).unwrap();
            let access_point = &resolved.aps[0];
            assert_eq!(access_point.queue_limit, QueueLimit::Packets(plan.ap.limit), "{number}");
            assert_eq!(access_point.composition, Composition::Txop);
            let ns3 = plan.for_ns3();
            let station = &resolved.stations[0].air;
            for (hardware, lists, key) in [
                (access_point.hardware_queue, access_point.driver_queue, "apFrames"),
                (station.hardware_queue, station.driver_queue, "stationFrames"),
            ] {
                let HardwareQueue::Aggregates(aggregates) = hardware else {
                    panic!("{hardware:?}");
                };
                let frames = u64::from(aggregates) * u64::from(plan.standard.block_ack_window());
                assert_eq!(ns3[key], frames + u64::from(lists), "{number}: {key}");
            }
        }
    }

    /// Keys of a scenario, with `*` for each name.
    fn keys(text: &str) -> BTreeSet<String> {
        let named = |section: &str| {
            let parts = section.split('.').enumerate();
            let masked = parts.map(|(place, part)| if place % 2 == 1 { "*" } else { part });
            masked.collect::<Vec<_>>().join(".")
        };
        let mut keys = BTreeSet::new();
        let mut section = String::new();
        for line in text.lines() {
            if let Some(name) = line.strip_prefix('[') {
                section = format!("{}.", named(name.trim_end_matches(']')));
            } else if let Some((key, _)) = line.split_once(" = ") {
                keys.insert(format!("{section}{key}"));
            }
        }
        keys
    }

    /// A key whose default no comparison runs can be wrong by default, as the hardware queue once was. Each such key is on the
    /// page, with its reason.
    #[test]
    fn keys_that_are_never_at_their_default_are_listed() {
        let tcp = (1..=500)
            .chain(DEFAULT_KEYS..DEFAULT_KEYS + 100)
            .chain(WIRED_HOMES..WIRED_HOMES + 100)
            .map(CrosscheckPlan::generate)
            .filter(|plan| !matches!(plan.transport, Transport::Udp { .. }));
        let mut common: Option<BTreeSet<String>> = None;
        for plan in tcp {
            let keys = keys(&plan.scenario(1));
            common = Some(common.map_or(keys.clone(), |common| &common & &keys));
        }
        let mut common = common.unwrap();
        common.retain(|key| !DRAWN.contains(&key.as_str()) && !key.starts_with("workload."));
        common.remove("station.*.workload");
        let listed: BTreeSet<String> = NEVER_DEFAULT.iter().map(|(key, _)| (*key).to_owned()).collect();
        assert_eq!(common, listed);
    }

    #[test]
    fn a_digest_is_of_one_plan() {
        let plan = CrosscheckPlan::generate(7);
        let mut other = plan.clone();
        assert_eq!(plan.digest(), CrosscheckPlan::generate(7).digest());
        other.ap.limit += 1;
        assert_ne!(plan.digest(), other.digest());
    }

    /// Queue limits of stations in `for_ns3`, for which a scenario has no key.
    #[test]
    fn queues_of_stations_have_the_default_limits() {
        use super::super::plan::{STATION_FIFO_LIMIT, STATION_FQ_CODEL_LIMIT};
        use netburn_medium::config::QueueLimit;
        use netburn_medium::queue::QueueKind;
        assert_eq!(QueueKind::Fifo.default_limit(), QueueLimit::Packets(STATION_FIFO_LIMIT));
        assert_eq!(
            QueueKind::FqCodel.default_limit(),
            QueueLimit::Packets(STATION_FQ_CODEL_LIMIT)
        );
    }
}
