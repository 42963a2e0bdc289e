//! Conversion of a plan to a scenario of netburn, and to the input of the program around ns-3.

use super::plan::{CrosscheckPlan, PlanQueue, Transport};
use netburn_medium::config::{Band, Standard};
use netburn_medium::queue::driver::ATH9K_DEPTH;
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

impl CrosscheckPlan {
    /// Returns the scenario of this plan in TOML.
    #[must_use]
    pub fn scenario(&self, seed: u64) -> String {
        let mut text = String::new();
        let queue = |queue: &PlanQueue| if queue.fq_codel { "fq-codel" } else { "fifo" };
        let radio = self.band.name();
        let (cc, tcp) = match self.transport {
            Transport::Udp { .. } | Transport::Cubic => ("cubic", self.transport == Transport::Cubic),
            Transport::Reno => ("reno", true),
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
[ap.home]
queue = "{ap_queue}"
queue_limit = "{limit} packets"
driver_queue = 1
hardware_queue = "{frames} frames"
[ap.home.radio.{radio}]
standard = "{standard}"
width = "{width} MHz"
streams = {streams}
guard = "{guard} ns"
aggregate_time = "5484 us"
"#,
            duration = (self.warmup + self.measured).as_millis(),
            warmup = self.warmup.as_millis(),
            delay = self.round_trip.as_nanos() / 2_000,
            ap_queue = queue(&self.ap),
            limit = self.ap.limit,
            frames = self.ap.frames,
            standard = self.standard.name(),
            width = self.width.as_mhz(),
            streams = self.streams,
            guard = self.guard.as_nanos(),
        );
        for (number, station) in self.stations.iter().enumerate() {
            let workload = match (tcp, station.up) {
                (false, _) => String::new(),
                (true, up) => format!(
                    "workload = [\"{}\", \"ping\"]\n",
                    if up { "upload" } else { "download" }
                ),
            };
            let _ = write!(
                text,
                r#"[station.s{number}]
joins = "home.{radio}"
streams = {streams}
mcs = {mcs}
queue = "{queue}"
hardware_queue = "{frames} frames"
cc = "{cc}"
tsq = "off"
gso = false
gro = false
{workload}"#,
                streams = self.streams,
                mcs = station.mcs,
                queue = queue(&self.station),
                frames = self.station.frames,
            );
        }
        if tcp {
            let every = self.probe_period.as_millis();
            let _ = write!(text, "[workload.ping]\nkind = \"probe\"\ninterval = \"{every} ms\"\n");
        }
        text
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
        let flow = |(number, station): (usize, &super::plan::CrosscheckStation)| {
            json!({
                "station": number, "up": station.up, "tcp": tcp, "length": 1_500,
                "period": if tcp { 0.0 } else { 12_000.0 * 1e6 / kbps as f64 },
            })
        };
        let queue = |queue: &PlanQueue| if queue.fq_codel { "fq-codel" } else { "fifo" };
        json!({
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
            "apQueue": queue(&self.ap),
            "apLimit": self.ap.limit,
            "apFrames": self.ap.frames,
            "stationQueue": queue(&self.station),
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
        })
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

/// Rates of 802.11a in Mbit/s.
const OFDM: [&str; 8] = ["6", "9", "12", "18", "24", "36", "48", "54"];

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_network::Network;

    #[test]
    fn every_plan_resolves() {
        for number in 1..=500 {
            let plan = CrosscheckPlan::generate(number);
            let resolved = plan
                .resolved(1, Environment::Simulate)
                .unwrap_or_else(|why| panic!("{number}: {}", why.render(false)));
            assert_eq!(resolved.stations.len(), plan.stations.len());
            Network::<u8>::new(&resolved).unwrap_or_else(|why| panic!("{number}: {why}"));
        }
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
        use netburn_medium::config::{QueueKind, QueueLimit};
        assert_eq!(QueueKind::Fifo.default_limit(), QueueLimit::Packets(STATION_FIFO_LIMIT));
        assert_eq!(
            QueueKind::FqCodel.default_limit(),
            QueueLimit::Packets(STATION_FQ_CODEL_LIMIT)
        );
    }
}
