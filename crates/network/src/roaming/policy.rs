//! Constants of the client policies.

use netburn_medium::config::{Band, Roaming, RoamingPolicy};
use netburn_units::Duration;

/// Constants of scans, and the rule for moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Constants {
    /// Triggers; `None`: it never scans while it is connected.
    pub(super) trigger: Option<Trigger>,
    pub(super) scan: ScanStyle,
    pub(super) rule: Rule,
    /// It scans only the channels that neighbour reports (802.11k) name.
    pub(super) reads_reports: bool,
    /// It scans when the kernel reports lost packets (`NL80211_ATTR_CQM_PKT_LOSS_EVENT`).
    pub(super) roams_on_loss: bool,
}

/// Conditions under which a connected client scans.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trigger {
    /// Signal in dBm below which it scans.
    below: f64,
    /// The same in 2.4 GHz.
    below_2g: f64,
    /// Once low, the signal must exceed the trigger by this many dB to count as high again.
    pub(super) hysteresis: f64,
    /// Time for which the signal must be low before the first scan.
    pub(super) delay: Duration,
    /// Time between two scans while the signal is low.
    pub(super) interval: Duration,
    /// Time between two scans while it is high; `None`: none.
    pub(super) idle_interval: Option<Duration>,
    /// A signal this many dB below that of the last scan causes another one, at the earliest
    /// `drop_gap` after the last.
    pub(super) drop: Option<(f64, Duration)>,
    /// Number of scans in low state that `interval` permits in a row; afterwards
    /// `idle_interval` applies.
    pub(super) budget: Option<u32>,
}

/// Times of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScanStyle {
    /// Time on a channel on which it may send probe requests.
    pub(super) active: Duration,
    /// Time on a channel on which it only listens.
    pub(super) passive: Duration,
    /// Longest absence for more than one channel.
    pub(super) absence: Duration,
    /// Time on the own channel between two absences.
    pub(super) home: Duration,
    /// Time with stopped queues before each absence but the first.
    pub(super) flush: Duration,
}

/// Rule by which a client chooses an access point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Rule {
    /// wpa_supplicant: `need_to_roam_within_ess` in `events.c`.
    WpaSupplicant,
    /// iwd: the highest rank, by estimated rate.
    Iwd,
    /// The strongest, if it exceeds the current signal by this margin in dB: with traffic, and without.
    Stronger { active: f64, idle: f64 },
}

/// mac80211's software scan (`net/mac80211/scan.c`): 30 ms before and 30 ms after the probe request,
/// 111 ms on passive channels. It visits a further channel without returning while the absence stays
/// below 125 ms and no packet waits.
const MAC80211: ScanStyle = ScanStyle {
    active: Duration::from_millis(60),
    passive: Duration::from_millis(111),
    absence: Duration::from_millis(125),
    home: Duration::from_millis(200),
    flush: Duration::ZERO,
};

impl Constants {
    /// Constants of a policy, with a plan's own values.
    pub(super) fn new(roaming: &Roaming) -> Self {
        let mut constants = of_policy(roaming.policy.unwrap_or(RoamingPolicy::Never));
        if let Some(signal) = roaming.trigger {
            let below = signal.as_dbm_f64();
            let trigger = constants.trigger.get_or_insert(LINUX);
            (trigger.below, trigger.below_2g) = (below, below);
        }
        if let (Some(trigger), Some(interval)) = (&mut constants.trigger, roaming.scan_interval) {
            trigger.interval = interval;
            trigger.budget = None;
        }
        if let Some(margin) = roaming.margin {
            let db = margin.as_db_f64();
            constants.rule = Rule::Stronger { active: db, idle: db };
        }
        constants.scan.flush = roaming.flush_delay;
        if let Some(reads) = roaming.neighbour_reports {
            constants.reads_reports = reads;
        }
        constants
    }
}

/// Signal in dBm below which a client with these settings looks for another access point on a band other than 2.4 GHz;
/// `None`: it never does while it is connected.
#[must_use]
pub fn roaming_trigger(roaming: &Roaming) -> Option<f64> {
    Constants::new(roaming).trigger.map(|trigger| trigger.below)
}

impl Trigger {
    /// Signal in dBm below which the client scans.
    pub(super) fn below(&self, band: Band) -> f64 {
        match band {
            Band::Ghz2_4 => self.below_2g,
            Band::Ghz5 | Band::Ghz6 => self.below,
        }
    }
}

/// NetworkManager's `bgscan="simple:30:-65:300"` (nm-supplicant-config.c) with more than one BSSID.
/// wpa_supplicant (bgscan_simple.c): hysteresis of the monitor 4 dB, 300 / 30 + 1 short scans, and
/// another one after 4 dB if the last was 10 s ago.
const LINUX: Trigger = Trigger {
    below: -65.0,
    below_2g: -65.0,
    hysteresis: 4.0,
    delay: Duration::ZERO,
    interval: Duration::from_secs(30),
    idle_interval: Some(Duration::from_secs(300)),
    drop: Some((4.0, Duration::from_secs(10))),
    budget: Some(11),
};

#[expect(clippy::too_many_lines, reason = "a table with an entry for each policy")]
fn of_policy(policy: RoamingPolicy) -> Constants {
    // A trigger that only repeats. The vendors publish no interval: 10 s, as in Qualcomm's
    // firmware, is an assumption.
    let at = |dbm: f64| Trigger {
        below: dbm,
        below_2g: dbm,
        hysteresis: 0.0,
        delay: Duration::ZERO,
        interval: Duration::from_secs(10),
        idle_interval: None,
        drop: None,
        budget: None,
    };
    match policy {
        RoamingPolicy::Never => Constants {
            trigger: None,
            scan: MAC80211,
            rule: Rule::WpaSupplicant,
            reads_reports: false,
            roams_on_loss: false,
        },
        // Some clients move only when they are asked, then to the strongest.
        RoamingPolicy::ApDirected => Constants {
            trigger: None,
            scan: MAC80211,
            rule: Rule::Stronger { active: 0.0, idle: 0.0 },
            reads_reports: false,
            roams_on_loss: false,
        },
        // bgscan_simple.c takes the channels of a scan from `scan_freq` of the configuration only. It does not request
        // neighbour reports.
        RoamingPolicy::Linux => Constants {
            trigger: Some(LINUX),
            scan: MAC80211,
            rule: Rule::WpaSupplicant,
            reads_reports: false,
            roams_on_loss: false,
        },
        // iwd.config(5): RoamThreshold and RoamThreshold5G; station.c: first attempt after 5 s,
        // the next after 60 s. It scans the channels of the neighbour report first.
        RoamingPolicy::Iwd => Constants {
            trigger: Some(Trigger {
                below_2g: -70.0,
                hysteresis: 5.0,
                delay: Duration::from_secs(5),
                interval: Duration::from_secs(60),
                ..at(-76.0)
            }),
            scan: MAC80211,
            rule: Rule::Iwd,
            // station.c, `station_packets_lost`: from ten packets on. mac80211 reports 50.
            reads_reports: true,
            roams_on_loss: true,
        },
        // support.apple.com: 8 dB with traffic, 12 without; the first six entries of the neighbour report come first
        // in a scan. The scan's times are an assumption.
        RoamingPolicy::ApplePhone => Constants {
            trigger: Some(at(-70.0)),
            scan: MAC80211,
            rule: Rule::Stronger {
                active: 8.0,
                idle: 12.0,
            },
            reads_reports: true,
            roams_on_loss: false,
        },
        // support.apple.com: 802.11k on Macs with Apple silicon, since macOS 12.
        RoamingPolicy::AppleLaptop => Constants {
            trigger: Some(at(-75.0)),
            scan: MAC80211,
            rule: Rule::Stronger {
                active: 12.0,
                idle: 12.0,
            },
            reads_reports: true,
            roams_on_loss: false,
        },
        // qcacld's cfg_mlme_lfr.h: lookup −78 dBm, again after 5 dB and 10 s, 40 ms per channel,
        // 50 to 200 ms on the own channel. The firmware requests neighbour reports itself
        // (`neighbor_report_offload`).
        RoamingPolicy::Qualcomm => Constants {
            trigger: Some(Trigger {
                drop: Some((5.0, Duration::from_secs(10))),
                ..at(-78.0)
            }),
            scan: ScanStyle {
                active: Duration::from_millis(40),
                passive: Duration::from_millis(110),
                absence: Duration::ZERO,
                home: Duration::from_millis(100),
                flush: Duration::ZERO,
            },
            rule: Rule::Stronger { active: 5.0, idle: 5.0 },
            reads_reports: true,
            roams_on_loss: false,
        },
        // brcmfmac's cfg80211.c: trigger −75 dBm, delta 20 dB, 40 and 120 ms per channel. The driver passes no
        // neighbour reports on; whether the firmware reads them is not known.
        RoamingPolicy::Broadcom => Constants {
            trigger: Some(at(-75.0)),
            scan: ScanStyle {
                active: Duration::from_millis(40),
                passive: Duration::from_millis(120),
                absence: Duration::ZERO,
                home: Duration::from_millis(100),
                flush: Duration::ZERO,
            },
            rule: Rule::Stronger {
                active: 20.0,
                idle: 20.0,
            },
            reads_reports: false,
            roams_on_loss: false,
        },
    }
}
