//! Substitutes of names and addresses, and their replacement in texts.

use crate::row::Bssid;
use netburn_scenario::built_in_workload;
use netburn_scenario::plan::NameKind;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Name of the server in health reports and messages, which is not private.
const SERVER: &str = "server";

/// Rank of names of stations in texts, and of workloads and labels.
const STATION_RANK: u8 = 6;
const OTHER_RANK: u8 = 2;

/// The known names with their substitutes. Equal names of one kind have equal substitutes.
#[derive(Debug, Default)]
pub(super) struct Substitutes {
    /// Names by kind, in the order in which they were found.
    names: BTreeMap<NameKind, BTreeMap<String, String>>,
    /// Names and their substitutes in texts, by their first character. The longest name is first.
    in_texts: BTreeMap<char, Vec<InTexts>>,
    /// Labels of devices.
    labels: Vec<String>,
    bssids: Vec<Bssid>,
    interfaces: Vec<String>,
    addresses: Vec<IpAddr>,
}

/// A name in texts.
#[derive(Debug)]
struct InTexts {
    name: String,
    substitute: String,
    /// If a station and the scenario have the same name, the higher rank counts.
    rank: u8,
}

impl Substitutes {
    /// Substitute of a name of the plan.
    pub(super) fn name(&mut self, kind: NameKind, name: &str) -> String {
        // The built-in workloads are the same everywhere.
        if kind == NameKind::Workload && built_in_workload(name).is_some() {
            return name.to_owned();
        }
        let known = self.names.entry(kind).or_default();
        if let Some(substitute) = known.get(name) {
            return substitute.clone();
        }
        let (word, rank) = match kind {
            NameKind::Station => ("station", STATION_RANK),
            NameKind::Agent => ("device", 5),
            NameKind::Ap => ("ap", 4),
            NameKind::Network => ("network", 3),
            NameKind::Mesh => ("mesh", 3),
            NameKind::Workload => ("workload", OTHER_RANK),
            NameKind::Scenario => ("scenario", 1),
        };
        let substitute = match kind {
            NameKind::Scenario => word.to_owned(),
            _ => format!("{word}-{}", known.len() + 1),
        };
        known.insert(name.to_owned(), substitute.clone());
        self.remember(name, &substitute, rank);
        substitute
    }

    /// Substitute of the name of a station in a field. `server` remains, and so does an unknown name.
    pub(super) fn station(&self, name: &str) -> String {
        self.known(NameKind::Station, name).unwrap_or(name).to_owned()
    }

    /// Substitute of the name of an agent or a server in a field. An agent may have the name of its station.
    pub(super) fn participant_name(&mut self, name: &str) -> String {
        let known = self
            .known(NameKind::Station, name)
            .or_else(|| self.known(NameKind::Agent, name));
        match known {
            Some(known) => known.to_owned(),
            None => self.text(name),
        }
    }

    /// Substitute of a BSS in a field: the radio of an access point (`hall.5g`), or a BSSID.
    pub(super) fn bss(&mut self, name: &str) -> String {
        if let Ok(bssid) = name.parse() {
            return self.bssid(bssid).to_string();
        }
        let ap = name
            .split_once('.')
            .and_then(|(ap, radio)| Some((self.known(NameKind::Ap, ap)?, radio)));
        match ap {
            Some((ap, radio)) => format!("{ap}.{radio}"),
            None => self.text(name),
        }
    }

    fn known(&self, kind: NameKind, name: &str) -> Option<&str> {
        self.names.get(&kind)?.get(name).map(String::as_str)
    }

    /// Remembers a label of a device for texts, and the value in it.
    pub(super) fn label(&mut self, label: &str) {
        let number = number(&mut self.labels, label.to_owned());
        let substitute = format!("label-{number}");
        self.remember(label, &substitute, OTHER_RANK);
        if let Some((_, value)) = label.split_once('=') {
            self.remember(value, &substitute, OTHER_RANK);
        }
    }

    /// Remembers another form of the name of a station for texts.
    pub(super) fn alias(&mut self, station: &str, other: &str) {
        let substitute = self.station(station);
        self.remember(other, &substitute, STATION_RANK);
    }

    /// Remembers the devices that a text of netburn names: `laptop (anna-macbook)`, `measured against nas.lan:4480`.
    pub(super) fn devices_in(&mut self, text: &str) {
        let stations: Vec<String> = self
            .names
            .get(&NameKind::Station)
            .map_or_else(Vec::new, |known| known.keys().cloned().collect());
        let owners = stations.iter().map(String::as_str).chain(["the server"]);
        let mut devices: Vec<String> = owners
            .flat_map(|owner| {
                let before = format!("{owner} (");
                text.match_indices(&before)
                    .filter_map(|(at, before)| text[at + before.len()..].split_once(')'))
                    .map(|(device, _)| device.to_owned())
                    .collect::<Vec<_>>()
            })
            .filter(|device| is_name(device))
            .collect();
        if let Some((_, server)) = text.split_once("measured against ") {
            let host = server.split([':', ' ', ',', ';', '[']).next().unwrap_or_default();
            if host.parse::<IpAddr>().is_err() && !host.is_empty() {
                devices.push(host.trim_end_matches('.').to_owned());
            }
        }
        for device in devices {
            self.participant(&device);
        }
    }

    /// Substitute of the name of the controller's machine. An unknown name is empty.
    pub(super) fn host(&mut self, name: &str) -> String {
        self.fixed(name, "host")
    }

    /// Substitute of the name of an imported file.
    pub(super) fn file(&mut self, name: &str) -> String {
        self.fixed(name, "file")
    }

    fn fixed(&mut self, name: &str, substitute: &str) -> String {
        if name.is_empty() {
            return String::new();
        }
        self.remember(name, substitute, 0);
        substitute.to_owned()
    }

    /// Substitute of the SSID of a real network. A network of the scenario with this name has the same.
    pub(super) fn ssid(&mut self, ssid: &str) -> String {
        self.name(NameKind::Network, ssid)
    }

    /// Substitute of the name of a part of an access point, whose first word is an interface. The names that systems give by
    /// themselves remain. The names of SQM's settings begin with `sqm`.
    pub(super) fn part(&mut self, part: &str) -> String {
        const USUAL: [&str; 14] = [
            "phy", "wlan", "wl", "eth", "lan", "wan", "br-lan", "lo", "ifb", "ra", "ath", "kernel", "system", "model",
        ];
        let (interface, rest) = part.split_at(part.find([' ', '.']).unwrap_or(part.len()));
        let is_usual = |known: &str| {
            let rest = interface.strip_prefix(known);
            // `phy0-ap0`, `wlan0-1`
            let numbered = |rest: &str| rest.replace(|c: char| c.is_ascii_digit() || c == '-', "");
            rest.is_some_and(|rest| ["", "ap", "sta", "mesh"].contains(&numbered(rest).as_str()))
        };
        if USUAL.into_iter().any(is_usual) || interface == "iw" {
            return part.to_owned();
        }
        match part.strip_prefix("sqm.") {
            Some(setting) => {
                let (name, rest) = setting.split_at(setting.find('.').unwrap_or(setting.len()));
                format!("sqm.{}{rest}", self.part(name))
            }
            None => {
                let number = number(&mut self.interfaces, interface.to_owned());
                format!("interface{number}{rest}")
            }
        }
    }

    /// Remembers the name of an agent or a server. An agent may have the name of its station.
    pub(super) fn participant(&mut self, name: &str) {
        if self.known(NameKind::Station, name).is_none() && name != SERVER {
            self.name(NameKind::Agent, name);
        }
    }

    /// Substitute of a BSSID: a locally administered address.
    pub(super) fn bssid(&mut self, bssid: Bssid) -> Bssid {
        let [_, _, high, low] = number(&mut self.bssids, bssid).to_be_bytes();
        Bssid([2, 0, 0, 0, high, low])
    }

    /// Substitute of an IP address, from the blocks for documentation (RFC 5737, RFC 3849). Loopback and unspecified
    /// addresses remain.
    fn address(&mut self, address: IpAddr) -> IpAddr {
        if address.is_loopback() || address.is_unspecified() {
            return address;
        }
        let number = number(&mut self.addresses, address);
        match address {
            // The 255th address and all later ones have the same substitute.
            IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, u8::try_from(number).unwrap_or(255)).into(),
            IpAddr::V6(_) => Ipv6Addr::from(0x2001_0db8 << 96 | u128::from(number)).into(),
        }
    }

    fn remember(&mut self, name: &str, substitute: &str, rank: u8) {
        let Some(first) = name.chars().next() else { return };
        let known = self.in_texts.entry(first).or_default();
        let substitute = substitute.to_owned();
        match known.iter_mut().find(|known| known.name == name) {
            Some(known) if known.rank >= rank => {}
            Some(known) => (known.substitute, known.rank) = (substitute, rank),
            None => {
                let place = known.partition_point(|other| other.name.len() > name.len());
                let name = name.to_owned();
                known.insert(place, InTexts { name, substitute, rank });
            }
        }
    }

    /// Replaces the known names and all addresses in a text. A name counts only as a whole word.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut in_word = false;
        while let Some(first) = rest.chars().next() {
            let begins = !in_word || !first.is_alphanumeric();
            let found = begins.then(|| self.at(rest)).flatten();
            let (length, substitute) = found.unwrap_or_else(|| (first.len_utf8(), first.to_string()));
            let (consumed, later) = rest.split_at(length);
            in_word = consumed.ends_with(char::is_alphanumeric);
            out.push_str(&substitute);
            rest = later;
        }
        out
    }

    /// Returns the length and the substitute of a name or an address at the beginning of a text.
    fn at(&mut self, text: &str) -> Option<(usize, String)> {
        self.name_at(text)
            .or_else(|| self.address_at(text))
            .or_else(|| self.plain_mac_at(text))
            .or_else(|| home_at(text))
    }

    fn name_at(&self, text: &str) -> Option<(usize, String)> {
        let known = self.in_texts.get(&text.chars().next()?)?;
        let found = known.iter().find(|known| {
            let ends_a_word = known.name.ends_with(char::is_alphanumeric);
            text.strip_prefix(known.name.as_str())
                .is_some_and(|rest| !ends_a_word || !rest.starts_with(char::is_alphanumeric))
        })?;
        Some((found.name.len(), found.substitute.clone()))
    }

    /// A MAC address without colons: `9c-3d-cf-01-02-03`, `9c3dcf010203`, or in the name of an interface
    /// (`wlx9c3dcf010203`).
    fn plain_mac_at(&mut self, text: &str) -> Option<(usize, String)> {
        let end = text
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '-')
            .unwrap_or(text.len());
        let word = &text[..end];
        if let Ok(bssid) = word.replace('-', ":").parse() {
            return Some((end, self.bssid(bssid).to_string().replace(':', "-")));
        }
        let prefix = ["wlx", "enx", "wwx"]
            .into_iter()
            .find(|prefix| word.starts_with(prefix));
        let digits = &word[prefix.map_or(0, str::len)..];
        // A number without letters can be a duration.
        let is_hex = digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || (prefix.is_none() && digits.bytes().all(|byte| byte.is_ascii_digit())) {
            return None;
        }
        let mut bytes = [0; 6];
        for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        let substitute = self.bssid(Bssid(bytes)).to_string().replace(':', "");
        Some((end, format!("{}{substitute}", prefix.unwrap_or_default())))
    }

    fn address_at(&mut self, text: &str) -> Option<(usize, String)> {
        let end = text
            .find(|c: char| !c.is_ascii_hexdigit() && c != ':' && c != '.')
            .unwrap_or(text.len());
        let word = text[..end].trim_end_matches(['.', ':']);
        // `fe80::` ends with colons.
        for word in [&text[..end], word] {
            let substitute = if let Ok(bssid) = word.parse() {
                self.bssid(bssid).to_string()
            } else if let Ok(address) = word.parse::<IpAddr>() {
                self.address(address).to_string()
            } else if let Ok(socket) = word.parse::<SocketAddr>() {
                SocketAddr::new(self.address(socket.ip()), socket.port()).to_string()
            } else {
                continue;
            };
            return Some((word.len(), substitute));
        }
        None
    }
}

/// Number of a value in the order of their first use, from 1.
fn number<T: PartialEq>(known: &mut Vec<T>, value: T) -> u32 {
    let place = known.iter().position(|other| *other == value).unwrap_or_else(|| {
        known.push(value);
        known.len() - 1
    });
    u32::try_from(place + 1).unwrap_or(u32::MAX)
}

/// Returns whether a text is a name of a device in a fleet.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// A home folder, which has the name of its user.
fn home_at(text: &str) -> Option<(usize, String)> {
    let parent = ["/home/", "/Users/", "\\Users\\"]
        .into_iter()
        .find(|parent| text.starts_with(parent))?;
    let user = text[parent.len()..]
        .find(|c: char| c == '/' || c == '\\' || c.is_whitespace() || c == '`' || c == '"' || c == ':')
        .map_or(text.len(), |end| parent.len() + end);
    (user > parent.len()).then(|| (user, format!("{parent}user")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with(names: &[(NameKind, &str)]) -> Substitutes {
        let mut substitutes = Substitutes::default();
        for (kind, name) in names {
            substitutes.name(*kind, name);
        }
        substitutes
    }

    #[test]
    fn whole_words_are_replaced_and_the_longest_name_counts() {
        let mut substitutes = with(&[
            (NameKind::Station, "tv"),
            (NameKind::Station, "tv-2"),
            (NameKind::Ap, "hall"),
            (NameKind::Network, "Anna's Wi-Fi"),
        ]);
        for (text, expected) in [
            ("tv roamed to hall.5g", "station-1 roamed to ap-1.5g"),
            ("`tv-2`, not tvs or atv", "`station-2`, not tvs or atv"),
            ("joined Anna's Wi-Fi, not Anna's", "joined network-1, not Anna's"),
            ("tv's hall, hallway", "station-1's ap-1, hallway"),
            ("", ""),
        ] {
            assert_eq!(substitutes.text(text), expected);
        }
    }

    #[test]
    fn addresses_and_home_folders_are_replaced() {
        let mut substitutes = Substitutes::default();
        for (text, expected) in [
            ("to 9c:3d:cf:01:02:03.", "to 02:00:00:00:00:01."),
            ("from 9C:3D:CF:01:02:03", "from 02:00:00:00:00:01"),
            ("http://10.0.0.7:8080/x, 10.0.0.7", "http://192.0.2.1:8080/x, 192.0.2.1"),
            (
                "[fe80::1%wlan0]:80 and 2a02::7.",
                "[2001:db8::2%wlan0]:80 and 2001:db8::3.",
            ),
            ("127.0.0.1:80 ::1 0.0.0.0", "127.0.0.1:80 ::1 0.0.0.0"),
            ("through wlx9c3dcf010203 only", "through wlx020000000001 only"),
            ("9c-3d-cf-01-02-03, 9c3dcf010203", "02-00-00-00-00-01, 020000000001"),
            ("after 123456789012 ns, abcdef", "after 123456789012 ns, abcdef"),
            ("at 12:30:00 for 1.5 s", "at 12:30:00 for 1.5 s"),
        ] {
            assert_eq!(substitutes.text(text), expected);
        }
        assert_eq!(substitutes.text(r"C:\Users\anna\runs"), r"C:\Users\user\runs");
        for parent in ["/home", "/Users", "/var/home", "/mnt/home"] {
            let text = format!("in {parent}/anna/runs/1: no space; {parent}/anna");
            let expected = format!("in {parent}/user/runs/1: no space; {parent}/user");
            assert_eq!(substitutes.text(&text), expected);
        }
    }

    #[test]
    fn a_name_in_a_field_is_that_of_its_kind() {
        // The station, the access point and the scenario have the same name.
        let mut substitutes = with(&[
            (NameKind::Scenario, "tv"),
            (NameKind::Ap, "tv"),
            (NameKind::Station, "tv"),
        ]);
        substitutes.host("tv");
        assert_eq!(substitutes.station("tv"), "station-1");
        assert_eq!(substitutes.participant_name("tv"), "station-1");
        assert_eq!(substitutes.bss("tv.5g"), "ap-1.5g");
        assert_eq!(substitutes.text("agent tv was lost"), "agent station-1 was lost");
        assert_eq!(substitutes.station("server"), "server");
    }

    #[test]
    fn devices_are_found_in_the_messages_of_the_controller() {
        let mut substitutes = with(&[(NameKind::Station, "caller")]);
        for text in [
            "caller (anna-macbook) was disconnected for 6.3 s",
            "the server (nas) was lost",
            "measured against files.lan:4480",
        ] {
            substitutes.devices_in(text);
        }
        substitutes.label("room=annas-room");
        assert_eq!(
            substitutes.text("anna-macbook, nas and files.lan; annas-room"),
            "device-1, device-2 and device-3; label-1"
        );
    }

    #[test]
    fn built_in_workloads_keep_their_names() {
        let mut substitutes = Substitutes::default();
        assert_eq!(substitutes.name(NameKind::Workload, "voip"), "voip");
        assert_eq!(substitutes.name(NameKind::Workload, "annas-call"), "workload-1");
    }

    proptest! {
        /// Equal names have equal substitutes, different ones have different substitutes.
        #[test]
        fn substitutes_are_one_to_one(names in proptest::collection::vec("[a-c]{1,2}", 1..20)) {
            let mut substitutes = Substitutes::default();
            let new: Vec<String> = names.iter().map(|name| substitutes.name(NameKind::Station, name)).collect();
            for (a, x) in names.iter().zip(&new) {
                for (b, y) in names.iter().zip(&new) {
                    prop_assert_eq!(a == b, x == y);
                }
            }
        }

        /// No known name remains as a word in any text.
        #[test]
        fn no_known_name_remains(words in proptest::collection::vec("(anna|berta|the|a|1|::|/home/)", 0..12), gap in "[ .:/`-]") {
            let mut substitutes = with(&[(NameKind::Station, "anna"), (NameKind::Station, "berta")]);
            let text = substitutes.text(&words.join(&gap));
            prop_assert!(!text.contains("anna") && !text.contains("berta"), "{}", text);
        }
    }
}
