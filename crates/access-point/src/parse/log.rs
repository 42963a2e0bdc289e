//! Lines of a system log, of hostapd, usteer and DAWN.
//!
//! Formats: `logread` of OpenWrt, syslog files (RFC 3164, 4.1.2) and `journalctl -o short-iso`. Messages of hostapd
//! (src/common/wpa_ctrl.h and src/ap/ of hostap), usteer (event.c, `event=`) and DAWN (`Client …: Kicking …`).

use crate::names::is_interface;
use netburn_record::{Bssid, LeaveCause, Logged, MoveReason, Steerer};

/// An event of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Interface of the radio.
    pub(crate) interface: Option<String>,
    /// Address of the station.
    pub(crate) address: Option<Bssid>,
    /// The event.
    pub(crate) what: Logged,
}

/// Seconds in a day.
const DAY: i64 = 86_400;
/// Years that a clock can show here. Others are no times.
const YEARS: std::ops::RangeInclusive<i64> = 1970..=2200;

/// The time of day in the access point's time zone, of `date +%Y-%m-%dT%H:%M:%S`: seconds since 1970 in that zone.
pub(crate) fn clock(text: &str) -> Option<i64> {
    iso(text.split_whitespace().next()?)
}

/// The time of a line in the access point's time zone, and its message with the name of the program. `clock` is its present time: some logs
/// have no year.
pub(crate) fn stamped(line: &str, clock: i64) -> Option<(i64, &str)> {
    if let Some((word, rest)) = line.split_once(' ')
        && let Some(time) = iso(word)
    {
        return Some((time, rest));
    }
    let (first, rest) = word(line)?;
    match month(first) {
        Some(month) => {
            let (time, rest) = day_and_time(rest)?;
            let year = year_of(clock);
            // A line of December that is read in January. Clocks are set by less than a day.
            let at = |year| seconds(year, month, time);
            let this = at(year)?;
            let at = if this > clock + DAY { at(year - 1)? } else { this };
            Some((at, rest))
        }
        None => {
            // Mon Nov  4 09:46:35 2024
            let (name, rest) = word(rest)?;
            let (time, rest) = day_and_time(rest)?;
            let (year, rest) = word(rest)?;
            Some((seconds(year.parse().ok()?, month(name)?, time)?, rest))
        }
    }
}

/// The first word, and the text behind it.
fn word(text: &str) -> Option<(&str, &str)> {
    text.trim_start().split_once(' ')
}

/// A day of a month, and the seconds of the day: ` 4 09:46:35`.
fn day_and_time(text: &str) -> Option<((i64, i64), &str)> {
    let (day, rest) = word(text)?;
    let (time, rest) = word(rest)?;
    Some(((day.parse().ok()?, time_of_day(time)?), rest))
}

/// `09:46:35`, with or without a fraction.
fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.get(..8)?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..=60).contains(&second);
    is_time.then_some(hour * 3600 + minute * 60 + second)
}

/// `2024-11-04T09:46:35`, with anything behind it. The offset of the zone is that of the access point.
fn iso(word: &str) -> Option<i64> {
    let (date, time) = (word.get(..10)?, word.get(11..)?);
    if word.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    seconds(year, month, (day, time_of_day(time)?))
}

fn month(name: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    MONTHS
        .iter()
        .zip(1..)
        .find_map(|(known, number)| (*known == name).then_some(number))
}

/// Seconds since 1970 of a date in the Gregorian calendar.
fn seconds(year: i64, month: i64, (day, second): (i64, i64)) -> Option<i64> {
    let is_date = YEARS.contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then(|| (days_before(year, month) + day - 1) * DAY + second)
}

/// Days from 1970-01-01 to the first day of a month.
fn days_before(year: i64, month: i64) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    // Leap days of the years before this one.
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let leap = i64::from(is_leap && month > 2);
    let months = usize::try_from(month - 1).map_or(0, |month| BEFORE[month.min(11)]);
    (year - 1970) * 365 + leaps(year - 1) - leaps(1969) + months + leap
}

/// The year of a time.
fn year_of(clock: i64) -> i64 {
    let year = 1970 + clock.div_euclid(DAY) / 366;
    (year..=year + 2)
        .rfind(|year| days_before(*year, 1) * DAY <= clock)
        .unwrap_or(year)
}

/// The event of a message with the name of its program: `daemon.notice hostapd: wlan0: AP-STA-CONNECTED 02:…`.
pub(crate) fn entry(text: &str) -> Option<Entry> {
    let mut from = 0;
    while let Some((program, rest)) = text[from..].split_once(": ") {
        let name = program.rsplit(' ').next().unwrap_or(program);
        let name = name.split('[').next().unwrap_or(name);
        match name {
            "hostapd" => return hostapd(rest),
            "usteer" => return usteer(rest),
            "dawn" => return dawn(rest),
            _ => from += program.len() + 2,
        }
    }
    None
}

/// A message of hostapd.
fn hostapd(message: &str) -> Option<Entry> {
    let (interface, message) = match message.split_once(": ") {
        Some((interface, rest)) if is_interface(interface) => (Some(interface.to_owned()), rest),
        _ => (None, message),
    };
    let (event, rest) = message.split_once(' ').unwrap_or((message, ""));
    let station = rest.split_whitespace().next().and_then(|word| word.parse().ok());
    let of_station = |what| {
        station.map(|address| Entry {
            interface: interface.clone(),
            address: Some(address),
            what,
        })
    };
    let of_radio = |what: fn(u32) -> Logged| {
        Some(Entry {
            interface: interface.clone(),
            address: None,
            what: what(number(rest, "freq=")?),
        })
    };
    match event {
        "AP-STA-CONNECTED" => of_station(Logged::Connected),
        "AP-STA-DISCONNECTED" => of_station(Logged::Disconnected),
        "AP-STA-POSSIBLE-PSK-MISMATCH" => of_station(Logged::WrongPassphrase),
        "BSS-TM-RESP" => of_station(Logged::MoveAnswered {
            status: number(rest, "status_code=")?,
        }),
        "STA" => of_station(of_machine(rest.split_once(' ')?.1)?),
        "DFS-RADAR-DETECTED" => of_radio(|frequency_mhz| Logged::Radar { frequency_mhz }),
        "AP-CSA-FINISHED" | "DFS-NEW-CHANNEL" => of_radio(|frequency_mhz| Logged::ChannelChanged { frequency_mhz }),
        _ => None,
    }
}

/// A message of the state machine of a station: `IEEE 802.11: associated (aid 1)`.
fn of_machine(text: &str) -> Option<Logged> {
    if text.starts_with("WPA: EAPOL-Key timeout") {
        return Some(Logged::KeyTimeout);
    }
    let event = text.strip_prefix("IEEE 802.11: ")?;
    let (event, cause) = match event.split_once(" due to ") {
        Some((event, cause)) => (event, Some(cause)),
        None => (event, None),
    };
    let cause = match cause {
        None => LeaveCause::Station,
        Some(cause) if cause.starts_with("inactivity") => LeaveCause::Inactivity,
        Some(cause) if cause.starts_with("local deauth request") => LeaveCause::AccessPoint,
        Some(cause) if cause.starts_with("excessive missing ACKs") => LeaveCause::NoAcknowledgement,
        Some(_) => LeaveCause::Other,
    };
    match event.split(' ').next()? {
        "associated" => Some(Logged::Associated),
        "disassociated" | "disconnected" => Some(Logged::Disassociated { cause }),
        "deauthenticated" => Some(Logged::Deauthenticated { cause }),
        _ => None,
    }
}

/// A message of usteer: `usteer event=signal_kick node=hostapd.wlan0 sta=02:… reason=low_signal`.
fn usteer(message: &str) -> Option<Entry> {
    let reason = match value(message, "reason=") {
        Some("low_signal") => MoveReason::Signal,
        Some("better_candidate") => MoveReason::BetterRadio,
        _ => MoveReason::Other,
    };
    let by = Steerer::Usteer;
    let what = match value(message, "event=")? {
        "signal_kick" => Logged::MoveRequested {
            by,
            reason: MoveReason::Signal,
        },
        "load_kick_client" => Logged::MoveRequested {
            by,
            reason: MoveReason::Load,
        },
        "auth_req_deny" | "assoc_req_deny" => Logged::Refused { by, reason },
        _ => return None,
    };
    let node = value(message, "node=").and_then(|node| node.strip_prefix("hostapd."));
    Some(Entry {
        interface: node.filter(|name| is_interface(name)).map(str::to_owned),
        address: Some(value(message, "sta=")?.parse().ok()?),
        what,
    })
}

/// A message of DAWN: `Client 02:…: Kicking due to low active data transfer: RX rate 6.000000 below 6 limit`.
fn dawn(message: &str) -> Option<Entry> {
    let (address, rest) = message.strip_prefix("Client ")?.split_once(": ")?;
    let reason = rest.strip_prefix("Kicking ")?;
    Some(Entry {
        interface: None,
        address: Some(address.parse().ok()?),
        what: Logged::MoveRequested {
            by: Steerer::Dawn,
            reason: if reason.starts_with("due to low active data transfer") {
                MoveReason::Rate
            } else {
                MoveReason::Other
            },
        },
    })
}

/// The value of a key, up to the next space.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split(' ').find_map(|word| word.strip_prefix(key))
}

fn number<T: std::str::FromStr>(text: &str, key: &str) -> Option<T> {
    value(text, key)?.parse().ok()
}
