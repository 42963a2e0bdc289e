//! A real access point: hostapd and mac80211 of a Linux kernel in a virtual machine (`scripts/access-point-vm`), observed
//! during runs on a fleet of three real agents on its radios. The radios are virtual, and have neither a rate nor airtime.
//! The queues, the programs and the SSH server are real.

use crate::support::Bench;
use netburn_record::{AccessPointEvent, Detail, Logged, Observable, ObservedRow, Row, Run};
use netburn_test_support::skip;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time limit of the virtual machine: emulated processors on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

const SCENARIO: &str = r#"
duration = "12 s"
warmup = "2 s"
[station.laptop]
workload = "backup"
[station.phone]
workload = "probe"
[workload.backup]
kind = "upload"
goal = "4 Mbit/s"
"#;

/// Runs on the access point. The first run observes it behind a shaper of 1 Mbit/s. It is long, because a sample costs an
/// emulated processor so much that netburn takes one in about ten seconds. In the second one the SSH server ends
/// and starts again.
const PROGRAM: &str = r#"
set -e
tc qdisc replace dev lan root cake bandwidth 1mbit
cd /tmp
on() { name=$1; shift; ip netns exec "$name" "$@"; }
on host /share/netburn fleet serve --listen 192.168.78.2:4484 --quiet --access-point hall=ssh://root@192.168.78.1 >serve &
until grep -q http:// serve; do sleep 0.2; done
url=$(grep -o 'http://[^ ]*#[^ ]*' serve | head -n 1)
on sta1 /share/netburn fleet join "$url" --name laptop &
on sta2 /share/netburn fleet join "$url" --name phone &
on sta3 /share/netburn fleet join "$url" --name tv &
until [ "$(on host /share/netburn fleet list | grep -c agent)" = 3 ]; do sleep 0.3; done
# During the first run the access point ends an association, and changes its channel. The station joins again.
on host /share/netburn run /share/house.toml --set duration="35 s" --on fleet --wait 30s --yes --out /tmp/first >first.out 2>&1 &
first=$!
until grep -q 'running' first.out; do sleep 0.2; done
sleep 3
hostapd_cli -p /run/hostapd -i wlan0 deauthenticate 02:00:00:00:02:00
sleep 4
hostapd_cli -p /run/hostapd -i wlan0 chan_switch 5 2462 ht
wait $first || { status=$?; [ $status = 3 ] || [ $status = 1 ]; }
cat first.out
on host /share/netburn run /share/house.toml --on fleet --wait 30s --yes --out /tmp/second >second.out 2>&1 &
second=$!
until grep -q 'running' second.out; do sleep 0.2; done
sleep 3
killall dropbear
sleep 2
dropbear -R -s -E -p 22
wait $second || true
cat second.out
iw dev wlan0 station get 02:00:00:00:01:00
cp -r first second /share/
"#;

fn image() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    cache.unwrap_or_default().join("netburn-access-point-vm")
}

/// Boots the access point with these files in its folder. Returns its log.
fn boot(share: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/access-point-vm");
    let serial = std::fs::File::create(share.join("serial")).unwrap();
    let mut machine = Command::new(script)
        .arg("--boot")
        .arg(image())
        .arg(share)
        .stdin(Stdio::null())
        .stdout(serial)
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let until = Instant::now() + LIMIT;
    while machine.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            machine.kill().unwrap();
            machine.wait().unwrap();
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    std::fs::read_to_string(share.join("log")).unwrap_or_else(|error| {
        panic!(
            "{error}: {}",
            std::fs::read_to_string(share.join("serial")).unwrap_or_default()
        )
    })
}

fn rows(folder: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    Run::open(folder).unwrap().rows(&mut |row| rows.push(row)).unwrap();
    rows
}

fn observed(rows: &[Row], quantity: Observable) -> Vec<&ObservedRow> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Observed(row) if row.quantity == quantity => Some(row),
            _ => None,
        })
        .collect()
}

fn events(rows: &[Row]) -> Vec<&AccessPointEvent> {
    rows.iter()
        .filter_map(|row| match row {
            Row::Event(row) => match &row.detail {
                Detail::AccessPoint(event) => Some(&**event),
                _ => None,
            },
            _ => None,
        })
        .collect()
}

#[test]
fn a_real_access_point_is_observed_during_a_run() {
    if !image().join("initrd.gz").exists() {
        return skip("scripts/install-test-needs has not made the virtual access point");
    }
    let bench = Bench::new();
    let share = bench.path("share");
    std::fs::create_dir(&share).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_netburn"), share.join("netburn")).unwrap();
    std::fs::write(share.join("house.toml"), SCENARIO).unwrap();
    std::fs::write(share.join("test.sh"), PROGRAM).unwrap();
    let log = boot(&share);
    assert!(log.ends_with("status 0\n"), "{log}");

    let first = rows(&share.join("first"));
    let events_of_first = events(&first);
    let Some(AccessPointEvent::Described { name, facts }) = events_of_first.first() else {
        panic!("{events_of_first:?}");
    };
    assert_eq!(
        (name.as_str(), facts["wlan0 driver"].as_str()),
        ("hall", "mac80211_hwsim")
    );
    // hostapd's own messages: the phone left and joined again. The log of before the run does not count.
    let logged: Vec<(&str, &Logged)> = events_of_first
        .iter()
        .filter_map(|event| match event {
            AccessPointEvent::Logged {
                address: Some(address),
                what,
                ..
            } => Some((address.as_str(), what)),
            _ => None,
        })
        .collect();
    let phone = "02:00:00:00:02:00";
    assert!(logged.iter().all(|(address, _)| *address == phone), "{logged:?}");
    for expected in [Logged::Disconnected, Logged::Connected] {
        let count = logged.iter().filter(|(_, what)| **what == expected).count();
        assert_eq!(count, 1, "{logged:?}");
    }
    let channels: Vec<u32> = events_of_first
        .iter()
        .filter_map(|event| match event {
            AccessPointEvent::ChannelChanged { frequency_mhz, .. } => Some(*frequency_mhz),
            _ => None,
        })
        .collect();
    assert_eq!(channels, [2462], "{log}");
    let bytes = observed(&first, Observable::BytesUp);
    let stations: std::collections::BTreeSet<Option<u16>> = bytes.iter().map(|row| row.station).collect();
    assert_eq!(stations, [None, Some(0), Some(1)].into());
    // Content that the laptop sent, by the agent's own count and by that of the access point's driver, in the time that the
    // samples cover. The difference is headers, and at both ends of the time the
    // standstills of emulated devices, which are seconds on a busy machine.
    let laptop = || bytes.iter().filter(|row| row.station == Some(0));
    let from = laptop().map(|row| row.at - row.span).min().unwrap();
    let to = laptop().map(|row| row.at).max().unwrap();
    let counted: i64 = laptop().map(|row| row.value).sum();
    let sent: u64 = first
        .iter()
        .map(|row| match row {
            Row::Interval(row) if row.station == 0 && (from..to).contains(&row.at) => row.bytes_up,
            _ => 0,
        })
        .sum();
    let ratio = counted as f64 / sent as f64;
    assert!((0.7..1.5).contains(&ratio), "{counted} of {sent}");
    // The kernel's queue of the station is known from Linux 6.2 on.
    assert!(!observed(&first, Observable::QueuedPackets).is_empty());
    // The cause that only the access point's queue shows. A busy machine may be too slow to fill the shaper.
    let shaped: Vec<f64> = observed(&first, Observable::QueueSent)
        .iter()
        .filter(|row| row.part.as_deref() == Some("lan cake"))
        .map(|row| row.value as f64 * 8.0 / row.span.as_secs_f64() / 1e6)
        .collect();
    // The time of a sample is uncertain by half of its response time, which is seconds on a busy machine.
    let fastest = shaped.iter().copied().fold(0.0, f64::max);
    assert!((0.2..2.0).contains(&fastest), "{shaped:?}");
    let cause = "The shaper of hall (lan cake, 1.0 Mbit/s) is full, which delays laptop";
    assert!(fastest < 0.9 || log.contains(cause), "{shaped:?}: {log}");

    let second = rows(&share.join("second"));
    let changes: Vec<&str> = events(&second)
        .into_iter()
        .map(|event| match event {
            AccessPointEvent::Lost { .. } => "lost",
            AccessPointEvent::Returned { .. } => "returned",
            _ => "other",
        })
        .collect();
    // On a busy machine the login can take longer than the rest of the run.
    assert!(
        ["other", "lost", "returned"].starts_with(&changes) && changes.len() >= 2,
        "{log}"
    );
    assert!(log.contains("access point hall is no longer observed"), "{log}");
}
