//! The browser around the machine: effects on it, its storage, and what it is.

use crate::browser::{Effect, Entries, Loaded};
use crate::random::Random;
use netburn_protocol::clock::Stamp;
use std::collections::BTreeMap;

/// Prefix of the keys of runs in the tab's storage.
const RUN: &str = "netburn.run.";

/// Status and content of a response to a request for a document; `None` if the server could not be reached.
pub(crate) type Response<'a> = Option<(u16, &'a str)>;

/// The browser during one input.
pub(crate) struct Host {
    /// Time of the input.
    pub(crate) now: Stamp,
    /// Host and port of the page.
    host: String,
    /// Host of the page, IPv6 in brackets.
    pub(crate) hostname: String,
    /// True if the page was loaded over HTTPS.
    pub(crate) secure: bool,
    /// The browser's description of itself.
    pub(crate) system: String,
    /// True if the browser has WebRTC.
    pub(crate) webrtc: bool,
    /// True if the browser can keep the screen on.
    pub(crate) wake_lock: bool,
    /// Resolution of the page's clock, in ns.
    pub(crate) resolution: u64,
    pub(crate) random: Random,
    tab: Entries,
    device: Entries,
    effects: Vec<Effect>,
    /// Last number of a socket, a request, a connection or a write.
    last: u64,
}

impl Host {
    pub(crate) fn new(now: Stamp, loaded: Loaded) -> Host {
        Host {
            now,
            host: loaded.host,
            hostname: loaded.hostname,
            secure: loaded.secure,
            system: loaded.system,
            webrtc: loaded.webrtc,
            wake_lock: loaded.wake_lock,
            resolution: loaded.resolution,
            random: Random::new(&loaded.random),
            tab: loaded.tab,
            device: loaded.device,
            effects: Vec::new(),
            last: 0,
        }
    }

    pub(crate) fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Returns a number that was not used before.
    pub(crate) fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns the address of a WebSocket of the controller.
    pub(crate) fn socket_url(&self, path: &str) -> String {
        let scheme = if self.secure { "wss" } else { "ws" };
        format!("{scheme}://{}{path}", self.host)
    }

    /// Returns a stored string: the tab's, or else the device's.
    pub(crate) fn read(&self, key: &str) -> Option<&str> {
        self.read_tab(key).or_else(|| self.device.get(key).map(String::as_str))
    }

    /// Returns a stored string of the tab.
    pub(crate) fn read_tab(&self, key: &str) -> Option<&str> {
        self.tab.get(key).map(String::as_str)
    }

    /// Stores a string of the tab; `None` deletes it.
    pub(crate) fn write_tab(&mut self, key: &str, value: Option<&str>) {
        self.write([(key.to_owned(), value.map(str::to_owned))].into(), BTreeMap::new());
    }

    /// Stores a string of the tab and the device.
    pub(crate) fn write_both(&mut self, key: &str, value: &str) {
        let entries: BTreeMap<_, _> = [(key.to_owned(), Some(value.to_owned()))].into();
        self.write(entries.clone(), entries);
    }

    fn write(&mut self, tab: BTreeMap<String, Option<String>>, device: BTreeMap<String, Option<String>>) -> u64 {
        for (entries, stored) in [(&tab, &mut self.tab), (&device, &mut self.device)] {
            for (key, value) in entries {
                match value {
                    Some(value) => drop(stored.insert(key.clone(), value.clone())),
                    None => drop(stored.remove(key)),
                }
            }
        }
        let number = self.number();
        self.push(Effect::Store { number, tab, device });
        number
    }

    /// Stores entries of runs. Returns the number of the write.
    pub(crate) fn put(&mut self, entries: Vec<(String, Option<String>)>) -> u64 {
        let entries = entries.into_iter().map(|(key, value)| (format!("{RUN}{key}"), value));
        self.write(entries.collect(), BTreeMap::new())
    }

    /// Returns the entries of runs whose keys begin with `prefix`, each with the rest of its key.
    pub(crate) fn entries(&self, prefix: &str) -> Vec<(String, String)> {
        let prefix = format!("{RUN}{prefix}");
        let entries = self.tab.range(prefix.clone()..);
        let entries = entries.map_while(|(key, value)| Some((key.strip_prefix(&prefix)?, value)));
        entries.map(|(key, value)| (key.to_owned(), value.clone())).collect()
    }

    /// Returns the batches of a run, each with its sequence number.
    pub(crate) fn rows(&self, run: &str) -> Vec<(u64, String)> {
        let entries = self.entries(&row_key(run, "")).into_iter();
        // Others belong to a run whose name begins with the name of this one and a full stop.
        let rows = entries.filter_map(|(rest, text)| Some((rest.parse().ok()?, text)));
        rows.collect()
    }

    /// Entry with this key.
    pub(crate) fn entry(&self, key: &str) -> Option<&String> {
        self.tab.get(&format!("{RUN}{key}"))
    }

    /// Deletes the entries of a run.
    pub(crate) fn delete(&mut self, run: &str) {
        let mut keys = vec![format!("run.{run}"), format!("results.{run}")];
        keys.extend(self.rows(run).into_iter().map(|(sequence, _)| row_key(run, sequence)));
        self.put(keys.into_iter().map(|key| (key, None)).collect());
    }
}

/// Key of a batch of rows.
pub(crate) fn row_key(run: &str, sequence: impl std::fmt::Display) -> String {
    format!("rows.{run}.{sequence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_deleted_without_the_rows_of_a_longer_name() {
        let mut host = Host::new(Stamp(0), Loaded::default());
        let keys = ["run.r", "results.r", "rows.r.1", "run.r.1", "rows.r.1.7"];
        let entries = keys.map(|key| (key.to_owned(), Some(String::new())));
        host.put(entries.into());
        assert_eq!(host.rows("r.1"), [(7, String::new())]);
        host.delete("r");
        let left = host.entries("").into_iter().map(|(key, _)| key);
        assert_eq!(left.collect::<Vec<_>>(), ["rows.r.1.7", "run.r.1"]);
    }
}
