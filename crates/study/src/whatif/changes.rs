//! Proposed changes for each kind of cause.

mod backhaul;
mod channels;
mod lines;
mod others;
mod roaming;
mod same;

use netburn_analysis::explain::{Cause, Kind};
use netburn_medium::config::{LinkQuality, QueueLimit};
use netburn_medium::queue::QueueKind;
use netburn_network::{Network, PlannedNetwork};
use netburn_record::Summary;
use netburn_scenario::plan::{Ap, Device, Joins, Line};
use netburn_scenario::{Document, Environment, Plan, Station};
use netburn_units::{BitRate, ByteSize};

/// A change that may remove a cause.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// Kind of cause.
    pub cause: Kind,
    /// Description of the change.
    pub label: String,
    /// Keys and values for `--set`.
    pub set: Vec<(String, String)>,
    /// The changed plan.
    pub plan: Plan,
}

/// Proposed changes, and the causes without one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interventions {
    /// Changes, in the order of the causes.
    pub what_ifs: Vec<WhatIf>,
    /// Reasons why the simulator has no change for a cause, one sentence each.
    pub not_simulated: Vec<String>,
}

/// Increase of the signal of a station that moves closer, in hundredths of a decibel. The move is from the other end of
/// a flat into the next room.
const SIGNAL_GAIN: i32 = 2_000;
/// Maximum signal of a station that moves closer, in hundredths of a dBm.
const MAX_SIGNAL: i32 = -5_000;
/// Rate of a capped transfer in percent of the link's rate, low enough to keep the queue empty.
const CAP_PERCENT: u64 = 80;
/// Capacity of a short queue in ms at the link's rate.
const SHORT_QUEUE_MS: u64 = 20;
/// Minimum capacity of a short queue: ten packets.
const MIN_QUEUE_BYTES: u64 = 15_000;

/// Proposes changes of `plan` for the causes in its run. Every proposed plan can be simulated.
#[must_use]
pub fn what_ifs(plan: &Plan, summary: &Summary, causes: &[Cause]) -> Interventions {
    let mut interventions = Interventions::default();
    let Some(mut builder) = InterventionBuilder::new(plan, summary) else {
        return interventions;
    };
    for cause in causes {
        match cause.kind {
            Kind::Generator => {
                let why =
                    "Simulated time cannot show a slow test machine, so the simulator has no change for this cause.";
                interventions.not_simulated.push(why.to_owned());
            }
            Kind::Roaming => {
                if !builder.roaming(cause) {
                    let why = "The scenario has no `roaming` for this station, so the simulator has no change for this cause.";
                    interventions.not_simulated.push(why.to_owned());
                }
            }
            Kind::Server => builder.server(),
            Kind::Adapter => builder.adapter(cause),
            Kind::SlowCochannel => builder.slow_cochannel(cause),
            Kind::FullBand => builder.full_band(cause),
            Kind::Backhaul => builder.backhaul(cause),
            Kind::SlowNeighbour => builder.slow_neighbour(cause),
            Kind::UploadBloat => builder.upload_bloat(cause),
            Kind::DownloadBloat => builder.download_bloat(cause),
            Kind::SmallQueues => builder.small_queues(cause),
            Kind::WeakSignal => builder.weak_signal(cause),
            Kind::SlowLine => builder.slow_line(Kind::SlowLine, cause),
            Kind::PowerSave => builder.power_save(cause),
            Kind::Scans => builder.scans(cause),
            Kind::ApScans => builder.access_point_scans(),
            Kind::Policer => builder.policer(),
            Kind::Shaper => builder.wrong_shaper(),
            Kind::Router => builder.router(),
            Kind::OwnChannel => builder.own_channel(cause),
            Kind::FairShare => builder.fair_share(cause),
            Kind::Traffic => builder.traffic(cause),
            Kind::Outage => {
                let why = "No change in the house prevents an outage of the internet line.";
                interventions.not_simulated.push(why.to_owned());
            }
            Kind::LossyLine => builder.lossy_line(cause),
            Kind::DistantServer => builder.distant_server(cause),
            Kind::WifiDelay => builder.wifi_delay(cause),
            Kind::LineDown | Kind::LineUp => builder.delayed_line(cause),
            Kind::Device => builder.device(cause),
            Kind::RemoteServer => {
                let sentence = "The simulator does not model delays beyond the internet line.";
                interventions.not_simulated.push(sentence.to_owned());
            }
        }
    }
    interventions.what_ifs = builder.proposed;
    interventions
}

/// Builds changes without duplicates.
struct InterventionBuilder<'a> {
    plan: &'a Plan,
    summary: &'a Summary,
    document: Document,
    /// Radio of each station, as `home.5g`.
    joined: Vec<Option<String>>,
    /// Access points with a wireless backhaul, each with its parent.
    parents: Vec<(usize, usize)>,
    proposed: Vec<WhatIf>,
}

impl<'a> InterventionBuilder<'a> {
    fn new(plan: &'a Plan, summary: &'a Summary) -> Option<Self> {
        let network = PlannedNetwork::new(plan).ok()?;
        let joined = network.associations.radios.iter();
        Some(InterventionBuilder {
            plan,
            summary,
            document: Document::from_json(&plan.to_json()),
            joined: joined.map(|radio| Some(radio.as_ref()?.to_string())).collect(),
            parents: network.backhaul_hops.iter().map(|hop| (hop.ap, hop.parent)).collect(),
            proposed: Vec::new(),
        })
    }

    fn server(&mut self) {
        let rate = self.plan.server.link.rate.unwrap_or(BitRate::from_mbps(1_000));
        let more = written(rate.as_bps().saturating_mul(10));
        self.propose(
            Kind::Server,
            format!("the server's link has ten times its rate, {more}"),
            &[("server.link.rate", &more)],
        );
    }

    fn adapter(&mut self, cause: &Cause) {
        for name in &cause.by {
            let label = format!("{name} has an adapter with 1 Gbit/s");
            self.propose(
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
        self.propose(
            Kind::FullBand,
            format!("{}.{radio} is on a channel without other networks", ap.name),
            &[(&key, "0 %")],
        );
        let now = ap.radios.iter().find(|known| known.name.to_string() == radio);
        if let Some(now) = now.filter(|radio| radio.channel_busy.as_ppb() > 0) {
            let half = format!("{} %", f64::from(now.channel_busy.as_ppb()) / 2e7);
            self.propose(
                Kind::FullBand,
                format!(
                    "{}.{radio} is on a channel where other networks use half as much airtime",
                    ap.name
                ),
                &[(&key, &half)],
            );
        }
        // Moving the busiest station frees the most airtime.
        let here = format!("{}.{radio}", ap.name);
        if let Some(most) = self.busiest(&here) {
            self.other_radio(Kind::FullBand, &most);
        }
        self.queue(Kind::FullBand, ap);
    }

    fn slow_neighbour(&mut self, cause: &Cause) {
        for name in &cause.by {
            if let Some((ap, _)) = self.place(name) {
                self.queue(Kind::SlowNeighbour, ap);
            }
            self.other_radio(Kind::SlowNeighbour, name);
            self.stronger_signal(Kind::SlowNeighbour, name);
            self.capped(Kind::SlowNeighbour, name, None);
        }
    }

    fn upload_bloat(&mut self, cause: &Cause) {
        let uploads = cause.by.len() as u64;
        for name in &cause.by {
            let Some(station) = self.plan.station(name) else {
                continue;
            };
            let line = self.line_of(name);
            match (&line, &station.link) {
                (Some(line), _) => {
                    self.short_line_queue(Kind::UploadBloat, line);
                    self.sqm(Kind::UploadBloat, line);
                }
                (None, Some(link)) => {
                    self.short_queue(
                        Kind::UploadBloat,
                        &format!("station.{name}.link.queue"),
                        link.up,
                        link.queue,
                    );
                }
                (None, None) => {}
            }
            let rate = line.and_then(|line| line.wan.up);
            if rate.is_some() || station.link.is_none() {
                let max = rate.map(|rate| rate.as_bps() * CAP_PERCENT / 100 / uploads.max(1));
                self.capped_up(Kind::UploadBloat, name, max);
            }
            self.propose(
                Kind::UploadBloat,
                format!("{name} uses BBR"),
                &[(&format!("station.{name}.cc"), "bbr")],
            );
        }
    }

    fn download_bloat(&mut self, cause: &Cause) {
        for name in &cause.by {
            let at_line = self.line_of(name);
            let line = at_line.as_ref().and_then(|line| line.wan.down);
            if let Some(at_line) = &at_line {
                self.short_line_queue(Kind::DownloadBloat, at_line);
                self.sqm(Kind::DownloadBloat, at_line);
            }
            // The rest is about Wi-Fi.
            let Some((ap, _)) = self.place(name) else { continue };
            self.queue(Kind::DownloadBloat, ap);
            self.other_radio(Kind::DownloadBloat, name);
            let share = line.map(|rate| rate.as_bps() * CAP_PERCENT / 100 / cause.by.len().max(1) as u64);
            self.capped(Kind::DownloadBloat, name, share);
        }
    }

    fn wifi_delay(&mut self, cause: &Cause) {
        for name in &cause.by {
            if let Some((ap, _)) = self.place(name) {
                self.queue(Kind::WifiDelay, ap);
            }
            self.other_radio(Kind::WifiDelay, name);
            self.capped(Kind::WifiDelay, name, None);
        }
    }

    /// Proposes a queue for each flow in the station, and TCP Small Queues.
    fn device(&mut self, cause: &Cause) {
        for name in &cause.by {
            let label = format!("{name} has a queue for each flow (FQ-CoDel)");
            self.propose(Kind::Device, label, &[(&format!("station.{name}.queue"), "fq-codel")]);
            let label = format!("{name} uses TCP Small Queues as in current Linux over Wi-Fi (8 ms)");
            self.propose(Kind::Device, label, &[(&format!("station.{name}.tsq"), "2025")]);
        }
    }

    fn small_queues(&mut self, cause: &Cause) {
        for name in &cause.by {
            let key = format!("station.{name}.tsq");
            for (value, label) in [
                ("2018", "uses TCP Small Queues as in Linux 4.16 over Wi-Fi (4 ms)"),
                ("2025", "uses TCP Small Queues as in current Linux over Wi-Fi (8 ms)"),
                ("off", "has no limit on data below TCP"),
            ] {
                self.propose(Kind::SmallQueues, format!("{name} {label}"), &[(&key, value)]);
            }
        }
    }

    /// Proposes airtime fairness at an access point or, if it has that, airtime queue limits.
    fn queue(&mut self, cause: Kind, ap: &Ap) {
        let name = &ap.name;
        if !ap.queue.properties().shares_airtime {
            let set = format!("ap.{name}.queue");
            let label = format!("{name} uses FQ-CoDel per station and airtime fairness");
            // A default capacity changes with the queue discipline. An explicit capacity stays.
            let limit =
                (ap.queue_limit == ap.queue.default_limit()).then(|| match QueueKind::Airtime.default_limit() {
                    QueueLimit::Packets(most) => (format!("ap.{name}.queue_limit"), format!("{most} packets")),
                    QueueLimit::Bytes(most) => (format!("ap.{name}.queue_limit"), most.to_string()),
                });
            self.propose_with(cause, label, &[(&set, "airtime")], limit.as_slice());
        } else if ap.aql.is_none() {
            let label = format!("{name} uses airtime queue limits (AQL)");
            self.propose(cause, label, &[(&format!("ap.{name}.aql"), "true")]);
        }
    }

    /// Proposes each other radio of the station's access point.
    fn other_radio(&mut self, cause: Kind, name: &str) {
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
            self.propose(cause, format!("{name} joins {to}"), &[(&set, &to)]);
        }
    }

    fn stronger_signal(&mut self, cause: Kind, name: &str) {
        let signal = match self.plan.station(name).and_then(|station| station.air.quality) {
            Some(LinkQuality::Signal(signal)) if signal.as_hundredths() < MAX_SIGNAL => signal.as_hundredths(),
            _ => return,
        };
        let to = format!("{} dBm", f64::from((signal + SIGNAL_GAIN).min(MAX_SIGNAL)) / 100.0);
        let label = format!("{name} moves closer, to {to}");
        self.propose(cause, label, &[(&format!("station.{name}.signal"), &to)]);
    }

    /// Proposes a cap on the downlink of `max` bit/s, or half of its measured throughput.
    fn capped(&mut self, cause: Kind, name: &str, max: Option<u64>) {
        let Some(to) = max.or_else(|| self.half(name)).map(written) else {
            return;
        };
        let Some(station) = self.plan.station(name) else { return };
        let value = limits(station, None, Some(&to));
        let label = format!("{name} receives at most {to}");
        self.propose(cause, label, &[(&format!("station.{name}.adapter_rate"), &value)]);
    }

    fn capped_up(&mut self, cause: Kind, name: &str, max: Option<u64>) {
        let Some(to) = max.or_else(|| self.half(name)).map(written) else {
            return;
        };
        let Some(station) = self.plan.station(name) else { return };
        let label = format!("{name} sends at most {to}");
        if station.link.is_some() {
            // `--set` accepts this key for `wired` too. Packets above the limit of a cable wait in the station itself.
            return self.propose(cause, label, &[(&format!("station.{name}.link.up"), &to)]);
        }
        let value = limits(station, Some(&to), None);
        self.propose(cause, label, &[(&format!("station.{name}.adapter_rate"), &value)]);
    }

    /// Proposes a queue that is shorter than the present one.
    fn short_queue(&mut self, cause: Kind, key: &str, rate: BitRate, present: Option<ByteSize>) {
        let bytes = (rate.as_bps() * SHORT_QUEUE_MS / 8_000).max(MIN_QUEUE_BYTES);
        if present.is_some_and(|present| present.as_bytes() <= bytes) {
            return;
        }
        let label = format!(
            "the link's queue is limited to {:.0} ms",
            bytes as f64 * 8e3 / rate.as_bps() as f64
        );
        self.propose(cause, label, &[(key, &format!("{bytes} B"))]);
    }

    /// Half of a station's throughput in bit/s.
    fn half(&self, name: &str) -> Option<u64> {
        let station = self.summary.stations.iter().find(|station| station.name == name)?;
        let half = (station.throughput_mbps * 5e5) as u64;
        (half >= 100_000).then_some(half)
    }

    /// Returns the station on a radio with the highest throughput; stations with a download or upload rank first.
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
                .any(|workload| workload.config.bulk().is_some());
            (bulk, known.map_or(0, |known| (known.throughput_mbps * 1e3) as u64))
        };
        here.max_by_key(moved).map(|station| station.name.clone())
    }

    /// Returns the access point of a station and the name of its radio.
    fn place(&self, name: &str) -> Option<(&'a Ap, String)> {
        let index = self.plan.stations.iter().position(|station| station.name == name)?;
        let (ap, radio) = self.joined[index].as_ref()?.split_once('.')?;
        let ap = self.plan.aps.iter().find(|known| known.name == ap)?;
        Some((ap, radio.to_owned()))
    }

    /// Returns the WAN link that the packets of a station pass: that of the router behind the access point at the wire.
    fn line_of(&self, name: &str) -> Option<Line<'a>> {
        let Some((ap, _)) = self.place(name) else {
            return self.plan.line_of(self.plan.station(name)?);
        };
        let mut number = self.plan.aps.iter().position(|known| known.name == ap.name)?;
        for _ in 0..self.plan.aps.len() {
            match self.parents.iter().find(|(unit, _)| *unit == number) {
                Some((_, parent)) => number = *parent,
                None => break,
            }
        }
        let router = self.plan.router_behind(Device::Ap(number))?;
        self.plan.lines().into_iter().find(|line| line.router == router)
    }

    fn propose(&mut self, cause: Kind, label: String, set: &[(&str, &str)]) {
        self.propose_with(cause, label, set, &[]);
    }

    /// Adds a change if it differs from the plan, can be simulated, and is not a duplicate. `also` is not part of the shown settings,
    /// because in a scenario file it follows from them.
    fn propose_with(&mut self, cause: Kind, label: String, set: &[(&str, &str)], also: &[(String, String)]) {
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
        let known = self.proposed.iter().any(|known| same::is_same(&known.plan, &plan));
        if known || same::is_same(&plan, self.plan) || Network::<()>::new(&plan).is_err() || self.loses_network(&plan) {
            return;
        }
        self.proposed.push(WhatIf {
            cause,
            label,
            set: set
                .iter()
                .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
                .collect(),
            plan,
        });
    }

    /// Returns `true` if a station would lose its network.
    fn loses_network(&self, plan: &Plan) -> bool {
        let placed = |station: &Station| matches!(station.air.joins, Some(Joins::Radio(_) | Joins::Network(_)));
        let stations = self.plan.stations.iter().zip(&plan.stations);
        stations
            .into_iter()
            .any(|(before, after)| placed(before) && !placed(after))
    }
}

/// Formats `adapter_rate` with new limits. The limits of the other direction and of transfers stay.
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

/// Formats a rate for a scenario: in tenths of a Mbit/s, below 1 Mbit/s in kbit/s.
fn written(bps: u64) -> String {
    match bps / 100_000 {
        0..10 => format!("{} kbit/s", (bps / 1_000).max(1)),
        tenths if tenths % 10 == 0 => format!("{} Mbit/s", tenths / 10),
        tenths => format!("{}.{} Mbit/s", tenths / 10, tenths % 10),
    }
}

#[cfg(test)]
mod tests;
