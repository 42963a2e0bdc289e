//! One answer of an access point as values.

use crate::names::is_interface;
use crate::parse::{debugfs, iw, procfs, shell, tc};
use crate::state::{Processor, QueueState, Softnet, StationState, SurveyState};
use crate::transcript::Answer;
use netburn_record::{AccessPointEvent, Bssid};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// State of an access point at one time. What it does not report is missing. Counters begin where the kernel begins them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Time since the start of the machine.
    pub uptime_ms: Option<u64>,
    /// Stations of all interfaces.
    pub stations: Vec<StationState>,
    /// Channels that a radio uses.
    pub surveys: Vec<SurveyState>,
    /// Queues of network interfaces.
    pub queues: Vec<QueueState>,
    /// Processors.
    pub processors: Vec<Processor>,
    /// Backlog of the processors.
    pub softnet: Option<Softnet>,
    /// Memory that programs can still use, in bytes.
    pub memory_available: Option<u64>,
    /// Neighbours of the access point: IP addresses with the address of their interface.
    pub neighbours: Vec<(IpAddr, Bssid)>,
    /// Processor time of the observation: of the shell, its programs and the SSH server's process.
    pub cost_ns: Option<u64>,
}

impl Snapshot {
    /// The values of an answer to `sample`.
    #[must_use]
    pub fn from_answer(answer: &Answer) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (interface, text) in answer
            .named("stations")
            .filter(|(interface, _)| is_interface(interface))
        {
            let room = MAX_STATIONS - snapshot.stations.len();
            snapshot
                .stations
                .extend(iw::stations(interface, text).into_iter().take(room));
        }
        for (interface, text) in answer
            .named("survey")
            .filter(|(interface, _)| is_interface(interface))
            .take(MAX_RADIOS)
        {
            snapshot.surveys.extend(iw::surveys(interface, text));
        }
        let mut server = None;
        for (path, text) in answer.files() {
            match path {
                "/proc/uptime" => snapshot.uptime_ms = procfs::uptime_ms(text),
                "/proc/stat" => snapshot.processors = procfs::processors(text),
                "/proc/net/softnet_stat" => snapshot.softnet = procfs::softnet(text),
                "/proc/meminfo" => snapshot.memory_available = procfs::memory_available(text),
                "/proc/net/arp" => snapshot.neighbours = procfs::neighbours(text),
                path if path.starts_with("/proc/") => server = procfs::process_time(text),
                path => debugfs::add(&mut snapshot.stations, path, text),
            }
        }
        snapshot
            .neighbours
            .extend(procfs::ip_neighbours(answer.text("neighbours")));
        snapshot.queues = tc::queues(answer.text("tc")).unwrap_or_default();
        snapshot.cost_ns = shell::times(answer.text("times")).map(|own| own.saturating_add(server.unwrap_or(0)));
        snapshot
    }
}

impl Snapshot {
    /// Returns true if a radio is on another channel than these settings have. Only drivers with a survey show it.
    #[must_use]
    pub fn has_left(&self, radios: &[Radio]) -> bool {
        self.surveys.iter().any(|survey| {
            let radio = radios.iter().find(|radio| radio.interface == survey.interface);
            radio.is_some_and(|radio| radio.frequency_mhz != Some(survey.frequency_mhz))
        })
    }
}

/// Most stations of a sample.
const MAX_STATIONS: usize = 512;
/// Most radios of a sample.
const MAX_RADIOS: usize = 64;

/// Longest fact in characters.
const MAX_FACT: usize = 200;
/// Most facts.
const MAX_FACTS: usize = 200;

/// The facts of an answer to `about`: texts by topic, such as `kernel` or `wlan0 channel`.
#[must_use]
pub fn describe(answer: &Answer) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut add = |topic: String, fact: &str| {
        let fact = fact.trim_start().split(['\0', '\n']).next().unwrap_or("").trim();
        let plain = |text: &str| {
            text.chars()
                .filter(|c| !c.is_control())
                .take(MAX_FACT)
                .collect::<String>()
        };
        if !fact.is_empty() && facts.len() < MAX_FACTS {
            facts.entry(plain(&topic)).or_insert_with(|| plain(fact));
        }
    };
    add("kernel".to_owned(), answer.text("uname"));
    add("iw".to_owned(), answer.text("iw-version"));
    for (path, text) in answer.files() {
        if path.ends_with("/model") {
            add("model".to_owned(), text);
        }
        let key = if path.ends_with("release") {
            "PRETTY_NAME="
        } else {
            continue;
        };
        let line = text.lines().find_map(|line| {
            line.strip_prefix(key)
                .or_else(|| line.strip_prefix("DISTRIB_DESCRIPTION="))
        });
        add("system".to_owned(), line.unwrap_or("").trim_matches(['"', '\'']));
    }
    let devices = iw::devices(answer.text("dev")).into_iter();
    for device in devices.filter(|device| is_interface(&device.name)) {
        for (topic, fact) in device.facts {
            let topic = if topic == "ssid" {
                AccessPointEvent::SSID
            } else {
                &topic
            };
            add(format!("{} {topic}", device.name), &fact);
        }
    }
    for (name, text) in answer.named("driver") {
        add(format!("{name} driver"), text.trim().rsplit('/').next().unwrap_or(""));
    }
    for (name, text) in answer.named("firmware") {
        let version = text.lines().find_map(|line| line.strip_prefix("firmware-version:"));
        add(format!("{name} firmware"), version.unwrap_or("").trim());
    }
    for line in answer.text("sqm").lines() {
        if let Some((key, value)) = line.split_once('=') {
            add(key.to_owned(), value.trim_matches('\''));
        }
    }
    facts
}

/// The channel and the power of each interface, from the same answer.
#[must_use]
pub fn radios(answer: &Answer) -> Vec<Radio> {
    let devices = iw::devices(answer.text("dev")).into_iter();
    devices
        .filter(|device| is_interface(&device.name))
        .take(MAX_RADIOS)
        .map(|device| {
            let fact = |topic: &str| {
                device
                    .facts
                    .iter()
                    .find(|(known, _)| known == topic)
                    .map(|(_, fact)| fact)
            };
            let (frequency_mhz, width_mhz) = fact("channel").map_or((None, None), |fact| iw::channel(fact));
            Radio {
                frequency_mhz,
                width_mhz,
                power: fact("txpower").and_then(|fact| iw::power(fact)),
                interface: device.name.clone(),
            }
        })
        .collect()
}

/// Settings of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Radio {
    /// Interface.
    pub interface: String,
    /// Centre of the primary channel in MHz.
    pub frequency_mhz: Option<u32>,
    /// Width of the channel in MHz.
    pub width_mhz: Option<u32>,
    /// Transmit power in hundredths of a dBm.
    pub power: Option<i64>,
}
