//! State of a link during a run. Pure: samples, events and counters in, rows out.

mod format;

use super::rates::{Collapse, Rates};
use format::{changes, channel_text, mbps, reason_suffix, row};
use netburn_platform::wifi::{Event, LinkSample, Mac};
use netburn_record::{Detail, EventKind, EventRow, LinkChange, LinkEvent, LinkRow, Row};
use netburn_units::{Duration, Instant};
use std::collections::VecDeque;

/// A link during a run.
///
/// **Call order:** pass samples ([`handle_sample`](Self::handle_sample), once a second), events and the
/// interface's counter in the order of their times. After each, and after [`handle_end`](Self::handle_end),
/// drain [`poll_row`](Self::poll_row).
#[derive(Debug, Clone)]
pub struct Link {
    stations: Vec<u16>,
    rows: VecDeque<Row>,
    bytes: Counter,
    bssid: Option<Mac>,
    outage: Option<Outage>,
    /// Start of the current scan.
    scan_since: Option<Instant>,
    /// Time since which the interface is missing, and its name.
    missing_since: Option<(Instant, String)>,
    first: Option<(LinkSample, Instant)>,
    last: Option<LinkSample>,
    rates: Rates,
}

/// Received bytes of the interface, and the time of their last increase.
#[derive(Debug, Clone, Copy, Default)]
struct Counter {
    value: Option<u64>,
    grew: Option<Instant>,
}

/// A lost or changed link, before the first byte afterwards.
#[derive(Debug, Clone, Copy)]
struct Outage {
    /// Time of its first event.
    first_event: Instant,
    /// Time of the last byte before it.
    since: Instant,
    from: Option<Mac>,
    /// Current access point; `None` if not connected.
    to: Option<Mac>,
    /// Time of the connection to it.
    reconnected_at: Option<Instant>,
    reason: Option<u16>,
}

/// Silence before the event from which the link counts as idle. The interruption then begins with the
/// event.
const IDLE_THRESHOLD: Duration = Duration::from_secs(1);
/// Silence after the reconnection from which the link counts as unused.
const QUIET_THRESHOLD: Duration = Duration::from_secs(2);

impl Link {
    /// Creates the link of these stations of the plan (usually one).
    #[must_use]
    pub fn new(stations: Vec<u16>) -> Link {
        Link {
            stations,
            rows: VecDeque::new(),
            bytes: Counter::default(),
            bssid: None,
            outage: None,
            scan_since: None,
            missing_since: None,
            first: None,
            last: None,
            rates: Rates::default(),
        }
    }

    /// Next row.
    pub fn poll_row(&mut self) -> Option<Row> {
        self.rows.pop_front()
    }

    /// Handles a sample.
    pub fn handle_sample(&mut self, now: Instant, sample: LinkSample) {
        let seen = sample.station.and_then(|station| station.mac);
        // Events can be lost, and some drivers send none.
        if self.outage.is_none() && seen.is_some() && self.bssid.is_some() && seen != self.bssid {
            self.moved(now, seen);
        }
        if self.outage.is_none() {
            self.bssid = seen.or(self.bssid);
        }
        let shares = self.shares(&sample);
        let base = row(&sample, shares);
        for &station in &self.stations {
            self.rows.push_back(Row::Link(LinkRow {
                station,
                at: now,
                ..base.clone()
            }));
        }
        if let Some(bps) = sample.station.and_then(|station| station.tx.bps)
            && let Some(collapse) = self.rates.sample(now, bps)
        {
            self.collapsed(collapse);
        }
        if self.first.is_none() && sample.station.is_some() {
            self.first = Some((sample.clone(), now));
        }
        self.last = Some(sample);
    }

    /// Handles an event.
    pub fn handle_event(&mut self, now: Instant, event: Event) {
        match event {
            Event::Disconnected { reason, .. } => {
                let outage = self.begin_outage(now);
                outage.to = None;
                outage.reconnected_at = None;
                outage.reason = outage.reason.or(reason);
            }
            Event::Roamed { bssid, .. } => self.moved(now, bssid),
            Event::Connected { bssid, status: 0, .. } => self.moved(now, bssid),
            Event::Connected { .. } => {}
            Event::Switched { channel, .. } => {
                let text = format!("its network moved to {}", channel_text(channel));
                self.event(now, 0, EventKind::Warning, text.into());
            }
            // A second start without an end: the first scan ended, and its event was lost.
            Event::ScanStarted { .. } => self.scan_since = Some(now),
            Event::ScanEnded { aborted, .. } => {
                self.scanned(
                    now,
                    if aborted {
                        "scanned; the scan was aborted"
                    } else {
                        "scanned"
                    },
                );
            }
        }
    }

    /// Handles the end of a scan whose start was seen.
    fn scanned(&mut self, now: Instant, text: &str) {
        if let Some(since) = self.scan_since.take() {
            let length = now.checked_since(since).map_or(0, Duration::as_nanos);
            let detail = link_event(LinkChange::Scanned { away: None }, text.to_owned());
            self.event(since, length, EventKind::Scan, detail);
        }
    }

    /// Handles the byte counter of the interface.
    pub fn handle_bytes(&mut self, now: Instant, received: u64) {
        let grew = self.bytes.value.is_some_and(|before| received > before);
        self.bytes.value = Some(received);
        if !grew {
            if let Some(Outage {
                reconnected_at: Some(reconnected_at),
                ..
            }) = self.outage
                && now
                    .checked_since(reconnected_at)
                    .is_some_and(|quiet| quiet >= QUIET_THRESHOLD)
            {
                self.restored(None);
            }
            return;
        }
        self.bytes.grew = Some(now);
        if self.outage.is_some_and(|outage| outage.reconnected_at.is_some()) {
            self.restored(Some(now));
        }
    }

    /// Handles the presence of the interface.
    pub fn handle_presence(&mut self, now: Instant, name: &str, present: bool) {
        match (&self.missing_since, present) {
            (None, false) => self.missing_since = Some((now, name.to_owned())),
            (Some(_), true) => self.returned(now, "was missing for a while"),
            _ => {}
        }
    }

    fn returned(&mut self, now: Instant, how: &str) {
        if let Some((since, name)) = self.missing_since.take() {
            let length = now.checked_since(since).map_or(0, Duration::as_nanos);
            self.event(
                since,
                length,
                EventKind::Warning,
                format!("its interface {name} {how}").into(),
            );
        }
    }

    /// Handles the end of the run.
    pub fn handle_end(&mut self, now: Instant) {
        if let Some(collapse) = self.rates.end() {
            self.collapsed(collapse);
        }
        self.scanned(now, "was scanning at the end");
        self.returned(now, "disappeared and was missing at the end");
        match self.outage {
            Some(Outage {
                reconnected_at: Some(_),
                ..
            }) => self.restored(None),
            Some(outage) => {
                let length = now.checked_since(outage.since).map_or(0, Duration::as_nanos);
                let text = format!(
                    "lost its network{} and was disconnected at the end",
                    reason_suffix(outage.reason)
                );
                let from = outage.from.map(|mac| mac.to_string());
                let detail = link_event(LinkChange::Disconnected { from }, text);
                self.event(outage.since, length, EventKind::Warning, detail);
            }
            None => {}
        }
        if let (Some((first, at)), Some(last)) = (&self.first, &self.last) {
            let changes = changes(first, last);
            if !changes.is_empty() {
                let text = format!("its link changed during the run: {}", changes.join("; "));
                let at = *at;
                let length = now.checked_since(at).map_or(0, Duration::as_nanos);
                self.event(at, length, EventKind::Warning, text.into());
            }
        }
    }

    /// Current interruption, or a new one.
    fn begin_outage(&mut self, now: Instant) -> &mut Outage {
        let idle = |grew: &Instant| now.checked_since(*grew).is_some_and(|idle| idle > IDLE_THRESHOLD);
        let since = self.bytes.grew.filter(|grew| !idle(grew)).unwrap_or(now);
        let from = self.bssid;
        self.outage.get_or_insert(Outage {
            first_event: now,
            since,
            from,
            to: None,
            reconnected_at: None,
            reason: None,
        })
    }

    /// Handles a connection to `to`.
    fn moved(&mut self, now: Instant, to: Option<Mac>) {
        let known = self.bssid;
        if known.is_none() && self.outage.is_none() {
            // The first connection, before the first sample.
            self.bssid = to;
            return;
        }
        let outage = self.begin_outage(now);
        outage.to = to.or(outage.to);
        outage.reconnected_at = Some(now);
    }

    /// Handles the end of an interruption: the first byte at `when`, or no traffic.
    fn restored(&mut self, when: Option<Instant>) {
        let Some(outage) = self.outage.take() else { return };
        // Without traffic the interruption lasts from the first event to the last.
        let (since, until) = match when {
            Some(when) => (outage.since, when),
            None => (outage.first_event, outage.reconnected_at.unwrap_or(outage.first_event)),
        };
        let length = until.checked_since(since).unwrap_or(Duration::ZERO);
        let felt = match when {
            Some(_) => format!("nothing arrived for {} ms", length.as_nanos() / 1_000_000),
            None => "there was no traffic".to_owned(),
        };
        let (from, to) = (outage.from, outage.to);
        self.bssid = to.or(from);
        let bssid = |mac: Option<Mac>| mac.map(|mac| mac.to_string());
        let name = |mac: Option<Mac>| bssid(mac).unwrap_or_else(|| "an access point".to_owned());
        if to.is_some() && to == from {
            let text = format!(
                "lost {}{} and reconnected to it; {felt}",
                name(from),
                reason_suffix(outage.reason)
            );
            let detail = link_event(LinkChange::Reconnected { to: bssid(to) }, text);
            self.event(since, length.as_nanos(), EventKind::Warning, detail);
        } else {
            let text = format!("moved from {} to {}; {felt}", name(from), name(to));
            let (from, to) = (bssid(from), bssid(to));
            let detail = link_event(LinkChange::Roamed { from, to }, text);
            self.event(since, length.as_nanos(), EventKind::Roam, detail);
        }
    }

    fn collapsed(&mut self, collapse: Collapse) {
        let length = collapse.until.checked_since(collapse.since).unwrap_or(Duration::ZERO);
        let text = format!(
            "its rate to the access point fell to {} Mbit/s (median {})",
            mbps(collapse.lowest),
            mbps(collapse.median)
        );
        self.event(collapse.since, length.as_nanos(), EventKind::Rate, text.into());
    }

    fn event(&mut self, at: Instant, length: u64, kind: EventKind, detail: Detail) {
        for &station in &self.stations {
            self.rows.push_back(Row::Event(EventRow {
                station: Some(station),
                workload: None,
                at,
                length,
                kind,
                detail: detail.clone(),
            }));
        }
    }

    /// Shares of the radio's time on the channel since the previous sample: busy, receiving, sending, in
    /// parts per million.
    fn shares(&self, sample: &LinkSample) -> [Option<u32>; 3] {
        let before = self.last.as_ref().and_then(|last| last.survey);
        let (Some(before), Some(now)) = (before, sample.survey) else {
            return [None; 3];
        };
        if before.frequency_mhz != now.frequency_mhz {
            return [None; 3];
        }
        let gain = |before: Option<u64>, now: Option<u64>| now?.checked_sub(before?);
        let active = gain(before.active_ms, now.active_ms).filter(|active| *active > 0);
        let share = |before, now| {
            let share = gain(before, now)?.min(active?) as u128 * 1_000_000 / u128::from(active?);
            u32::try_from(share).ok()
        };
        [
            share(before.busy_ms, now.busy_ms),
            share(before.receiving_ms, now.receiving_ms),
            share(before.sending_ms, now.sending_ms),
        ]
    }
}

fn link_event(change: LinkChange, text: String) -> Detail {
    LinkEvent { change, text }.into()
}
