//! Which changes are worth a try against which cause.

mod channels;
mod lines;

use netburn_medium::config::{LinkQuality, QueueKind, QueueLimit};
use netburn_network::Network;
use netburn_record::Summary;
use netburn_report::explain::{Cause, Kind};
use netburn_scenario::plan::{Ap, Joins};
use netburn_scenario::{Document, Environment, Plan, Station};
use netburn_units::BitRate;
use netburn_workload::Kind as Use;

/// A change that may help against a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// The cause that it is against.
    pub cause: Kind,
    /// What is different, in words.
    pub label: String,
    /// Keys and values, as `--set` takes them.
    pub set: Vec<(String, String)>,
    /// The plan with it.
    pub plan: Plan,
}

/// Changes, and the causes for which there are none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proposed {
    /// The changes, cause by cause.
    pub what_ifs: Vec<WhatIf>,
    /// Why the simulator has no change for a cause, each a sentence.
    pub without: Vec<String>,
}

/// By how much a station's signal grows that is brought nearer, in hundredths of a decibel: from the other end of a flat into the next room.
const NEARER: i32 = 2_000;
/// The strongest signal that bringing somebody nearer leads to.
const NEAREST: i32 = -5_000;
/// What a capped transfer may take of a line, in percent: enough below it that the queue stays empty.
const CAPPED: u64 = 80;
/// A short queue: 20 ms at the line's rate, and no less than ten packets.
const SHORT_MS: u64 = 20;
const TEN_PACKETS: u64 = 15_000;

/// Changes of `plan` against the causes that its run's figures suggest. Every one resolves and can be simulated; what can't is left out.
#[must_use]
pub fn what_ifs(plan: &Plan, summary: &Summary, causes: &[Cause]) -> Proposed {
    let mut proposed = Proposed::default();
    let Some(mut maker) = Maker::new(plan, summary) else {
        return proposed;
    };
    for cause in causes {
        match cause.kind {
            Kind::Generator => {
                let why = "What drove the stations can't be too slow in virtual time: the simulator has nothing to change about it.";
                proposed.without.push(why.to_owned());
            }
            Kind::Roaming => {
                let why = "The simulator doesn't move stations between access points: it can't say what a shorter gap brings.";
                proposed.without.push(why.to_owned());
            }
            Kind::Server => maker.server(),
            Kind::Adapter => maker.adapter(cause),
            Kind::SlowCochannel => maker.slow_cochannel(cause),
            Kind::FullBand => maker.full_band(cause),
            Kind::SlowNeighbour => maker.slow_neighbour(cause),
            Kind::UploadBloat => maker.upload_bloat(cause),
            Kind::DownloadBloat => maker.download_bloat(cause),
            Kind::SmallQueues => maker.small_queues(cause),
            Kind::WeakSignal => maker.weak_signal(cause),
            Kind::SlowLine => maker.slow_line(cause),
            Kind::LossyLine => maker.lossy_line(cause),
            Kind::DistantServer => maker.distant_server(cause),
        }
    }
    proposed.what_ifs = maker.made;
    proposed
}

/// Makes changes, each once.
struct Maker<'a> {
    plan: &'a Plan,
    summary: &'a Summary,
    document: Document,
    /// The radio that each station joined, as `home.5g`.
    joined: Vec<Option<String>>,
    made: Vec<WhatIf>,
}

impl<'a> Maker<'a> {
    fn new(plan: &'a Plan, summary: &'a Summary) -> Option<Self> {
        let network = Network::<()>::new(plan).ok()?;
        let stations = 0..u16::try_from(plan.stations.len()).ok()?;
        Some(Maker {
            plan,
            summary,
            document: Document::from_json(&plan.to_json()),
            joined: stations.map(|station| network.joined(station)).collect(),
            made: Vec::new(),
        })
    }

    fn server(&mut self) {
        let rate = self.plan.server.link.rate.unwrap_or(BitRate::from_mbps(1_000));
        let more = written(rate.as_bps().saturating_mul(10));
        self.offer(
            Kind::Server,
            format!("the server has ten times the link, {more}"),
            &[("server.link.rate", &more)],
        );
    }

    fn adapter(&mut self, cause: &Cause) {
        for name in &cause.by {
            let label = format!("{name} has an adapter that moves 1 Gbit/s");
            self.offer(
                Kind::Adapter,
                label,
                &[(&format!("station.{name}.adapter_rate"), "1000 Mbit/s")],
            );
        }
    }

    fn full_band(&mut self, cause: &Cause) {
        let Some((ap, radio)) = cause.stations.first().and_then(|name| self.place(name)) else {
            return;
        };
        let key = format!("ap.{}.radio.{radio}.channel_busy", ap.name);
        self.offer(
            Kind::FullBand,
            format!("{}.{radio} is on a channel that nobody else uses", ap.name),
            &[(&key, "0 %")],
        );
        let now = ap.radios.iter().find(|known| known.name.to_string() == radio);
        if let Some(now) = now.filter(|radio| radio.channel_busy.as_ppb() > 0) {
            let half = format!("{} %", f64::from(now.channel_busy.as_ppb()) / 2e7);
            self.offer(
                Kind::FullBand,
                format!("{}.{radio} is on a channel of which others take half as much", ap.name),
                &[(&key, &half)],
            );
        }
        // Whoever takes most leaves most behind.
        let here = format!("{}.{radio}", ap.name);
        if let Some(most) = self.busiest(&here) {
            self.elsewhere(Kind::FullBand, &most);
        }
        self.queue(Kind::FullBand, ap);
    }

    fn slow_neighbour(&mut self, cause: &Cause) {
        for name in &cause.by {
            if let Some((ap, _)) = self.place(name) {
                self.queue(Kind::SlowNeighbour, ap);
            }
            self.elsewhere(Kind::SlowNeighbour, name);
            self.nearer(Kind::SlowNeighbour, name);
            self.capped(Kind::SlowNeighbour, name, None);
        }
    }

    fn upload_bloat(&mut self, cause: &Cause) {
        let uploads = cause.by.len() as u64;
        for name in &cause.by {
            let Some(station) = self.plan.station(name) else {
                continue;
            };
            let line = match (&station.link, self.place(name)) {
                (Some(link), _) => Some((format!("station.{name}.link.queue"), link.up)),
                (None, Some((ap, _))) => ap
                    .wan
                    .and_then(|wan| Some((format!("ap.{}.wan.queue", ap.name), wan.up?))),
                (None, None) => None,
            };
            if let Some((key, rate)) = &line {
                self.short_queue(Kind::UploadBloat, key, *rate);
            }
            if station.link.is_none() {
                let most = line.map(|(_, rate)| rate.as_bps() * CAPPED / 100 / uploads.max(1));
                self.capped_up(name, most);
            }
            self.offer(
                Kind::UploadBloat,
                format!("{name} sends with BBR"),
                &[(&format!("station.{name}.cc"), "bbr")],
            );
        }
    }

    fn download_bloat(&mut self, cause: &Cause) {
        for name in &cause.by {
            let Some((ap, _)) = self.place(name) else { continue };
            let line = ap.wan.and_then(|wan| wan.down);
            if let Some(rate) = line {
                self.short_queue(Kind::DownloadBloat, &format!("ap.{}.wan.queue", ap.name), rate);
            }
            self.queue(Kind::DownloadBloat, ap);
            self.elsewhere(Kind::DownloadBloat, name);
            let share = line.map(|rate| rate.as_bps() * CAPPED / 100 / cause.by.len().max(1) as u64);
            self.capped(Kind::DownloadBloat, name, share);
        }
    }

    fn small_queues(&mut self, cause: &Cause) {
        for name in &cause.by {
            let key = format!("station.{name}.tsq");
            for (value, label) in [
                ("2018", "has TCP Small Queues as Linux 4.16 had them over Wi-Fi, 4 ms"),
                ("2025", "has TCP Small Queues as Linux has them today over Wi-Fi, 8 ms"),
                ("off", "has no limit on what waits below TCP"),
            ] {
                self.offer(Kind::SmallQueues, format!("{name} {label}"), &[(&key, value)]);
            }
        }
    }

    /// Another queue at an access point: fair airtime, or a bound on what its hardware takes where it has that.
    fn queue(&mut self, cause: Kind, ap: &Ap) {
        let name = &ap.name;
        if ap.queue != QueueKind::Airtime {
            let set = format!("ap.{name}.queue");
            let label = format!("{name} has a queue for each flow and shares its airtime");
            // What a queue usually holds is another thing for another queue; what was chosen stays.
            let limit =
                (ap.queue_limit == ap.queue.default_limit()).then(|| match QueueKind::Airtime.default_limit() {
                    QueueLimit::Packets(most) => (format!("ap.{name}.queue_limit"), format!("{most} packets")),
                    QueueLimit::Bytes(most) => (format!("ap.{name}.queue_limit"), most.to_string()),
                });
            self.offer_with(cause, label, &[(&set, "airtime")], limit.as_slice());
        } else if ap.aql.is_none() {
            let label = format!("{name} bounds the airtime that its hardware takes ahead");
            self.offer(cause, label, &[(&format!("ap.{name}.aql"), "true")]);
        }
    }

    /// The station on each other radio of its access point.
    fn elsewhere(&mut self, cause: Kind, name: &str) {
        let Some((ap, radio)) = self.place(name) else { return };
        let mut others: Vec<String> = ap.radios.iter().map(|radio| radio.name.to_string()).collect();
        if ap.rating.is_some() {
            others.extend(["2g", "5g", "6g"].map(str::to_owned));
        }
        others.retain(|other| *other != radio);
        others.sort();
        others.dedup();
        for other in others {
            let to = format!("{}.{other}", ap.name);
            let set = format!("station.{name}.joins");
            self.offer(cause, format!("{name} joins {to}"), &[(&set, &to)]);
        }
    }

    fn nearer(&mut self, cause: Kind, name: &str) {
        let signal = match self.plan.station(name).and_then(|station| station.air.quality) {
            Some(LinkQuality::Signal(signal)) if signal.as_hundredths() < NEAREST => signal.as_hundredths(),
            _ => return,
        };
        let to = format!("{} dBm", f64::from((signal + NEARER).min(NEAREST)) / 100.0);
        let label = format!("{name} is brought nearer, to {to}");
        self.offer(cause, label, &[(&format!("station.{name}.signal"), &to)]);
    }

    /// Its adapter takes no more downwards than `most` bit/s, or half of what it had.
    fn capped(&mut self, cause: Kind, name: &str, most: Option<u64>) {
        let Some(to) = most.or_else(|| self.half(name)).map(written) else {
            return;
        };
        let Some(station) = self.plan.station(name) else { return };
        let value = limits(station, None, Some(&to));
        let label = format!("{name} takes no more than {to}");
        self.offer(cause, label, &[(&format!("station.{name}.adapter_rate"), &value)]);
    }

    fn capped_up(&mut self, name: &str, most: Option<u64>) {
        let Some(to) = most.or_else(|| self.half(name)).map(written) else {
            return;
        };
        let Some(station) = self.plan.station(name) else { return };
        let value = limits(station, Some(&to), None);
        let label = format!("{name} sends no more than {to}");
        self.offer(
            Kind::UploadBloat,
            label,
            &[(&format!("station.{name}.adapter_rate"), &value)],
        );
    }

    fn short_queue(&mut self, cause: Kind, key: &str, rate: BitRate) {
        let bytes = (rate.as_bps() * SHORT_MS / 8_000).max(TEN_PACKETS);
        let label = format!(
            "the line's queue holds {:.0} ms and no more",
            bytes as f64 * 8e3 / rate.as_bps() as f64
        );
        self.offer(cause, label, &[(key, &format!("{bytes} B"))]);
    }

    /// Half of what a station moved, in bit/s.
    fn half(&self, name: &str) -> Option<u64> {
        let station = self.summary.stations.iter().find(|station| station.name == name)?;
        let half = (station.throughput_mbps * 5e5) as u64;
        (half >= 100_000).then_some(half)
    }

    /// Of those on a radio, the one with a download or upload that moved most, else the one that moved most.
    fn busiest(&self, radio: &str) -> Option<String> {
        let here = self.plan.stations.iter().zip(&self.joined);
        let here = here
            .filter(|(_, joined)| joined.as_deref() == Some(radio))
            .map(|(station, _)| station);
        let moved = |station: &&Station| {
            let known = self.summary.stations.iter().find(|known| known.name == station.name);
            let bulk = station
                .workloads
                .iter()
                .any(|w| matches!(w.config.kind, Use::Download | Use::Upload));
            (bulk, known.map_or(0, |known| (known.throughput_mbps * 1e3) as u64))
        };
        here.max_by_key(moved).map(|station| station.name.clone())
    }

    /// A station's access point, and the name of its radio there.
    fn place(&self, name: &str) -> Option<(&'a Ap, String)> {
        let index = self.plan.stations.iter().position(|station| station.name == name)?;
        let (ap, radio) = self.joined[index].as_ref()?.split_once('.')?;
        let ap = self.plan.aps.iter().find(|known| known.name == ap)?;
        Some((ap, radio.to_owned()))
    }

    fn offer(&mut self, cause: Kind, label: String, set: &[(&str, &str)]) {
        self.offer_with(cause, label, set, &[]);
    }

    /// Takes a change if it changes anything, can be simulated, and isn't there yet. `also` is set only here: in the file of the
    /// scenario it follows.
    fn offer_with(&mut self, cause: Kind, label: String, set: &[(&str, &str)], also: &[(String, String)]) {
        let mut document = self.document.clone();
        let also = also.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        for (key, value) in set.iter().copied().chain(also) {
            if document.set(key, value).is_err() {
                return;
            }
        }
        let Ok((plan, _)) = document.resolve_for(Environment::Simulate) else {
            return;
        };
        let known = self.made.iter().any(|made| made.plan == plan);
        if known || plan == *self.plan || Network::<()>::new(&plan).is_err() || self.joins_nobody(&plan) {
            return;
        }
        self.made.push(WhatIf {
            cause,
            label,
            set: set
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            plan,
        });
    }

    /// Whether somebody who had a place on the air would have none.
    fn joins_nobody(&self, plan: &Plan) -> bool {
        let placed = |station: &Station| matches!(station.air.joins, Some(Joins::Radio(_) | Joins::Network(_)));
        let stations = self.plan.stations.iter().zip(&plan.stations);
        stations
            .into_iter()
            .any(|(before, after)| placed(before) && !placed(after))
    }
}

/// A limit as it is written: what is known of the other way and of transfers stays.
fn limits(station: &Station, up: Option<&str>, down: Option<&str>) -> String {
    let known = &station.air.adapter_rate;
    let rate = |new: Option<&str>, old: Option<BitRate>| {
        new.map(str::to_owned)
            .or_else(|| old.map(|rate| written(rate.as_bps())))
    };
    let mut keys = Vec::new();
    keys.extend(rate(up, known.up).map(|rate| format!("up = \"{rate}\"")));
    keys.extend(rate(down, known.down).map(|rate| format!("down = \"{rate}\"")));
    keys.extend(known.transfer.map(|packets| format!("transfer = {packets}")));
    format!("{{ {} }}", keys.join(", "))
}

/// A rate as scenarios have it: in tenths of a Mbit/s, below one in kbit/s.
fn written(bps: u64) -> String {
    match bps / 100_000 {
        0..10 => format!("{} kbit/s", (bps / 1_000).max(1)),
        tenths if tenths % 10 == 0 => format!("{} Mbit/s", tenths / 10),
        tenths => format!("{}.{} Mbit/s", tenths / 10, tenths % 10),
    }
}

#[cfg(test)]
mod tests;
