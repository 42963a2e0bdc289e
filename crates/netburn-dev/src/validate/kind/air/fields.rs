//! Keys of a case on the air.

use super::super::phy::Phy;
use crate::validate::quantity::{optional, parse, parsed};
use netburn_medium::config::{Composition, HardwareQueue, RateControl};
use netburn_medium::queue::QueueKind;
use netburn_scenario::KeyValue;
use netburn_units::{BitRate, Duration};
use netburn_workload::Priority;
use serde::{Deserialize, Deserializer};

/// Maximum simulated time of a case.
const MAX_DURATION: Duration = Duration::from_secs(3_600);

/// Keys of a case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Fields {
    /// TX parameters of all stations; with rate control, the fastest ones.
    pub(super) phy: Option<Phy>,
    /// Number of identical stations, or a list of groups.
    pub(super) stations: Stations,
    #[serde(default)]
    pub(super) direction: Direction,
    #[serde(default, deserialize_with = "key")]
    pub(super) category: Priority,
    /// Offered load per station. Default: saturating.
    #[serde(default, deserialize_with = "optional")]
    pub(super) offered: Option<BitRate>,
    /// Packets in flight of a saturating flow. Default: four full aggregates.
    pub(super) outstanding: Option<u32>,
    /// Packet size in bytes.
    #[serde(default = "packet")]
    pub(super) packet: u32,
    /// Content of a packet in bytes. Default: packet size − 28.
    pub(super) content: Option<u32>,
    /// Duration of a packet's payload for the metric `normalised`.
    #[serde(default, deserialize_with = "optional")]
    pub(super) payload_time: Option<Duration>,
    pub(super) aggregation: Option<Aggregation>,
    #[serde(default)]
    pub(super) tries: Tries,
    #[serde(default)]
    pub(super) access: Access,
    #[serde(default)]
    pub(super) encrypted: bool,
    /// CWmin and CWmax of every category.
    pub(super) cw: Option<[u32; 2]>,
    /// AIFSN of every category.
    pub(super) aifsn: Option<u32>,
    /// TXOP limit of every category, or of background, best effort, video and voice. Default: none.
    #[serde(default, deserialize_with = "txops")]
    pub(super) txop: [Duration; 4],
    #[serde(default, deserialize_with = "key")]
    pub(super) queue: QueueKind,
    /// Capacity of the queue in packets.
    pub(super) queue_limit: Option<u32>,
    #[serde(default, deserialize_with = "key")]
    pub(super) hardware: HardwareQueue,
    #[serde(default, deserialize_with = "key")]
    pub(super) composition: Composition,
    /// Airtime queue limits, if the queue supports them.
    #[serde(default)]
    pub(super) aql: bool,
    #[serde(default = "fixed", deserialize_with = "key")]
    pub(super) rate_control: RateControl,
    /// SNR in decibels. Default: no loss due to noise.
    pub(super) snr: Option<f64>,
    pub(super) change: Option<Change>,
    /// RTS threshold in bytes of the PSDU.
    pub(super) rts: Option<u64>,
    #[serde(default, deserialize_with = "optional")]
    pub(super) rts_rate: Option<BitRate>,
    #[serde(default = "yes")]
    pub(super) eifs: bool,
    #[serde(default)]
    pub(super) timing: Timing,
    /// Interval of probes from the access point to each station.
    #[serde(default, deserialize_with = "optional")]
    pub(super) probe: Option<Duration>,
    #[serde(default = "half_a_second", deserialize_with = "parsed")]
    pub(super) warm_up: Duration,
    #[serde(deserialize_with = "parsed")]
    pub(super) duration: Duration,
    #[serde(default = "one")]
    pub(super) seed: u64,
    /// Number of seeds, over which the mean is computed.
    #[serde(default = "one")]
    pub(super) seeds: u64,
    #[serde(default)]
    pub(super) model_overrides: ModelOverrides,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "a number of stations, or a list of tables with `name` and the keys of the group"
)]
pub(super) enum Stations {
    Alike(u16),
    Groups(Vec<Group>),
}

/// A group of identical stations. Missing keys are those of the case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Group {
    pub(super) name: String,
    #[serde(default = "single")]
    pub(super) count: u16,
    pub(super) phy: Option<Phy>,
    #[serde(default, deserialize_with = "optional_key")]
    pub(super) category: Option<Priority>,
    #[serde(default, deserialize_with = "optional")]
    pub(super) offered: Option<BitRate>,
    pub(super) aggregation: Option<Aggregation>,
    pub(super) snr: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Aggregation {
    /// Maximum A-MPDU size in bytes. Default: no A-MPDU.
    pub(super) ampdu: Option<u64>,
    /// Maximum MPDUs of an A-MPDU.
    #[serde(default = "window")]
    pub(super) frames: u32,
    /// Maximum duration of the PPDU.
    #[serde(default, deserialize_with = "optional")]
    pub(super) time: Option<Duration>,
    /// Maximum A-MSDU size in bytes. Default: no A-MSDU.
    #[serde(default)]
    pub(super) amsdu: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    #[serde(deserialize_with = "parsed")]
    pub(super) at: Duration,
    pub(super) snr: f64,
}

/// Interframe spaces that override those of the PHY.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Timing {
    #[serde(default, deserialize_with = "optional")]
    pub(super) slot: Option<Duration>,
    #[serde(default, deserialize_with = "optional")]
    pub(super) sifs: Option<Duration>,
    #[serde(default, deserialize_with = "optional")]
    pub(super) receive_start: Option<Duration>,
}

/// Deviations of a source from the standard, which the comparison applies to the model as well.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ModelOverrides {
    /// Additional duration of an exchange.
    #[serde(default, deserialize_with = "optional")]
    pub(super) exchange: Option<Duration>,
    /// Additional duration of an acknowledged exchange.
    #[serde(default, deserialize_with = "optional")]
    pub(super) answer: Option<Duration>,
    /// Rate of the ACK in EIFS, instead of the lowest rate.
    #[serde(default, deserialize_with = "optional")]
    pub(super) eifs_rate: Option<BitRate>,
    /// The sender of an unacknowledged frame defers like the other stations.
    #[serde(default)]
    pub(super) failures_known_at_once: bool,
    /// EDCA counts slots as in DCF.
    #[serde(default)]
    pub(super) slots_counted_as_dcf: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Direction {
    /// Stations send to the access point.
    #[default]
    Up,
    /// The access point sends to stations.
    Down,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Access {
    /// QoS data by EDCA.
    #[default]
    Edca,
    /// Non-QoS data by DCF: AIFSN 2, slots counted as in DCF.
    Dcf,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "a number of tries, or \"unlimited\"")]
pub(super) enum Tries {
    Limited(u32),
    Unlimited(Unlimited),
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unlimited {
    Unlimited,
}

impl Fields {
    /// Groups of stations.
    pub(super) fn groups(&self) -> Vec<Group> {
        match &self.stations {
            Stations::Groups(groups) => groups.clone(),
            Stations::Alike(count) => vec![Group {
                name: "all".to_owned(),
                count: *count,
                phy: None,
                category: None,
                offered: None,
                aggregation: None,
                snr: None,
            }],
        }
    }

    /// Checks ranges and combinations.
    pub(super) fn check(&self) -> Result<(), String> {
        let groups = self.groups();
        if groups.iter().any(|group| group.phy.or(self.phy).is_none()) {
            return Err("missing `phy`, for all stations or for each group".to_owned());
        }
        let count: u32 = groups.iter().map(|group| u32::from(group.count)).sum();
        if !(1..=2_000).contains(&count) {
            return Err(format!(
                "number of stations out of range: found {count}, expected 1 to 2000"
            ));
        }
        if !(100..=2_304).contains(&self.packet) {
            return Err(format!(
                "`packet` out of range: found {}, expected 100 to 2304",
                self.packet
            ));
        }
        if self.content.is_some_and(|content| content > self.packet) {
            return Err("`content` exceeds `packet`".to_owned());
        }
        if self.duration.is_zero() || self.duration > MAX_DURATION || self.warm_up > MAX_DURATION {
            return Err(
                "`duration` or `warm-up` out of range; expected up to 1 h, and `duration` greater than 0".to_owned(),
            );
        }
        if !(1..=1_000).contains(&self.seeds) {
            return Err(format!(
                "`seeds` out of range: found {}, expected 1 to 1000",
                self.seeds
            ));
        }
        if self.probe.is_some_and(|every| every < Duration::from_micros(100)) {
            return Err("interval of probes too short; expected at least 100 µs".to_owned());
        }
        if self.rate_control != RateControl::Fixed
            && self.snr.is_none()
            && groups.iter().any(|group| group.snr.is_none())
        {
            return Err("rate control needs `snr`".to_owned());
        }
        if self.aql && !self.queue.properties().shares_airtime {
            return Err("`aql` needs the queue \"airtime\"".to_owned());
        }
        let mut names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("duplicate group name".to_owned());
        }
        Ok(())
    }

    pub(super) fn effort(&self) -> u64 {
        (self.warm_up + self.duration).as_millis() * self.seeds
    }
}

impl Default for Tries {
    /// dot11ShortRetryLimit as in Linux.
    fn default() -> Self {
        Tries::Limited(7)
    }
}

const fn packet() -> u32 {
    1_500
}

const fn window() -> u32 {
    64
}

const fn single() -> u16 {
    1
}

const fn one() -> u64 {
    1
}

const fn fixed() -> RateControl {
    RateControl::Fixed
}

const fn yes() -> bool {
    true
}

const fn half_a_second() -> Duration {
    Duration::from_millis(500)
}

fn txops<'de, D: Deserializer<'de>>(from: D) -> Result<[Duration; 4], D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "a TXOP limit with its unit, or four of them for background, best effort, video and voice"
    )]
    enum Txops {
        All(String),
        Each([String; 4]),
    }
    let time = |text: &str| parse(text).map_err(serde::de::Error::custom);
    match Txops::deserialize(from)? {
        Txops::All(text) => time(&text).map(|limit| [limit; 4]),
        Txops::Each([bk, be, vi, vo]) => Ok([time(&bk)?, time(&be)?, time(&vi)?, time(&vo)?]),
    }
}

/// Reads a value as a scenario file does.
fn key<'de, D: Deserializer<'de>, T: KeyValue>(from: D) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    T::from_text(&text).map_err(serde::de::Error::custom)
}

fn optional_key<'de, D: Deserializer<'de>, T: KeyValue>(from: D) -> Result<Option<T>, D::Error> {
    key(from).map(Some)
}
