//! Send budget: the bytes that a station's TCP may hand to the lab, from the TCP Small Queues settings of its plan.
//!
//! TCP Small Queues of a kernel count a packet until its driver has sent it. Here they count it until the lab has
//! read it. The kernel's own limit is therefore set to two packets, and the lab accepts the bytes that a Wi-Fi host
//! would hold below TCP. For each sending connection, that is the limit of TCP Small Queues at the connection's pacing
//! rate, which the kernel reports.

use netburn_scenario::plan::Station;
use netburn_tcp::config::{Gso, TsqSettings};
use netburn_units::{BitRate, Duration};

/// Budget of a wired station in bytes. Its hop has its own queue limits.
const WIRED_BUDGET: u64 = 256 * 1024;

/// Allowance for non-TCP bytes, as milliseconds at the link's rate. TCP Small Queues do not limit them, and two of the
/// longest aggregates should fit.
const ALLOWANCE_MS: u64 = 5;

/// Length of the headers of IPv4 and TCP with timestamps, in bytes. IPv6 has 20 bytes more, which is negligible in
/// 1500.
const HEADERS: u64 = 52;

/// Properties of a connection that determine its limit under TCP Small Queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionPacing {
    /// Pacing rate of the kernel, from congestion window and round-trip time.
    pub rate: BitRate,
    /// Maximum segment size in bytes.
    pub mss: u32,
    /// Minimum round-trip time measured so far.
    pub min_rtt: Option<Duration>,
}

/// Send budget settings of one station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SendBudget {
    /// `None` for wired stations and without TCP Small Queues.
    settings: Option<TsqSettings>,
    gso: Gso,
}

impl SendBudget {
    /// Returns the settings of a station's plan. The default is TCP Small Queues as in current Wi-Fi drivers.
    pub(crate) fn from_plan(station: &Station) -> SendBudget {
        let settings = station.tsq.unwrap_or_default().settings();
        SendBudget {
            // Without TCP Small Queues the budget does not depend on the rate, and there is no backpressure.
            settings: settings.filter(|_| station.link.is_none()),
            gso: if station.gso { Gso::default() } else { Gso::off() },
        }
    }

    /// Returns whether the budget depends on the connections' pacing.
    pub(crate) const fn depends_on_pacing(&self) -> bool {
        self.settings.is_some()
    }

    /// Returns the budget of TCP in bytes with these connections. Without known connections, it is that of the slowest
    /// connection; the kernel is sampled as soon as one sends.
    pub(crate) fn bytes(&self, connections: &[ConnectionPacing]) -> u64 {
        if connections.is_empty() {
            return self.bytes_at_rate(BitRate::from_bps(0));
        }
        let Some(settings) = self.settings else {
            return WIRED_BUDGET;
        };
        let bytes_at_rate = |pace: &ConnectionPacing| queue_limit(&settings, &self.gso, pace);
        connections.iter().map(bytes_at_rate).sum()
    }

    /// Returns the allowance for non-TCP bytes at a link's rate. Without known connections, the limit of a connection
    /// at the link's rate is added.
    pub(crate) fn allowance(&self, link: BitRate, connections_known: bool) -> u64 {
        let share = link.as_bps() / 8 * ALLOWANCE_MS / 1000;
        share + if connections_known { 0 } else { self.bytes_at_rate(link) }
    }

    /// Returns the limit in bytes of a connection with this pacing rate and a round-trip time that is too long for
    /// larger bursts (tcp_tso_rtt_log).
    fn bytes_at_rate(&self, rate: BitRate) -> u64 {
        let Some(settings) = self.settings else {
            return WIRED_BUDGET;
        };
        let pace = ConnectionPacing {
            rate,
            mss: 1448,
            min_rtt: Some(Duration::from_secs(1)),
        };
        queue_limit(&settings, &self.gso, &pace)
    }
}

fn queue_limit(settings: &TsqSettings, gso: &Gso, pace: &ConnectionPacing) -> u64 {
    let content = settings.max_queued(gso, pace.mss, pace.rate, pace.min_rtt);
    let mss = u64::from(pace.mss);
    content.as_bytes() / mss * (mss + HEADERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    fn send_budget(line: &str) -> SendBudget {
        let text = format!(
            "[ap.a]\n[ap.a.radio.5g]\n[station.s]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\nworkload = \"upload\"\n{line}\n"
        );
        let plan = Document::from_toml("s.toml", &text).unwrap().resolve().unwrap();
        SendBudget::from_plan(&plan.stations[0])
    }

    fn pace(mbps: u64) -> ConnectionPacing {
        ConnectionPacing {
            rate: BitRate::from_mbps(mbps),
            mss: 1448,
            min_rtt: Some(Duration::from_millis(10)),
        }
    }

    #[test]
    fn the_budget_follows_each_connections_pacing_rate() {
        // 1 ms at 100 Mbit/s is 8 segments; the limit is three such bursts, in packets of 1500 bytes.
        assert_eq!(send_budget("tsq = \"2013\"").bytes(&[pace(100)]), 3 * 8 * 1500);
        // The longest bursts have 45 segments.
        for today in ["", "tsq = \"2025\""] {
            assert_eq!(send_budget(today).bytes(&[pace(100)]), 3 * 45 * 1500, "{today}");
        }
        // A slow connection sends bursts of two segments; limits add up.
        let both = send_budget("tsq = \"2013\"").bytes(&[pace(100), pace(1)]);
        assert_eq!(both, 3 * (8 + 2) * 1500);
        // A device without GSO: each packet has a `truesize` of 4352 bytes.
        let single = send_budget("tsq = \"2013\"\ngso = false").bytes(&[pace(100)]);
        assert_eq!(
            single,
            3 * 1500,
            "two of 4352 bytes are below the limit of 12,207; the third exceeds it"
        );
    }

    #[test]
    fn wired_stations_and_hosts_without_tsq_do_not_depend_on_pacing() {
        assert!(send_budget("").depends_on_pacing());
        assert!(!send_budget("tsq = \"off\"").depends_on_pacing());
    }

    #[test]
    fn without_known_connections_the_budget_is_that_of_the_slowest() {
        // Bursts of two segments (tcp_min_tso_segs): two of them, and the one that exceeds the limit.
        let send_budget = send_budget("tsq = \"2013\"");
        assert_eq!(send_budget.bytes(&[]), 3 * 2 * 1500);
        // The allowance is 5 ms at the link's rate, plus three bursts of eight at 100 Mbit/s if no connection is known.
        let link = BitRate::from_mbps(100);
        assert_eq!(send_budget.allowance(link, true), 62_500);
        assert_eq!(send_budget.allowance(link, false), 62_500 + 3 * 8 * 1500);
    }
}
