//! Import of the output of ping: iputils (Linux, with and without `-D` and `-O`), busybox (OpenWrt), macOS and BSD.
//!
//! Each packet is an operation of the workload `ping`. A packet without an answer is lost. The summary of ping gives the
//! number of packets, so that losses at the end count. The first answer to a packet counts; duplicates do not.
//!
//! Only `-D` of iputils prints times, and those of lost packets are between those of their neighbours. Without `-D`, packets
//! are as far apart as the summary shows, or a second.

use super::common::one_line;
use super::file_error::FileError;
use super::round_trips::{Answer, MAX_ROUND_TRIP, MAX_ROUND_TRIPS, MAX_RUN, RoundTrip, Session};
use super::tool::{Content, Tool};
use super::{ImportError, Imported};
use netburn_record::header::{Host, Method, Source, WorkloadMethod};
use netburn_record::utc::UnixTime;
use std::collections::BTreeMap;

pub(super) const TOOL: Tool = Tool {
    files: "the output of ping",
    recognises: |content| {
        content
            .first_lines(50)
            .iter()
            .any(|line| is_header(line) || is_reply(line))
    },
    read: |content, file| read(content, file).map_err(|error| ImportError::file("ping", error)),
};

/// Most packets without an answer.
const MAX_LOST: u64 = 100_000;
/// Content of a packet in bytes without `-s`.
const USUAL_SIZE: u64 = 56;
/// Time between packets in ns without `-i`.
const USUAL_INTERVAL: u64 = 1_000_000_000;

fn is_header(line: &str) -> bool {
    (line.starts_with("PING ") && line.contains("bytes")) || line.starts_with("PING6(")
}

fn is_reply(line: &str) -> bool {
    line.contains(" bytes from ") && sequence(line).is_some()
}

/// An answer: the round-trip time in ns, and the time of the output in ns since 1970.
#[derive(Debug, Clone, Copy)]
struct Reply {
    took: Option<u64>,
    printed: Option<i64>,
}

#[derive(Debug, Default)]
struct Output {
    /// The host as ping was called.
    host: String,
    size: Option<u64>,
    /// Number of the first packet; `None` without the first line.
    first: Option<u64>,
    /// By number of the packet.
    replies: BTreeMap<u64, Reply>,
    /// Packets that ping reports as not answered. Some of them may be answered later.
    silent: Vec<u64>,
    duplicates: u64,
    summary: Option<Summary>,
    /// Time between the first and the last packet in ms, from the summary.
    time_ms: Option<u64>,
}

/// Numbers of packets in the summary.
#[derive(Debug, Clone, Copy)]
struct Summary {
    sent: u64,
    received: u64,
}

fn read(content: &Content<'_>, file: &str) -> Result<Imported, FileError> {
    let output = Output::parse(&String::from_utf8_lossy(content.bytes()))?;
    let numbers = output.numbers()?;
    let answered = numbers
        .clone()
        .filter(|number| output.replies.contains_key(number))
        .count() as u64;
    let lost = (numbers.end() - numbers.start() + 1).saturating_sub(answered);
    if lost > MAX_LOST {
        return Err(FileError::TooMany {
            what: "packets without an answer",
            most: MAX_LOST as usize,
        });
    }
    let clock = Clock::new(&output, *numbers.start());
    let mut latest = 0;
    let mut round_trips = Vec::new();
    for number in numbers {
        let reply = output.replies.get(&number);
        let sent = clock.sent(number, reply).max(latest);
        if sent > MAX_RUN {
            return Err(FileError::value(
                format!("icmp_seq {number}"),
                "expected a run of at most 30 days",
            ));
        }
        latest = sent;
        let outcome = match reply {
            None => Answer::Lost,
            Some(Reply { took: Some(took), .. }) => Answer::After(*took),
            Some(Reply { took: None, .. }) => continue,
        };
        round_trips.push(RoundTrip {
            sent,
            outcome,
            far: None,
        });
    }
    if round_trips.is_empty() {
        return Err(FileError::Empty("the answers have no time".to_owned()));
    }
    let to = if output.host.is_empty() {
        String::new()
    } else {
        format!(" to {}", output.host)
    };
    Session {
        workload: "ping",
        station: "client".to_owned(),
        interval: clock.interval,
        // The usual size is not worth a note.
        size: output.size.filter(|size| *size != USUAL_SIZE),
        host: Host::default(),
        started: clock.zero.map(UnixTime),
        round_trips,
        source: Source {
            program: "ping".to_owned(),
            test: format!("ICMP round trips{to}"),
            file: file.to_owned(),
            left_out: output.left_out(&clock),
            methods: vec![WorkloadMethod {
                station: 0,
                workload: 0,
                method: Method::Icmp,
            }],
            ..Source::default()
        },
    }
    .imported()
}

impl Output {
    fn parse(text: &str) -> Result<Self, FileError> {
        let mut output = Output::default();
        let mut latest = None;
        for (line, place) in text
            .trim_start_matches('\u{feff}')
            .lines()
            .map(str::trim)
            .zip(1_usize..)
        {
            let wrong = |why: String| FileError::value(format!("line {place}"), why);
            if is_header(line) {
                if !output.host.is_empty() || output.summary.is_some() {
                    return Err(wrong(
                        "found a second output of ping, expected one in a file".to_owned(),
                    ));
                }
                output.header(line);
            } else if line.contains(" bytes from ") {
                let Some(number) = sequence(line) else { continue };
                let number = unwrapped(number, latest);
                latest = Some(number);
                output.reply(number, line).map_err(wrong)?;
            } else if is_silence(line) {
                let Some(number) = sequence(line) else { continue };
                let number = unwrapped(number, latest);
                latest = Some(number);
                output.silent.push(number);
            } else if line.contains("packets transmitted") {
                output.summary(line).map_err(wrong)?;
            }
            if output.replies.len() + output.silent.len() > MAX_ROUND_TRIPS {
                return Err(FileError::TooMany {
                    what: "packets",
                    most: MAX_ROUND_TRIPS,
                });
            }
        }
        Ok(output)
    }

    /// `PING host (address) 56(84) bytes of data.` of iputils, `PING host (address): 56 data bytes` of the others, or
    /// `PING6(56=40+8+8 bytes) address --> address`. With `-I`, iputils has `from address interface: ` after the address.
    /// iputils counts from 1, the others from 0.
    fn header(&mut self, line: &str) {
        let is_first_zero = line.contains("): ") || line.starts_with("PING6(");
        self.size = size(line);
        self.first = Some(u64::from(!is_first_zero));
        if let Some(rest) = line.strip_prefix("PING ") {
            let end = rest.find([' ', '(']).unwrap_or(rest.len());
            self.host = one_line(&rest[..end]);
        } else {
            self.host = one_line(line.rsplit(' ').next().unwrap_or_default());
        }
    }

    /// `[1796093774.376559] 64 bytes from host: icmp_seq=1 ttl=64 time=0.011 ms (DUP!)`
    fn reply(&mut self, number: u64, line: &str) -> Result<(), String> {
        if line.contains("(DUP!)") || self.replies.contains_key(&number) {
            self.duplicates += 1;
            return Ok(());
        }
        let took = match line.split_once("time=").or_else(|| line.split_once("time<")) {
            Some((_, time)) => Some(milliseconds(time)?),
            None => None,
        };
        let printed = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let printed = printed.map(|(stamp, _)| {
            seconds(stamp).ok_or_else(|| format!("found the time `{}`, expected seconds since 1970", one_line(stamp)))
        });
        self.replies.insert(
            number,
            Reply {
                took,
                printed: printed.transpose()?,
            },
        );
        Ok(())
    }

    /// `3 packets transmitted, 3 received, 0% packet loss, time 408ms`, or `3 packets received`.
    fn summary(&mut self, line: &str) -> Result<(), String> {
        let mut parts = line.split(',').map(str::trim);
        let sent = parts.next().and_then(leading_number);
        let received = parts
            .next()
            .filter(|part| part.contains("received"))
            .and_then(leading_number);
        let (Some(sent), Some(received)) = (sent, received) else {
            return Err("expected the numbers of packets transmitted and received".to_owned());
        };
        if self.summary.is_some() {
            return Err("found a second summary, expected one in a file".to_owned());
        }
        self.time_ms = parts.find_map(|part| leading_number(part.strip_prefix("time ")?));
        self.summary = Some(Summary { sent, received });
        Ok(())
    }

    /// Returns true if the output has all answers that the summary counts.
    fn is_whole(&self) -> bool {
        self.summary
            .is_some_and(|summary| summary.received == self.replies.len() as u64)
    }

    /// The numbers of all packets of the run.
    fn numbers(&self) -> Result<std::ops::RangeInclusive<u64>, FileError> {
        let seen = || self.replies.keys().chain(&self.silent).copied();
        let (least, most) = (seen().min(), seen().max());
        let first = self.first.or(least);
        let summed = match (self.summary, first) {
            (Some(Summary { sent: 1.., .. }), None) | (Some(Summary { received: 1.., .. }), _)
                if self.replies.is_empty() =>
            {
                return Err(FileError::Empty(
                    "found a summary only (`-q`), expected a line for each answer".to_owned(),
                ));
            }
            (Some(Summary { sent: sent @ 1.., .. }), Some(first)) if self.is_whole() => {
                Some((first, first.saturating_add(sent - 1)))
            }
            _ => None,
        };
        let range = match (summed, least, most) {
            (Some((first, last)), least, most) => least.unwrap_or(first).min(first)..=most.unwrap_or(last).max(last),
            (None, Some(least), Some(most)) => least..=most,
            _ => {
                return Err(FileError::Empty(
                    "the output has no answer and no lost packet".to_owned(),
                ));
            }
        };
        if range.end() - range.start() >= MAX_ROUND_TRIPS as u64 {
            return Err(FileError::TooMany {
                what: "packets",
                most: MAX_ROUND_TRIPS,
            });
        }
        Ok(range)
    }

    /// Content of the output that the run does not have, as texts.
    fn left_out(&self, clock: &Clock) -> Vec<String> {
        let mut left_out = Vec::new();
        if clock.zero.is_none() {
            left_out.push(format!(
                "the times of the packets, which the output does not have; the run has one every {} ms",
                clock.interval as f64 / 1e6
            ));
        }
        if self.duplicates > 0 {
            let word = if self.duplicates == 1 { "answer" } else { "answers" };
            left_out.push(format!("{} duplicate {word}", self.duplicates));
        }
        let untimed = self.replies.values().filter(|reply| reply.took.is_none()).count();
        if untimed > 0 {
            left_out.push(format!("{untimed} answers without a time"));
        }
        match self.summary {
            None => left_out.push("losses after the last line, because the output has no summary".to_owned()),
            Some(summary) if !self.is_whole() => left_out.push(format!(
                "losses before the first and after the last line: the summary counts {} answers, and the output has {}",
                summary.received,
                self.replies.len()
            )),
            Some(_) => {}
        }
        left_out
    }
}

/// Content of a packet in bytes: the number before `(84) bytes of data` or ` data bytes`, or the last one of
/// `PING6(56=40+8+8 bytes)`.
fn size(line: &str) -> Option<u64> {
    if let Some(sum) = line.strip_prefix("PING6(") {
        let (sum, _) = sum.split_once(" bytes)")?;
        return leading_number(sum.rsplit('+').next()?);
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_size = |next: &[&str]| matches!(next, [_, "data", "bytes"] | [_, "bytes", "of"]);
    leading_number(words.windows(3).find(|next| is_size(next))?[0])
}

/// Times at which packets were sent.
struct Clock {
    /// Time 0 of the run, in ns since 1970; `None` if the output has no times.
    zero: Option<i64>,
    /// Number of the first packet.
    first: u64,
    /// Typical time between packets in ns.
    interval: u64,
    /// Numbers of answered packets, and the times at which they were sent, in ns since 1970.
    stamps: Vec<(u64, i64)>,
}

impl Clock {
    fn new(output: &Output, first: u64) -> Self {
        let stamps: Vec<(u64, i64)> = output
            .replies
            .iter()
            .filter_map(|(number, reply)| Some((*number, sent(reply)?)))
            .collect();
        let interval = stamps
            .first()
            .zip(stamps.last())
            .and_then(|((first, from), (last, to))| {
                let span = u64::try_from(to.checked_sub(*from)?).ok()?;
                span.checked_div(last - first)
            });
        // From the first packet to the last one, or to its answer.
        let summed = output.summary.zip(output.time_ms).and_then(|(summary, ms)| {
            let gaps = summary.sent.checked_sub(1)?;
            ms.checked_mul(1_000_000)?.checked_div(gaps)
        });
        let known = |interval: &u64| (1..=3600 * USUAL_INTERVAL).contains(interval);
        let interval = interval
            .filter(known)
            .or(summed.filter(known))
            .unwrap_or(USUAL_INTERVAL);
        let zero = stamps.first().map(|(number, at)| {
            let before = (number - first).saturating_mul(interval);
            at.saturating_sub_unsigned(before)
        });
        Clock {
            zero,
            first,
            interval,
            stamps,
        }
    }

    /// Time of the run at which a packet was sent, in ns; too large for a run if it is not plausible.
    fn sent(&self, number: u64, reply: Option<&Reply>) -> i64 {
        let stamp = reply.and_then(sent).or_else(|| self.between(number)).zip(self.zero);
        if let Some((at, zero)) = stamp {
            return at.saturating_sub(zero).max(0);
        }
        let after = (number - self.first).saturating_mul(self.interval);
        i64::try_from(after).unwrap_or(i64::MAX)
    }

    /// Time in ns since 1970 of a packet without a time, between those of its neighbours; after the last one, and before the
    /// first one, packets have the typical interval. `None` if the output has no times.
    fn between(&self, number: u64) -> Option<i64> {
        let next = self.stamps.partition_point(|(of, _)| *of < number);
        let before = next.checked_sub(1).map(|place| self.stamps[place]);
        match (before, self.stamps.get(next)) {
            (Some((low, from)), Some((high, to))) => {
                let gain = i128::from(to.checked_sub(from)?) * i128::from(number - low) / i128::from(high - low);
                from.checked_add(i64::try_from(gain).ok()?)
            }
            (Some((low, from)), None) => {
                Some(from.saturating_add_unsigned((number - low).saturating_mul(self.interval)))
            }
            (None, Some((high, to))) => Some(to.saturating_sub_unsigned((high - number).saturating_mul(self.interval))),
            (None, None) => None,
        }
    }
}

/// Time at which an answered packet was sent, in ns since 1970. iputils prints the time at which it prints.
fn sent(reply: &Reply) -> Option<i64> {
    reply.printed?.checked_sub_unsigned(reply.took?)
}

/// `no answer yet for icmp_seq=3`, `Request timeout for icmp_seq 3`, `From host icmp_seq=3 Destination Host Unreachable`.
fn is_silence(line: &str) -> bool {
    [
        "no answer yet for",
        "Request timeout for",
        "nreachable",
        "Time to live exceeded",
    ]
    .iter()
    .any(|text| line.contains(text))
}

/// The number after `icmp_seq=`, `icmp_seq ` or `seq=`.
fn sequence(line: &str) -> Option<u64> {
    let (_, rest) = line.split_once("seq=").or_else(|| line.split_once("seq "))?;
    leading_number(rest).filter(|number| *number < 1 << 32)
}

/// Numbers of packets have 16 bits: the full number that is the closest to the latest one.
fn unwrapped(number: u64, latest: Option<u64>) -> u64 {
    const ROUND: u64 = 1 << 16;
    let Some(latest) = latest.filter(|_| number < ROUND) else {
        return number;
    };
    let base = latest / ROUND * ROUND + number;
    let around = [base.checked_sub(ROUND), Some(base), base.checked_add(ROUND)];
    let closest = around
        .into_iter()
        .flatten()
        .min_by_key(|number| number.abs_diff(latest));
    closest.unwrap_or(number)
}

fn leading_number(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

/// `0.011 ms` in ns.
fn milliseconds(text: &str) -> Result<u64, String> {
    let wrong = || format!("found the time `{}`, expected 0 ms to 10 min", one_line(text));
    let mut words = text.split_whitespace();
    let number: f64 = words.next().and_then(|word| word.parse().ok()).ok_or_else(wrong)?;
    let nanos = (number * 1e6).round();
    if words.next() == Some("ms") && (0.0..=MAX_ROUND_TRIP as f64).contains(&nanos) {
        Ok(nanos as u64)
    } else {
        Err(wrong())
    }
}

/// `1796093774.376559` in ns.
fn seconds(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.len() <= 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || fraction.len() > 9 {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<9}").parse().ok()?;
    whole
        .parse::<i64>()
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(fraction)
}
