//! What a case on the air says.

use super::super::phy::{Phy, optional, time};
use crate::validate::quantity::parse;
use netburn_medium::config::{HardwareQueue, QueueKind, RateControl};
use netburn_units::{BitRate, Duration};
use serde::{Deserialize, Deserializer};

/// The longest time that a case simulates.
const MAX_DURATION: Duration = Duration::from_secs(3_600);

/// A case's keys.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Fields {
    /// How everybody sends, or, where the rate is chosen, the fastest that they have.
    pub(super) phy: Option<Phy>,
    /// How many there are, all alike, or a list of those that differ.
    pub(super) stations: Stations,
    #[serde(default)]
    pub(super) direction: Direction,
    #[serde(default)]
    pub(super) category: Category,
    /// What each station is offered; saturating if nothing is said.
    #[serde(default, deserialize_with = "rate")]
    pub(super) offered: Option<BitRate>,
    /// Packets under way of a saturating flow; four full aggregates if nothing is said.
    pub(super) outstanding: Option<u32>,
    /// Bytes of a packet.
    #[serde(default = "packet")]
    pub(super) packet: u32,
    /// Bytes of it that are content; 28 less than all if nothing is said.
    pub(super) content: Option<u32>,
    /// How long a packet's payload counts for the metric `normalised`.
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
    /// The TXOP limit of every category, or of background, best effort, video and voice; none if nothing is said.
    #[serde(default, deserialize_with = "txops")]
    pub(super) txop: [Duration; 4],
    #[serde(default, deserialize_with = "queue")]
    pub(super) queue: QueueKind,
    /// Packets that the queue holds.
    pub(super) queue_limit: Option<u32>,
    #[serde(default, deserialize_with = "hardware")]
    pub(super) hardware: HardwareQueue,
    /// Airtime queue limits, where the queue has them.
    #[serde(default)]
    pub(super) aql: bool,
    #[serde(default)]
    pub(super) rate_control: RateControlName,
    /// Signal over noise in decibels; nothing is lost to noise if nothing is said.
    pub(super) snr: Option<f64>,
    pub(super) change: Option<Change>,
    /// PSDUs of so many bytes and more are preceded by RTS and CTS.
    pub(super) rts: Option<u64>,
    #[serde(default, deserialize_with = "rate")]
    pub(super) rts_rate: Option<BitRate>,
    #[serde(default = "yes")]
    pub(super) eifs: bool,
    #[serde(default)]
    pub(super) timing: Timing,
    /// The access point sends each station a probe this often.
    #[serde(default, deserialize_with = "optional")]
    pub(super) probe: Option<Duration>,
    #[serde(default = "half_a_second", deserialize_with = "time")]
    pub(super) warm_up: Duration,
    #[serde(deserialize_with = "time")]
    pub(super) duration: Duration,
    #[serde(default = "one")]
    pub(super) seed: u64,
    /// Runs with as many seeds, of which the mean is taken.
    #[serde(default = "one")]
    pub(super) seeds: u64,
    #[serde(default)]
    pub(super) model_overrides: ModelOverrides,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "a number of stations, or a list of tables, each with `name` and what its stations have of their own"
)]
pub(super) enum Stations {
    Alike(u16),
    Groups(Vec<Group>),
}

/// Stations that are alike; what it doesn't say is as the case says.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Group {
    pub(super) name: String,
    #[serde(default = "single")]
    pub(super) count: u16,
    pub(super) phy: Option<Phy>,
    pub(super) category: Option<Category>,
    #[serde(default, deserialize_with = "rate")]
    pub(super) offered: Option<BitRate>,
    pub(super) aggregation: Option<Aggregation>,
    pub(super) snr: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Aggregation {
    /// Bytes of an A-MPDU; none are made if nothing is said.
    pub(super) ampdu: Option<u64>,
    /// MPDUs in one.
    #[serde(default = "window")]
    pub(super) frames: u32,
    /// How long its PPDU may last.
    #[serde(default, deserialize_with = "optional")]
    pub(super) time: Option<Duration>,
    /// Bytes of an A-MSDU; none are made if nothing is said.
    #[serde(default)]
    pub(super) amsdu: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    #[serde(deserialize_with = "time")]
    pub(super) at: Duration,
    pub(super) snr: f64,
}

/// Interframe spaces in the place of the PHY's own.
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

/// What a source does otherwise than the standard; done its way in the comparison.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ModelOverrides {
    /// An exchange takes so much longer.
    #[serde(default, deserialize_with = "optional")]
    pub(super) exchange: Option<Duration>,
    /// An exchange that is answered takes so much longer.
    #[serde(default, deserialize_with = "optional")]
    pub(super) answer: Option<Duration>,
    /// EIFS is reckoned with an ACK at this rate in the place of the lowest.
    #[serde(default, deserialize_with = "rate")]
    pub(super) eifs_rate: Option<BitRate>,
    /// Those whose frame goes unanswered wait like everybody else.
    #[serde(default)]
    pub(super) failures_known_at_once: bool,
    /// EDCA counts slots as DCF does.
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
pub(super) enum Category {
    Background,
    #[default]
    BestEffort,
    Video,
    Voice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Access {
    /// QoS data by EDCA.
    #[default]
    Edca,
    /// Plain data by DCF: AIFSN 2, slots counted as DCF does.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RateControlName {
    #[default]
    Fixed,
    Ideal,
    Minstrel,
}

impl Fields {
    /// The groups of stations.
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

    /// What no type says.
    pub(super) fn check(&self) -> Result<(), String> {
        let groups = self.groups();
        if groups.iter().any(|group| group.phy.or(self.phy).is_none()) {
            return Err("`phy` is missing, for all stations or for each group of them".to_owned());
        }
        let count: u32 = groups.iter().map(|group| u32::from(group.count)).sum();
        if !(1..=2_000).contains(&count) {
            return Err(format!("{count} stations; 1 to 2000 are possible"));
        }
        if !(100..=2_304).contains(&self.packet) {
            return Err(format!("a packet of {} bytes; 100 to 2304 are possible", self.packet));
        }
        if self.content.is_some_and(|content| content > self.packet) {
            return Err("`content` is no more than `packet`".to_owned());
        }
        if self.duration.is_zero() || self.duration > MAX_DURATION || self.warm_up > MAX_DURATION {
            return Err("`duration` is more than nothing, and neither it nor `warm-up` more than an hour".to_owned());
        }
        if !(1..=1_000).contains(&self.seeds) {
            return Err(format!("{} seeds; 1 to 1000 are possible", self.seeds));
        }
        if self.probe.is_some_and(|every| every < Duration::from_micros(100)) {
            return Err("probes are at least 100 µs apart".to_owned());
        }
        if self.rate_control != RateControlName::Fixed
            && self.snr.is_none()
            && groups.iter().any(|group| group.snr.is_none())
        {
            return Err("rate control has nothing to find out without `snr`".to_owned());
        }
        if self.aql && self.queue != QueueKind::Airtime {
            return Err("`aql` belongs to the queue \"airtime\"".to_owned());
        }
        let mut names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("groups of stations have names of their own".to_owned());
        }
        Ok(())
    }

    pub(super) fn effort(&self) -> u64 {
        (self.warm_up + self.duration).as_millis() * self.seeds
    }
}

impl Category {
    pub(super) const fn tid(self) -> u8 {
        match self {
            Category::Background => 1,
            Category::BestEffort => 0,
            Category::Video => 5,
            Category::Voice => 6,
        }
    }
}

impl Default for Tries {
    /// dot11ShortRetryLimit as Linux has it.
    fn default() -> Self {
        Tries::Limited(7)
    }
}

impl From<RateControlName> for RateControl {
    fn from(name: RateControlName) -> Self {
        match name {
            RateControlName::Fixed => RateControl::Fixed,
            RateControlName::Ideal => RateControl::Ideal,
            RateControlName::Minstrel => RateControl::Minstrel,
        }
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

const fn yes() -> bool {
    true
}

const fn half_a_second() -> Duration {
    Duration::from_millis(500)
}

fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<BitRate>, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text).map(Some).map_err(serde::de::Error::custom)
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

fn queue<'de, D: Deserializer<'de>>(from: D) -> Result<QueueKind, D::Error> {
    let text = String::deserialize(from)?;
    let found = QueueKind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| {
        let names = QueueKind::ALL.map(QueueKind::name).join(", ");
        serde::de::Error::custom(format!("`{text}` is no queue: {names} are"))
    })
}

fn hardware<'de, D: Deserializer<'de>>(from: D) -> Result<HardwareQueue, D::Error> {
    let text = String::deserialize(from)?;
    let counted = |word: &str| text.strip_suffix(word)?.trim().parse().ok().filter(|count| *count > 0);
    let found = match text.as_str() {
        "unlimited" => Some(HardwareQueue::Unlimited),
        _ => counted("aggregates")
            .map(HardwareQueue::Aggregates)
            .or_else(|| counted("frames").map(HardwareQueue::Frames)),
    };
    found
        .or_else(|| parse(&text).ok().map(HardwareQueue::Time))
        .ok_or_else(|| {
            let right = "\"2 aggregates\", \"8 frames\", \"10 ms\" or \"unlimited\"";
            serde::de::Error::custom(format!("`{text}` is no hardware queue: {right} would be right"))
        })
}
