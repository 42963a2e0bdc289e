//! The system log of an access point, from one reading to the next. Pure.

use crate::parse::log::{self, Entry};
use crate::transcript::Answer;
use netburn_record::{Bssid, Logged};
use netburn_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// Most lines that the program on the access point sends. It sends the last ones.
pub const MAX_LINES: usize = 1000;
/// Most stations whose interface is remembered.
const MAX_STATIONS: usize = 4096;

/// One reading of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogReading {
    /// The access point's clock in s since 1970 in its time zone.
    pub clock: Option<i64>,
    /// The last lines of hostapd, usteer and DAWN.
    pub lines: Vec<String>,
}

impl LogReading {
    /// The values of an answer to `log`.
    #[must_use]
    pub fn from_answer(answer: &Answer) -> LogReading {
        let lines = answer.text("log").lines().filter(|line| !line.is_empty());
        LogReading {
            clock: log::clock(answer.text("clock")),
            lines: lines.take(MAX_LINES).map(str::to_owned).collect(),
        }
    }
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogEvent {
    pub(crate) at: Instant,
    pub(crate) interface: Option<String>,
    pub(crate) address: Option<Bssid>,
    pub(crate) what: Logged,
}

/// Remembers what was read, so that each line is reported once.
#[derive(Debug, Default)]
pub(crate) struct LogReader {
    last: Option<(Instant, Vec<String>)>,
    /// Interface on which a station connected last.
    places: BTreeMap<Bssid, String>,
}

/// The new part of a reading.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NewEvents {
    pub(crate) events: Vec<LogEvent>,
    /// Earlier events may be missing.
    pub(crate) incomplete_before: Option<Instant>,
}

impl LogReader {
    /// Handles a reading at `now`. `is_radio` returns true for an interface of the access point.
    ///
    /// Times are relative to the access point's clock at the reading, so that a clock of 1970 does no harm. A line is new
    /// since the previous reading, so that its time is between the two even if the clock was set in between.
    pub(crate) fn handle(&mut self, now: Instant, reading: LogReading) -> NewEvents {
        let LogReading { clock, lines } = reading;
        let (earliest, first_new, has_gap) = match &self.last {
            None => (Instant::ZERO, 0, now > Instant::ZERO && lines.len() >= MAX_LINES),
            Some((before, known)) => {
                let first_new = first_new(known, &lines);
                (*before, first_new.unwrap_or(0), first_new.is_none())
            }
        };
        let mut new = NewEvents::default();
        if let Some(clock) = clock {
            let mut seen = BTreeSet::new();
            for line in &lines[first_new..] {
                let Some((time, message)) = log::stamped(line, clock) else {
                    continue;
                };
                let at = instant(now, clock - time);
                let is_first = self.last.is_none();
                if is_first && !(earliest..=now).contains(&at) {
                    continue;
                }
                let at = at.clamp(earliest.min(now), now);
                // Some systems log a message of hostapd twice.
                if let Some(entry) = log::entry(message)
                    && seen.insert((time, format!("{entry:?}")))
                {
                    self.add(at, entry, &mut new.events);
                }
            }
        }
        if has_gap {
            new.incomplete_before = Some(new.events.first().map_or(now, |event| event.at));
        }
        self.last = Some((now, lines));
        new
    }

    fn add(&mut self, at: Instant, entry: Entry, events: &mut Vec<LogEvent>) {
        let Entry {
            interface,
            address,
            what,
        } = entry;
        let event = |what| LogEvent {
            at,
            interface: interface.clone(),
            address,
            what,
        };
        let connected = what == Logged::Connected;
        events.push(event(what));
        let (Some(interface), Some(address), true) = (&interface, address, connected) else {
            return;
        };
        if let Some(from) = self.places.get(&address)
            && from != interface
        {
            events.push(event(Logged::Roamed { from: from.clone() }));
        }
        self.places.insert(address, interface.clone());
        self.forget();
    }

    /// Notes the interface on which a station is, unless the log has named one. The log is read later than a sample, so that
    /// the sample may show a move that the log still has to report.
    pub(crate) fn place(&mut self, address: Bssid, interface: &str) {
        self.places.entry(address).or_insert_with(|| interface.to_owned());
        self.forget();
    }

    fn forget(&mut self) {
        if self.places.len() > MAX_STATIONS {
            self.places.pop_first();
        }
    }
}

/// The time of the run that was `ago` seconds before `now`.
fn instant(now: Instant, ago: i64) -> Instant {
    let seconds = Duration::from_secs(ago.unsigned_abs());
    let at = if ago < 0 {
        now.checked_add(seconds)
    } else {
        now.checked_sub(seconds)
    };
    at.unwrap_or(if ago < 0 { Instant::MAX } else { Instant::MIN })
}

/// Index of the first line that is behind the lines that are known: the log loses lines at its beginning, and gets new ones
/// at its end. `None` if no known line is left although there were some.
fn first_new(known: &[String], lines: &[String]) -> Option<usize> {
    if known.is_empty() {
        return Some(0);
    }
    (0..known.len())
        .map(|lost| &known[lost..])
        .find(|kept| lines.starts_with(kept))
        .map(<[String]>::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_record::{LeaveCause, MoveReason, Steerer};

    fn reading(clock: &str, lines: &[&str]) -> LogReading {
        LogReading {
            clock: log::clock(clock),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        }
    }

    fn events(new: &NewEvents) -> Vec<(i64, Logged)> {
        let seconds = |event: &LogEvent| event.at.as_nanos() / 1_000_000_000;
        new.events
            .iter()
            .map(|event| (seconds(event), event.what.clone()))
            .collect()
    }

    const ASSOCIATED: &str =
        "Mon Nov  4 09:46:35 2024 daemon.info hostapd: wlan0: STA 02:00:00:00:01:00 IEEE 802.11: associated (aid 1)";
    const CONNECTED: &str = "Mon Nov  4 09:46:36 2024 daemon.notice hostapd: wlan0: AP-STA-CONNECTED 02:00:00:00:01:00";
    const ELSEWHERE: &str = "Mon Nov  4 09:46:50 2024 daemon.notice hostapd: wlan1: AP-STA-CONNECTED 02:00:00:00:01:00";

    #[test]
    fn each_line_counts_once_and_a_move_between_radios_is_an_event() {
        let mut reader = LogReader::default();
        let first = reader.handle(Instant::from_secs(-5), reading("2024-11-04T09:46:30", &[]));
        assert_eq!(first, NewEvents::default());
        let second = reader.handle(
            Instant::from_secs(10),
            reading("2024-11-04T09:46:45", &[ASSOCIATED, CONNECTED, CONNECTED]),
        );
        assert_eq!(events(&second), [(0, Logged::Associated), (1, Logged::Connected)]);
        let third = reader.handle(
            Instant::from_secs(20),
            reading("2024-11-04T09:46:55", &[CONNECTED, CONNECTED, ELSEWHERE]),
        );
        let from = "wlan0".to_owned();
        assert_eq!(events(&third), [(15, Logged::Connected), (15, Logged::Roamed { from })]);
        assert_eq!(third.incomplete_before, None);
    }

    #[test]
    fn lines_from_before_the_run_do_not_count() {
        let mut reader = LogReader::default();
        let first = reader.handle(
            Instant::from_secs(2),
            reading("2024-11-04T09:46:52", &[ASSOCIATED, ELSEWHERE]),
        );
        assert_eq!(events(&first), [(0, Logged::Connected)]);
    }

    #[test]
    fn a_log_that_wrapped_says_so() {
        let mut reader = LogReader::default();
        reader.handle(Instant::from_secs(-1), reading("2024-11-04T09:46:40", &[CONNECTED]));
        let second = reader.handle(Instant::from_secs(14), reading("2024-11-04T09:46:55", &[ELSEWHERE]));
        assert_eq!(second.incomplete_before, Some(Instant::from_secs(9)));
    }

    /// The clock of an access point without a battery begins in 1970, and is set when it reaches a time server.
    #[test]
    fn a_clock_that_is_set_moves_no_event_out_of_its_interval() {
        let old = "Thu Jan  1 00:01:10 1970 daemon.notice hostapd: wlan0: AP-STA-CONNECTED 02:00:00:00:01:00";
        let mut reader = LogReader::default();
        reader.handle(Instant::from_secs(0), reading("1970-01-01T00:01:00", &[]));
        let unset = reader.handle(Instant::from_secs(20), reading("1970-01-01T00:01:20", &[old]));
        assert_eq!(events(&unset), [(10, Logged::Connected)]);
        let mut reader = LogReader::default();
        reader.handle(Instant::from_secs(0), reading("1970-01-01T00:01:00", &[]));
        let set = reader.handle(
            Instant::from_secs(20),
            reading("2024-11-04T09:46:55", &[old, ELSEWHERE]),
        );
        let seconds: Vec<i64> = events(&set).iter().map(|(second, _)| *second).collect();
        assert_eq!(seconds[..2], [0, 15]);
    }

    #[test]
    fn without_a_clock_nothing_has_a_time() {
        let mut reader = LogReader::default();
        let none = reader.handle(Instant::from_secs(2), reading("date: not found", &[CONNECTED]));
        assert_eq!(none.events, []);
    }

    /// Messages of public reports, with other addresses: openwrt/openwrt#16874 (2024), DAWN#251 (2025) and #263 (2026), and
    /// the format of usteer's event.c.
    #[test]
    fn messages_of_hostapd_usteer_and_dawn() {
        let usteer = Steerer::Usteer;
        let cases = [
            (
                "daemon.notice hostapd: wl1-ap0: BSS-TM-RESP 02:00:00:00:01:00 status_code=7 bss_termination_delay=0",
                Some("wl1-ap0"),
                Logged::MoveAnswered { status: 7 },
            ),
            (
                "daemon.info hostapd: wl1-ap0: STA 02:00:00:00:01:00 IEEE 802.11: disassociated due to inactivity",
                Some("wl1-ap0"),
                Logged::Disassociated {
                    cause: LeaveCause::Inactivity,
                },
            ),
            (
                "daemon.info hostapd: wlan1: STA 02:00:00:00:01:00 IEEE 802.11: deauthenticated due to inactivity (timer \
                 DEAUTH/REMOVE)",
                Some("wlan1"),
                Logged::Deauthenticated {
                    cause: LeaveCause::Inactivity,
                },
            ),
            (
                "OpenWrt daemon.info hostapd: ath0: STA 02:00:00:00:01:00 IEEE 802.11: deauthenticated due to local deauth request",
                Some("ath0"),
                Logged::Deauthenticated {
                    cause: LeaveCause::AccessPoint,
                },
            ),
            (
                "host hostapd[812]: wlan0: STA 02:00:00:00:01:00 IEEE 802.11: disassociated",
                Some("wlan0"),
                Logged::Disassociated {
                    cause: LeaveCause::Station,
                },
            ),
            (
                "daemon.debug hostapd: wlan1: STA 02:00:00:00:01:00 WPA: EAPOL-Key timeout",
                Some("wlan1"),
                Logged::KeyTimeout,
            ),
            (
                "daemon.info dawn: Client 02:00:00:00:01:00: Kicking due to low active data transfer: RX rate 6.000000 below 6 limit",
                None,
                Logged::MoveRequested {
                    by: Steerer::Dawn,
                    reason: MoveReason::Rate,
                },
            ),
            (
                "user.info usteer: usteer event=signal_kick node=hostapd.wlan0 sta=02:00:00:00:01:00 reason=low_signal signal=-80",
                Some("wlan0"),
                Logged::MoveRequested {
                    by: usteer,
                    reason: MoveReason::Signal,
                },
            ),
            (
                "user.info usteer: usteer event=assoc_req_deny node=hostapd.wlan0 sta=02:00:00:00:01:00 reason=better_candidate",
                Some("wlan0"),
                Logged::Refused {
                    by: usteer,
                    reason: MoveReason::BetterRadio,
                },
            ),
        ];
        for (message, interface, what) in cases {
            let entry = log::entry(message).unwrap_or_else(|| panic!("{message}"));
            assert_eq!(entry.address, Some(Bssid([2, 0, 0, 0, 1, 0])), "{message}");
            assert_eq!((entry.interface.as_deref(), entry.what), (interface, what), "{message}");
        }
        let radar =
            "daemon.notice hostapd: phy1-ap0: DFS-RADAR-DETECTED freq=5580 ht_enabled=0 chan_offset=0 chan_width=3";
        assert_eq!(log::entry(radar).unwrap().what, Logged::Radar { frequency_mhz: 5580 });
        let moved = "daemon.notice hostapd: phy1-ap0: AP-CSA-FINISHED freq=5180 dfs=0";
        assert_eq!(
            log::entry(moved).unwrap().what,
            Logged::ChannelChanged { frequency_mhz: 5180 }
        );
        for other in [
            "daemon.notice netifd: radio0 (2161): command failed: Too many open files in system (-23)",
            "daemon.notice hostapd: phy1-ap0: BEACON-REQ-TX-STATUS 02:00:00:00:01:00 87 ack=1",
            "daemon.notice hostapd: wlan0: AP-STA-CONNECTED nothing",
            "daemon.warn dawn[2028]: No station connected",
            "hostapd: ",
        ] {
            assert_eq!(log::entry(other), None, "{other}");
        }
    }

    #[test]
    fn times_have_three_formats() {
        // 2024-11-04T09:46:35Z is 1730713595 (GNU date -ud).
        let clock = 1_730_713_600;
        for line in [
            "Mon Nov  4 09:46:35 2024 x",
            "Nov  4 09:46:35 x",
            "2024-11-04T09:46:35+0100 x",
            "2024-11-04T09:46:35.123456+01:00 x",
        ] {
            assert_eq!(log::stamped(line, clock), Some((1_730_713_595, "x")), "{line}");
        }
        // Of December, read in January: 2023-12-31T23:59:59Z and 2024-01-01T00:00:01Z.
        assert_eq!(
            log::stamped("Dec 31 23:59:59 x", 1_704_067_201),
            Some((1_704_067_199, "x"))
        );
        assert_eq!(
            log::stamped("Feb 29 00:00:00 x", 1_709_251_200),
            Some((1_709_164_800, "x"))
        );
        for line in [
            "",
            "Mon",
            "Mon Nov 40 09:46:35 2024 x",
            "Nov 4 9:46:35 x",
            "é",
            "2024-11-04T99:46:35 x",
        ] {
            assert_eq!(log::stamped(line, clock), None, "{line}");
        }
    }
}
