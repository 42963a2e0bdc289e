//! Conversion of a plan to a scenario document with every default filled in.

use crate::document::Document;
use crate::enums::{CONNECTIONS, KINDS, PRIORITIES, RADIO_SELECTIONS, RATE_CONTROLS, TSQ, word_of};
use crate::plan::{
    Ap, ApSetting, Change, LinkSetting, Network, Plan, Radio, RadioSetting, Server, Setting, Station, StationAir,
    StationLink, StationSetting, StationWorkload, Wan,
};
use crate::problem::ScenarioError;
use crate::resolve::SCHEMA;
use netburn_medium::config::{AdapterRate, Aql, HardwareQueue, LinkQuality, QueueLimit};
use netburn_tcp::config::{CongestionControl, Tsq};
use netburn_units::ByteSize;
use netburn_workload::{Config, Goal, PlayerConfig};
use serde_json::{Map, Value, json};

impl Plan {
    /// Returns the plan as a scenario document with every default filled in. Quantities are texts with units, keys have a
    /// fixed order, and sections keep the plan's order.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut top = Keys::default();
        top.put("schema", SCHEMA);
        top.put("name", self.name.as_str());
        top.some("title", self.title.as_deref());
        top.some("question", self.question.as_deref());
        if !self.assumptions.is_empty() {
            top.put("assumptions", self.assumptions.as_slice());
        }
        top.text("duration", self.duration);
        top.text("warmup", self.warmup);
        top.text("baseline", self.baseline);
        top.text("drain", self.drain);
        top.put("seed", self.seed.0);
        top.put("repeat", self.repeat);
        top.put("server", server(&self.server));
        top.named("network", &self.networks, |network| {
            (&network.name, self::network(network))
        });
        top.named("ap", &self.aps, |ap| (&ap.name, self::ap(ap)));
        top.named("station", &self.stations, |station| {
            (&station.name, self::station(station))
        });
        let mut workloads: Vec<&StationWorkload> = Vec::new();
        for workload in self.stations.iter().flat_map(|station| &station.workloads) {
            if !workloads.iter().any(|known| known.name == workload.name) {
                workloads.push(workload);
            }
        }
        top.named("workload", &workloads, |used| {
            (&used.name, workload(&used.config, used.cc.as_ref()))
        });
        if !self.changes.is_empty() {
            top.put("at", self.changes.iter().map(change).collect::<Vec<Value>>());
        }
        top.done()
    }

    /// Reads a plan from the output of [`to_json`](Self::to_json), or from JSON in the same format.
    ///
    /// # Errors
    /// The document is invalid; the error lists every problem.
    pub fn from_json(document: &Value) -> Result<Plan, ScenarioError> {
        Document::from_json(document).resolve()
    }
}

/// JSON object that keeps the order of its keys.
#[derive(Default)]
struct Keys(Map<String, Value>);

impl Keys {
    fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    fn some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    /// Inserts a value in its display format.
    fn text(&mut self, key: &str, value: impl ToString) {
        self.put(key, value.to_string());
    }

    fn some_text(&mut self, key: &str, value: Option<impl ToString>) {
        self.some(key, value.map(|value| value.to_string()));
    }

    fn named<'t, T>(&mut self, key: &str, things: &'t [T], write: impl Fn(&'t T) -> (&'t String, Value)) {
        if !things.is_empty() {
            let map: Map<String, Value> = things
                .iter()
                .map(|thing| {
                    let (name, value) = write(thing);
                    (name.clone(), value)
                })
                .collect();
            self.put(key, map);
        }
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

fn server(server: &Server) -> Value {
    let mut link = Keys::default();
    link.some_text("rate", server.link.rate);
    link.text("delay", server.link.delay);
    link.text("loss", server.link.loss);
    link.some_text("queue", server.link.queue);
    let mut keys = Keys::default();
    keys.put("link", link.done());
    keys.put("http", server.http.name());
    keys.put("tls", server.tls);
    keys.some_text("cc", server.cc.as_ref());
    keys.put("ecn", server.ecn);
    keys.text("interrupt_interval", server.interrupt_interval);
    keys.done()
}

fn network(network: &Network) -> Value {
    let radios: Vec<String> = network.radios.iter().map(ToString::to_string).collect();
    json!({ "radios": radios })
}

fn ap(ap: &Ap) -> Value {
    let mut keys = Keys::default();
    keys.some_text("rating", ap.rating);
    let radios: Vec<(String, &Radio)> = ap.radios.iter().map(|radio| (radio.name.to_string(), radio)).collect();
    keys.named("radio", &radios, |(name, radio)| (name, self::radio(radio)));
    keys.put("queue", ap.queue.name());
    keys.put(
        "queue_limit",
        match ap.queue_limit {
            QueueLimit::Packets(packets) => format!("{packets} packets"),
            QueueLimit::Bytes(bytes) => bytes.to_string(),
        },
    );
    keys.put("ecn", ap.ecn);
    keys.put("slow_stations", ap.slow_stations);
    keys.put("hardware_queue", hardware_queue(ap.hardware_queue));
    keys.put("driver_queue", ap.driver_queue);
    keys.put(
        "aql",
        match ap.aql {
            None => Value::Bool(false),
            Some(Aql { low, high, total }) => {
                json!({ "low": low.to_string(), "high": high.to_string(), "total": total.to_string() })
            }
        },
    );
    keys.text("rx_interrupt_delay", ap.rx_interrupt_delay);
    keys.some_text("forwarding", ap.forwarding);
    keys.some_text("forwarding_queue", ap.forwarding_queue);
    keys.some("wan", ap.wan.as_ref().map(wan));
    keys.done()
}

fn wan(wan: &Wan) -> Value {
    let mut keys = Keys::default();
    keys.some_text("down", wan.down);
    keys.some_text("up", wan.up);
    keys.text("delay", wan.delay);
    keys.text("loss", wan.loss);
    keys.some_text("queue", wan.queue);
    keys.done()
}

fn radio(radio: &Radio) -> Value {
    let mut keys = Keys::default();
    keys.some("standard", radio.standard.map(|standard| standard.name()));
    keys.put("channel", radio.channel);
    keys.some("width", radio.width.map(|width| format!("{} MHz", width.as_mhz())));
    keys.some("streams", radio.streams);
    keys.some("guard", radio.guard.map(|guard| format!("{} ns", guard.as_nanos())));
    keys.text("power", radio.power);
    keys.text("aggregate_time", radio.aggregation.time);
    keys.some("aggregate_frames", radio.aggregation.frames);
    keys.put("amsdu", off(radio.aggregation.amsdu));
    keys.put("rts", off(radio.rts));
    keys.text("channel_busy", radio.channel_busy);
    keys.done()
}

fn hardware_queue(queue: HardwareQueue) -> String {
    match queue {
        HardwareQueue::Aggregates(count) => format!("{count} aggregates"),
        HardwareQueue::Frames(count) => format!("{count} frames"),
        HardwareQueue::Time(time) => time.to_string(),
        HardwareQueue::Unlimited => "unlimited".to_owned(),
    }
}

fn station(station: &Station) -> Value {
    let mut keys = Keys::default();
    match &station.link {
        None => air(&station.air, &mut keys),
        Some(link) => {
            keys.put("link", self::link(link));
            keys.put("queue", station.air.queue.name());
        }
    }
    if !station.workloads.is_empty() {
        let names: Vec<&str> = station
            .workloads
            .iter()
            .map(|workload| workload.name.as_str())
            .collect();
        keys.put("workload", names);
    }
    keys.text("start", station.start);
    keys.some_text("stop", station.stop);
    keys.some_text("cc", station.cc.as_ref());
    keys.put("ecn", station.ecn);
    keys.some("tsq", station.tsq.map(tsq));
    keys.put("gso", station.gso);
    keys.put("gro", station.gro);
    keys.text("tx_completion_delay", station.tx_completion_delay);
    keys.text("rx_interrupt_delay", station.rx_interrupt_delay);
    keys.some("agent", station.agent.as_deref());
    keys.some("label", station.label.as_deref());
    keys.done()
}

fn air(air: &StationAir, keys: &mut Keys) {
    keys.some_text("joins", air.joins.as_ref());
    keys.put("radio_selection", word_of(RADIO_SELECTIONS, &air.radio_selection));
    keys.some("standard", air.standard.map(|standard| standard.name()));
    keys.put("streams", air.streams);
    match air.quality {
        Some(LinkQuality::Signal(signal)) => keys.text("signal", signal),
        Some(LinkQuality::Distance(distance)) => keys.text("distance", distance),
        Some(LinkQuality::Mcs(mcs)) => keys.put("mcs", mcs),
        None => {}
    }
    keys.some_text("signal_up", air.signal_up);
    if !air.hidden_from.is_empty() {
        keys.put("hidden_from", air.hidden_from.as_slice());
    }
    keys.put("rate_control", word_of(RATE_CONTROLS, &air.rate_control));
    if air.adapter_rate != AdapterRate::default() {
        keys.put("adapter_rate", adapter_rate(air.adapter_rate));
    }
    keys.put("queue", air.queue.name());
    keys.put("hardware_queue", hardware_queue(air.hardware_queue));
    keys.put("weight", air.weight);
}

fn link(link: &StationLink) -> Value {
    let mut keys = Keys::default();
    keys.text("down", link.down);
    keys.text("up", link.up);
    keys.text("delay", link.delay);
    keys.text("loss", link.loss);
    keys.some_text("queue", link.queue);
    keys.some_text("device", link.device);
    keys.put("ring", link.ring);
    keys.put("bql", off(link.bql));
    keys.done()
}

/// A size, or `off`.
fn off(size: Option<ByteSize>) -> String {
    size.map_or_else(|| "off".to_owned(), |size| size.to_string())
}

fn adapter_rate(limit: AdapterRate) -> Value {
    let mut keys = Keys::default();
    keys.some_text("up", limit.up);
    keys.some_text("down", limit.down);
    keys.some("transfer", limit.transfer);
    keys.done()
}

fn tsq(tsq: Tsq) -> Value {
    let Tsq::Custom(settings) = tsq else {
        return word_of(TSQ, &tsq).into();
    };
    let mut keys = Keys::default();
    match settings.shift {
        Some(shift) => keys.put("shift", shift),
        None => keys.put("shift", "none"),
    }
    keys.text("minimum", settings.minimum);
    keys.some_text("cap", settings.cap);
    keys.put("caps_paced", settings.caps_paced);
    keys.done()
}

fn workload(config: &Config, cc: Option<&CongestionControl>) -> Value {
    use netburn_workload::Kind::{Calls, Download, Pages, Probe, Stream, Upload};
    let mut keys = Keys::default();
    keys.put("kind", word_of(KINDS, &config.kind));
    if config.kind == Pages {
        keys.put("objects", config.objects);
    }
    keys.text("object_size", config.object_size);
    if matches!(config.kind, Pages | Stream | Calls | Probe) {
        keys.some_text("interval", config.interval);
    }
    if matches!(config.kind, Pages | Calls | Probe) {
        keys.text("jitter", config.jitter);
    }
    if matches!(config.kind, Pages | Stream | Calls | Download | Upload) {
        keys.put("connections", word_of(CONNECTIONS, &config.connections));
    }
    if matches!(config.kind, Calls | Probe) {
        keys.put("outstanding", config.outstanding);
    }
    keys.put("priority", word_of(PRIORITIES, &config.priority));
    keys.some_text("cc", cc);
    if let Some(PlayerConfig {
        start,
        rate,
        max_buffer,
    }) = &config.player
    {
        let player =
            json!({ "start": start.to_string(), "rate": rate.to_string(), "max_buffer": max_buffer.to_string() });
        keys.put("player", player);
    }
    let goals = config.goals.iter().map(|goal| match goal {
        Goal::Latency { limit } => limit.to_string(),
        Goal::Rate { at_least, .. } => at_least.to_string(),
        Goal::NoStall => "no stall".to_owned(),
    });
    keys.put("goal", goals.collect::<Vec<String>>());
    keys.text("timeout", config.timeout);
    keys.done()
}

fn change(change: &Change) -> Value {
    let mut set = Keys::default();
    for setting in &change.settings {
        let (path, value) = format_setting(setting);
        set.put(&path, value);
    }
    json!({ "time": change.time.to_string(), "set": set.done() })
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, value) = format_setting(self);
        write!(f, "{path} = {value}")
    }
}

/// Returns the path of a changed key and its new value.
pub(crate) fn format_setting(setting: &Setting) -> (String, Value) {
    match setting {
        Setting::Link(link) => {
            let (key, value) = match link {
                LinkSetting::Rate(rate) => ("rate", rate.to_string()),
                LinkSetting::Delay(delay) => ("delay", delay.to_string()),
                LinkSetting::Loss(loss) => ("loss", loss.to_string()),
                LinkSetting::Queue(queue) => ("queue", queue.to_string()),
            };
            (format!("server.link.{key}"), value.into())
        }
        Setting::Ap(name, ap) => {
            let (key, value) = match ap {
                ApSetting::Queue(queue) => ("queue", queue.name().to_owned()),
                ApSetting::Forwarding(rate) => ("forwarding", rate.to_string()),
                ApSetting::WanDown(rate) => ("wan.down", rate.to_string()),
                ApSetting::WanUp(rate) => ("wan.up", rate.to_string()),
                ApSetting::WanDelay(delay) => ("wan.delay", delay.to_string()),
                ApSetting::WanLoss(loss) => ("wan.loss", loss.to_string()),
            };
            (format!("ap.{name}.{key}"), value.into())
        }
        Setting::Radio(radio, setting) => {
            let (key, value) = match setting {
                RadioSetting::ChannelBusy(share) => ("channel_busy", share.to_string()),
                RadioSetting::Power(power) => ("power", power.to_string()),
            };
            (format!("ap.{}.radio.{}.{key}", radio.ap, radio.radio), value.into())
        }
        Setting::Station(name, setting) => {
            let (key, value): (&str, Value) = match setting {
                StationSetting::Quality(LinkQuality::Signal(signal)) => ("signal", signal.to_string().into()),
                StationSetting::Quality(LinkQuality::Distance(distance)) => ("distance", distance.to_string().into()),
                StationSetting::Quality(LinkQuality::Mcs(mcs)) => ("mcs", (*mcs).into()),
                StationSetting::SignalUp(signal) => ("signal_up", signal.to_string().into()),
                StationSetting::RateControl(control) => ("rate_control", word_of(RATE_CONTROLS, control).into()),
                StationSetting::AdapterRate(limit) => ("adapter_rate", self::adapter_rate(*limit)),
                StationSetting::Queue(queue) => ("queue", queue.name().into()),
                StationSetting::LinkRate(rate) => ("link.rate", rate.to_string().into()),
                StationSetting::LinkDown(rate) => ("link.down", rate.to_string().into()),
                StationSetting::LinkUp(rate) => ("link.up", rate.to_string().into()),
                StationSetting::LinkDelay(delay) => ("link.delay", delay.to_string().into()),
                StationSetting::LinkLoss(loss) => ("link.loss", loss.to_string().into()),
                StationSetting::Weight(weight) => ("weight", (*weight).into()),
            };
            (format!("station.{name}.{key}"), value)
        }
    }
}
