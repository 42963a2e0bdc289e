//! Readable summary of a plan.

use crate::environment::Environment;
use crate::house::{Associations, at_signal, wan_rates};
use crate::plan::{Ap, Joins, Plan, Port, RadioName, Router, Station, StationLink, Wan};
use netburn_medium::config::{LinkQuality, RadioConfig};
use netburn_medium::queue::QueueKind;
use netburn_units::ByteSize;
use netburn_workload::config::{Activity, GAP};
use netburn_workload::{Config, Direction, Goal, Kind};

impl Plan {
    /// Returns the plan as lines of text: network, stations, workloads, goals, expected traffic on `environment`, and
    /// assumptions.
    #[must_use]
    pub fn describe(&self, environment: Environment) -> Vec<String> {
        self.describe_with(environment, &Associations::default())
    }

    /// Returns the same lines with what the network of the plan selects: radios and parents.
    #[must_use]
    pub fn describe_with(&self, environment: Environment, found: &Associations) -> Vec<String> {
        let mut lines = vec![match &self.title {
            Some(title) => format!("{}: {title}", self.name),
            None => self.name.clone(),
        }];
        lines.extend(
            self.question
                .iter()
                .flat_map(|text| text.lines())
                .map(|line| format!("  {line}")),
        );
        lines.push(String::new());
        lines.push(self.times());
        lines.push(self.server_line(environment));
        if environment.models_air() {
            lines.extend(self.aps.iter().flat_map(ap));
            for network in &self.networks {
                let radios: Vec<String> = network.radios.iter().map(ToString::to_string).collect();
                lines.push(format!("network {}: {}", network.name, radios.join(", ")));
            }
            if let Some(router) = &self.router {
                lines.extend(self::router(router));
            }
            let house = self.house(found);
            if !house.is_empty() {
                lines.push(String::new());
                lines.extend(house);
            }
        }
        lines.push(String::new());
        for (index, shown) in self.stations.iter().enumerate() {
            lines.extend(station(self, shown, environment, &at_signal(&found.signals, index)));
        }
        if environment.models_air() {
            for change in &self.changes {
                let settings: Vec<String> = change.settings.iter().map(ToString::to_string).collect();
                lines.push(format!("after {}: {}", change.time, settings.join(", ")));
            }
        }
        lines.push(String::new());
        lines.push(self.bytes_line(environment));
        lines.extend(self.assumptions.iter().map(|text| format!("assumption: {text}")));
        lines.extend(self.notes_on(environment).iter().map(|text| format!("note: {text}")));
        lines
    }

    fn times(&self) -> String {
        let mut text = format!("{} of load", self.duration);
        if !self.warmup.is_zero() {
            text.push_str(&format!(", the first {} not evaluated", self.warmup));
        }
        text.push_str(&format!(
            ", after {} of idle latency measurement; then up to {} to finish",
            self.baseline, self.drain
        ));
        match self.repeat {
            1 => text.push_str(&format!("; seed {}", self.seed.0)),
            times => text.push_str(&format!("; {times} runs, seeds from {}", self.seed.0)),
        }
        text
    }

    fn server_line(&self, environment: Environment) -> String {
        let mut text = format!("server: HTTP/{}", self.server.http.name());
        text.push_str(if self.server.tls { " over TLS" } else { "" });
        match (self.server.link.rate, environment) {
            (Some(rate), _) => text.push_str(&format!(", {rate}")),
            (None, Environment::Local) => text.push_str(", capped at 1 Gbit/s"),
            (None, _) => {}
        }
        let link = &self.server.link;
        if !link.delay.is_zero() {
            text.push_str(&format!(", {} one-way delay", link.delay));
        }
        if link.loss.as_ppb() > 0 {
            text.push_str(&format!(", {} loss", link.loss));
        }
        if let Some(cc) = &self.server.cc {
            text.push_str(&format!(", {cc}"));
        }
        text
    }

    fn bytes_line(&self, environment: Environment) -> String {
        let bytes = self.bytes_expected(environment);
        let label = if environment == Environment::Simulate {
            "simulated traffic:"
        } else {
            "expected traffic:"
        };
        match bytes.max {
            Some(most) if most == bytes.scheduled => format!("{label} about {}", decimal(most)),
            Some(most) => format!("{label} {} to {}", decimal(bytes.scheduled), decimal(most)),
            None => format!(
                "{label} {}, plus unthrottled workloads at the rate of the network",
                decimal(bytes.scheduled)
            ),
        }
    }
}

fn ap(ap: &Ap) -> Vec<String> {
    let mut line = format!("access point {}:", ap.name);
    if let Some(rating) = ap.rating {
        line.push_str(&format!(" {rating} (radios from the rating),"));
    }
    line.push_str(&format!(" {} queue", ap.queue.name()));
    if let Some(rate) = ap.forwarding {
        line.push_str(&format!(", forwards up to {rate}"));
    }
    let mut lines = vec![line];
    match ap.all_radios() {
        Ok(radios) => lines.extend(radios.iter().map(|(name, config)| radio(*name, config))),
        Err(error) => lines.push(format!("  radios not known: {error}")),
    }
    lines.extend(ap.wan.as_ref().map(wan));
    lines
}

fn radio(name: RadioName, config: &RadioConfig) -> String {
    let mut text = format!(
        "  radio {name}: {}, channel {}, {} MHz, {} stream{}",
        config.standard.name(),
        config.channel,
        config.width.as_mhz(),
        config.streams,
        if config.streams == 1 { "" } else { "s" }
    );
    if config.channel_busy.as_ppb() > 0 {
        text.push_str(&format!(", {} used by other networks", config.channel_busy));
    }
    text
}

fn router(router: &Router) -> Vec<String> {
    let mut line = "router".to_owned();
    if let Some(rate) = router.forwarding {
        line.push_str(&format!(": forwards up to {rate}"));
    }
    std::iter::once(line).chain(router.wan.as_ref().map(wan)).collect()
}

fn wan(wan: &Wan) -> String {
    let mut text = format!("  WAN link:{}", wan_rates(wan));
    if !wan.delay.is_zero() {
        text.push_str(&format!(", {} one-way delay", wan.delay));
    }
    if wan.loss.as_ppb() > 0 {
        text.push_str(&format!(", {} loss", wan.loss));
    }
    let queues = [Direction::Down, Direction::Up].map(|direction| (direction, wan.queue_in(direction)));
    match queues {
        [(_, Some(down)), (_, Some(up))] if down == up => text.push_str(&format!(", queue of {down}")),
        queues => {
            for (direction, queue) in queues {
                if let Some(queue) = queue {
                    text.push_str(&format!(", queue of {queue} {}", direction.key()));
                }
            }
        }
    }
    if let Some(framing) = wan.framing {
        text.push_str(&format!(", framing of {}", framing.name()));
    }
    for (way, policer) in [("down", wan.policer_down), ("up", wan.policer_up)] {
        if let Some(policer) = policer {
            text.push_str(&format!(", policer of {} with {} {way}", policer.rate, policer.burst));
        }
    }
    for outage in &wan.outages {
        text.push_str(&format!(", outage of {} at {}", outage.length, outage.start));
    }
    let directions = [
        ("down", wan.discipline_in(Direction::Down), wan.shaped_down()),
        ("up", wan.discipline_in(Direction::Up), wan.shaped_up()),
    ];
    for (direction, queue, shaper) in directions {
        match shaper {
            Some(rate) => text.push_str(&format!(", {} shaped to {rate} {direction}", queue.name())),
            None if queue != QueueKind::default() => text.push_str(&format!(", {} {direction}", queue.name())),
            None => {}
        }
    }
    text
}

/// `signal`: the signal of a station whose file has none, because it follows from positions.
fn station(plan: &Plan, station: &Station, environment: Environment, signal: &str) -> Vec<String> {
    let mut line = format!("station {}", station.name);
    if environment.models_air() {
        if let Some(wire) = &station.link {
            line.push_str(&on_wire(wire));
        }
        match &station.air.joins {
            Some(Joins::Network(name)) => line.push_str(&format!(" on {name}")),
            Some(Joins::Radio(radio)) => line.push_str(&format!(" on {radio}")),
            None => {}
        }
        match station.air.quality {
            Some(LinkQuality::Signal(signal)) => line.push_str(&format!(" at {signal}")),
            Some(LinkQuality::Distance(distance)) => line.push_str(&format!(" at {distance}")),
            Some(LinkQuality::Mcs(mcs)) => line.push_str(&format!(" at MCS {mcs}")),
            None => line.push_str(signal),
        }
        if let Some(mcs) = station.air.fixed_mcs {
            line.push_str(&format!(" with MCS {mcs}"));
        }
        if let Some(other) = same_from_each(plan, station) {
            line.push_str(&format!(
                " from every access point (`joins = \"{other}\"` or a `position` tells which one is near)"
            ));
        }
    }
    if !station.start.is_zero() {
        line.push_str(&format!(", from {}", station.start));
    }
    if let Some(stop) = station.stop {
        line.push_str(&format!(", until {stop}"));
    }
    let mut lines = vec![line];
    for workload in &station.workloads {
        let server = workload
            .server
            .as_ref()
            .map_or_else(String::new, |server| format!(", served by {server}"));
        lines.push(format!(
            "  {}: {}{server}",
            workload.name,
            workload_summary(&workload.config)
        ));
    }
    if station.workloads.is_empty() {
        lines.push("  no workload".to_owned());
    }
    lines
}

/// Last radio of a station's network, if the station has one signal although the network has several access points.
fn same_from_each(plan: &Plan, station: &Station) -> Option<String> {
    let (Some(Joins::Network(name)), Some(_)) = (&station.air.joins, station.air.quality) else {
        return None;
    };
    let network = plan.networks.iter().find(|network| network.name == *name)?;
    let last = network.radios.last()?;
    network
        .radios
        .iter()
        .any(|radio| radio.ap != last.ap)
        .then(|| last.to_string())
}

fn on_wire(link: &StationLink) -> String {
    let mut text = if link.down == link.up {
        format!(" on a wired link of {}", link.up)
    } else {
        format!(" on a wired link of {} down, {} up", link.down, link.up)
    };
    match &link.to {
        Port::Server => {}
        Port::Router => text.push_str(" to the router"),
        Port::Ap(ap) => text.push_str(&format!(" to {ap}")),
    }
    if !link.delay.is_zero() {
        text.push_str(&format!(", {} one-way delay", link.delay));
    }
    if link.loss.as_ppb() > 0 {
        text.push_str(&format!(", {} loss", link.loss));
    }
    if let Some(rate) = link.device {
        text.push_str(&format!(", network device at {rate}"));
    }
    match link.bql {
        Some(bytes) => text.push_str(&format!(", BQL {bytes}")),
        None => text.push_str(&format!(", ring of {} packets", link.ring)),
    }
    text
}

fn workload_summary(config: &Config) -> String {
    format!("{}{}; {}", config.describe(), when_and_mark(config), goals_of(config))
}

/// The times in which a workload runs, and the mark of its packets.
fn when_and_mark(config: &Config) -> String {
    let mark = config.dscp.map_or_else(String::new, |dscp| match dscp.name() {
        Some(name) => format!(", marked {name}"),
        None => format!(", marked with DSCP {}", dscp.value()),
    });
    format!("{}{mark}", active(config.activity))
}

/// The times in which a workload runs: `, from 5 s until 10 s, each 20 s`.
fn active(activity: Activity) -> String {
    let mut text = String::new();
    if !activity.start.is_zero() {
        text.push_str(&format!(", from {}", activity.start));
    }
    if let Some(stop) = activity.stop {
        text.push_str(&format!(", until {stop}"));
    }
    if let Some(repeat) = activity.repeat {
        text.push_str(&format!(", each {repeat}"));
    }
    text
}

fn goals_of(config: &Config) -> String {
    let goals: Vec<String> = config.goals.iter().map(|goal| goal_text(goal, config.kind())).collect();
    if goals.is_empty() {
        "no goal".to_owned()
    } else {
        format!("goal: {}", goals.join(", "))
    }
}

/// Formats a size in decimal units: `8.1 GB`.
#[must_use]
pub fn decimal(size: ByteSize) -> String {
    let bytes = size.as_bytes() as f64;
    match bytes {
        1e12.. => format!("{:.1} TB", bytes / 1e12),
        1e9.. => format!("{:.1} GB", bytes / 1e9),
        1e6.. => format!("{:.0} MB", bytes / 1e6),
        1e3.. => format!("{:.0} kB", bytes / 1e3),
        _ => format!("{bytes} B"),
    }
}

fn goal_text(goal: &Goal, kind: &Kind) -> String {
    match goal {
        Goal::Latency { limit } => format!("≤ {limit}"),
        Goal::Rate { at_least, window, .. } => match kind.rate_noun {
            Some(what) => format!("{what} ≥ {at_least}"),
            None => format!("≥ {at_least} in every {window}"),
        },
        Goal::NoStall => "no stall".to_owned(),
        Goal::Frames => "frames on time".to_owned(),
        Goal::NoGap => format!("no gap of {GAP}"),
        Goal::NoFreeze => "no freeze".to_owned(),
        Goal::Quality { at_least, window, .. } => format!("R ≥ {at_least} in every {window}"),
        Goal::Loss { at_most, window, .. } => format!("lost ≤ {at_most} in every {window}"),
        Goal::Rpm { at_least, window, .. } => format!("≥ {at_least} rpm in every {window}"),
    }
}
