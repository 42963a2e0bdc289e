//! How much a station may have handed to the air's side: what small queues of its plan would let it.
//!
//! A kernel's TCP Small Queues count a packet until its driver has sent it; here they count it until we have taken it over. So the
//! kernel's own limit is set to two packets, and what a Wi-Fi driver's host would hold is what we take over: for each
//! connection that sends, as much as the plan's small queues let it hold at *its* pacing rate, which the kernel tells.

use netburn_scenario::plan::Station;
use netburn_tcp::config::{Gso, TsqSettings};
use netburn_units::{BitRate, Duration};

/// What a wire takes over: its buffers are its hop's.
const WIRES: u64 = 256 * 1024;

/// What goes uncounted of others' packets than TCP's, in thousandths of a second of the link's rate: small queues don't hold them back,
/// and two of the longest aggregates are to fit into what is ahead.
const ALLOWANCE_MS: u64 = 5;

/// IPv4's and TCP's headers with timestamps; IPv6's are 20 bytes longer, of some 1500.
const HEADERS: u64 = 52;

/// What a connection may hold depends on this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How fast the kernel would send, by the congestion window and the round-trip time.
    pub rate: BitRate,
    /// The largest segment in bytes.
    pub mss: u32,
    /// The least round-trip time seen.
    pub min_rtt: Option<Duration>,
}

/// What one station has ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ahead {
    /// `None`: on a wire, or without small queues.
    settings: Option<TsqSettings>,
    gso: Gso,
}

impl Ahead {
    /// What a station's plan asks for; what Wi-Fi drivers ask for today where it asks for nothing.
    pub(crate) fn of(station: &Station) -> Ahead {
        let settings = station.tsq.unwrap_or_default().settings();
        Ahead {
            // Without small queues there is nothing that follows the rate; nor is such a station held back.
            settings: settings.filter(|_| station.link.is_none()),
            gso: if station.gso { Gso::default() } else { Gso::off() },
        }
    }

    /// Whether it depends on the connections that send.
    pub(crate) const fn follows(&self) -> bool {
        self.settings.is_some()
    }

    /// In bytes, what TCP may have, with these connections; while none is known, as much as the slowest: the kernel is asked as soon
    /// as one sends.
    pub(crate) fn bytes(&self, connections: &[Pace]) -> u64 {
        if connections.is_empty() {
            return self.held(BitRate::from_bps(0));
        }
        let Some(settings) = self.settings else { return WIRES };
        let held = |pace: &Pace| most_held(&settings, &self.gso, pace);
        connections.iter().map(held).sum()
    }

    /// In bytes, at a link's rate, what of others' than TCP goes uncounted besides. Where no connection is known, others' have the air
    /// to themselves, and as much as a connection that paces at the link's rate.
    pub(crate) fn allowance(&self, link: BitRate, connections_known: bool) -> u64 {
        let share = link.as_bps() / 8 * ALLOWANCE_MS / 1000;
        share + if connections_known { 0 } else { self.held(link) }
    }

    /// Bytes in the queues of a connection that paces at `rate`, where the round trip is too long to lengthen bursts.
    fn held(&self, rate: BitRate) -> u64 {
        let Some(settings) = self.settings else { return WIRES };
        let pace = Pace {
            rate,
            mss: 1448,
            min_rtt: Some(Duration::from_secs(1)),
        };
        most_held(&settings, &self.gso, &pace)
    }
}

fn most_held(settings: &TsqSettings, gso: &Gso, pace: &Pace) -> u64 {
    let content = settings.max_queued(gso, pace.mss, pace.rate, pace.min_rtt);
    let mss = u64::from(pace.mss);
    content.as_bytes() / mss * (mss + HEADERS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    fn ahead(line: &str) -> Ahead {
        let text = format!(
            "[ap.a]\n[ap.a.radio.5g]\n[station.s]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\nworkload = \"upload\"\n{line}\n"
        );
        let plan = Document::from_toml("s.toml", &text).unwrap().resolve().unwrap();
        Ahead::of(&plan.stations[0])
    }

    fn pace(mbps: u64) -> Pace {
        Pace {
            rate: BitRate::from_mbps(mbps),
            mss: 1448,
            min_rtt: Some(Duration::from_millis(10)),
        }
    }

    #[test]
    fn each_connection_holds_what_its_pace_lets_it() {
        // 1 ms at 100 Mbit/s is 8 segments; three such bursts are held, in packets of 1500 bytes.
        assert_eq!(ahead("tsq = \"2013\"").bytes(&[pace(100)]), 3 * 8 * 1500);
        // The longest bursts, of 45.
        for today in ["", "tsq = \"2025\""] {
            assert_eq!(ahead(today).bytes(&[pace(100)]), 3 * 45 * 1500, "{today}");
        }
        // A slow one sends two segments at a time; they add up.
        let both = ahead("tsq = \"2013\"").bytes(&[pace(100), pace(1)]);
        assert_eq!(both, 3 * (8 + 2) * 1500);
        // A device that takes no bursts: each packet weighs 4352 bytes.
        let single = ahead("tsq = \"2013\"\ngso = false").bytes(&[pace(100)]);
        assert_eq!(
            single,
            3 * 1500,
            "two of 4352 bytes are within 12,207, a third goes down"
        );
    }

    #[test]
    fn a_wire_and_a_host_without_small_queues_follow_nobody() {
        assert!(ahead("").follows());
        assert!(!ahead("tsq = \"off\"").follows());
    }

    #[test]
    fn until_a_connection_is_known_it_is_taken_for_the_slowest() {
        // Two segments at a time (tcp_min_tso_segs): two such bursts, and the one that finds them there.
        let ahead = ahead("tsq = \"2013\"");
        assert_eq!(ahead.bytes(&[]), 3 * 2 * 1500);
        // Others than TCP have 5 ms of the link besides, and at 100 Mbit/s three bursts of eight where no connection is known.
        let link = BitRate::from_mbps(100);
        assert_eq!(ahead.allowance(link, true), 62_500);
        assert_eq!(ahead.allowance(link, false), 62_500 + 3 * 8 * 1500);
    }
}
