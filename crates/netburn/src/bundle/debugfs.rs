//! Statistics of mac80211 in debugfs: queues, airtime and aggregation of each station (`aqm`, `airtime`, `agg_status` of
//! net/mac80211/debugfs_sta.c).

use netburn_platform::wifi::Mac;
use netburn_platform::wifi::nl80211::anonymizer::Anonymizer;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// Folder of mac80211. Only root can read it on most systems.
pub(super) const FOLDER: &str = "/sys/kernel/debug/ieee80211";

/// Files of a radio.
const OF_RADIO: [&str; 4] = ["aqm", "airtime_flags", "aql_txq_limit", "queues"];

/// Files of a station.
const OF_STATION: [&str; 4] = ["aqm", "airtime", "agg_status", "flags"];

/// Limit of a file in bytes. The real ones have a few hundred.
const LIMIT: u64 = 16 << 10;

/// Limit of the number of stations of an interface.
const MAX_STATIONS: usize = 64;

/// Returns the files by their paths relative to `folder`. Files that can't be read are omitted.
pub(super) fn statistics(folder: &Path, mut anonymizer: Option<&mut Anonymizer>) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for radio in names(folder) {
        let path = folder.join(&radio);
        add(&mut files, &path, &radio, &OF_RADIO);
        for interface in names(&path).iter().filter(|name| name.starts_with("netdev:")) {
            let stations = path.join(interface).join("stations");
            for station in names(&stations).iter().take(MAX_STATIONS) {
                let mut name = station.clone();
                let mut interface = interface.clone();
                if let Some(anonymizer) = &mut anonymizer {
                    // The name of a station's folder is its address.
                    let Some(mac) = parse(station) else { continue };
                    name = anonymizer.address(mac).to_string();
                    interface = format!("netdev:{}", anonymizer.interface(&interface["netdev:".len()..]));
                }
                let prefix = format!("{radio}/{interface}/stations/{name}");
                add(&mut files, &stations.join(station), &prefix, &OF_STATION);
            }
        }
    }
    files
}

fn add(files: &mut BTreeMap<String, String>, folder: &Path, prefix: &str, names: &[&str]) {
    for name in names {
        let mut text = Vec::new();
        let read = File::open(folder.join(name)).and_then(|file| file.take(LIMIT).read_to_end(&mut text));
        if read.is_ok() {
            files.insert(format!("{prefix}/{name}"), String::from_utf8_lossy(&text).into_owned());
        }
    }
}

/// Sorted names in a folder; none if it can't be read.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

fn parse(name: &str) -> Option<Mac> {
    let bytes: Vec<u8> = name
        .split(':')
        .map(|byte| u8::from_str_radix(byte, 16).ok().filter(|_| byte.len() == 2))
        .collect::<Option<_>>()?;
    bytes.try_into().ok().map(Mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as that of an access point with ath9k, whose interface has a name made of its address.
    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let station = dir
            .path()
            .join("phy0/netdev:wlx9c3dcf010203/stations/9c:3d:cf:aa:bb:cc");
        fs::create_dir_all(&station).unwrap();
        fs::write(dir.path().join("phy0/aqm"), "access name value\n").unwrap();
        fs::write(station.join("airtime"), "RX: 10 us\nTX: 20 us\n").unwrap();
        fs::write(station.join("rc_stats"), "not read").unwrap();
        dir
    }

    #[test]
    fn the_known_files_are_read() {
        let dir = folder();
        let files = statistics(dir.path(), None);
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        let station = "phy0/netdev:wlx9c3dcf010203/stations/9c:3d:cf:aa:bb:cc/airtime";
        assert_eq!(names, ["phy0/aqm", station]);
        assert_eq!(files[station], "RX: 10 us\nTX: 20 us\n");
    }

    #[test]
    fn addresses_are_replaced_on_request() {
        let dir = folder();
        let files = statistics(dir.path(), Some(&mut Anonymizer::default()));
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["phy0/aqm", "phy0/netdev:wlan-1/stations/02:00:00:00:00:01/airtime"]
        );
    }

    #[test]
    fn a_missing_folder_has_no_statistics() {
        assert!(statistics(Path::new("/nonexistent"), None).is_empty());
    }
}
