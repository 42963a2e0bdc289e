//! The result of a measurement as text and as JSON.

use crate::layer::{Cells, Layer};
use crate::measure::Measured;
use crate::settings::Settings;
use crate::verdict::{Health, Queue, Reason, Verdict, verdicts};
use netburn_units::{BitRate, Duration};
use netburn_workload::Direction;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Default name of the interface towards the line in OpenWrt's settings.
pub const INTERFACE: &str = "wan";
/// Rate above which many home routers cannot shape with CAKE: their processors are too slow.
const FAST: BitRate = BitRate::from_mbps(300);
/// Share of the contract below which a shaper wastes rate, in percent.
const WASTE: u128 = 85;

/// Facts besides the samples.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// State of this computer.
    pub health: Health,
    /// Interface of the router towards the line; empty for [`INTERFACE`].
    pub interface: String,
    /// Rates of the contract down and up.
    pub contract: [Option<BitRate>; 2],
    /// True if this computer uses Wi-Fi.
    pub is_on_wifi: bool,
}

/// Result of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Both directions, down first.
    pub verdicts: [Verdict; 2],
    /// Settings, if a direction should be shaped; `None` if there is nothing to set, or no rate is known.
    pub settings: Option<Settings>,
    /// True if the measurement ended early.
    pub is_interrupted: bool,
    context: Context,
}

/// Answer to the question whether SQM is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// No queue is long.
    Right,
    /// A queue is long, or packets are dropped, and settings help.
    SetUp,
    /// At least one direction has no result.
    CannotTell,
}

impl Report {
    /// Infers the result.
    #[must_use]
    pub fn new(measured: &Measured, context: Context) -> Self {
        let mut samples = measured.samples.clone();
        if measured.is_interrupted {
            // The goodput of a transfer that was cut would be too low.
            samples
                .transfers
                .retain(|own| own.windows.last().is_some_and(|bytes| *bytes > 0));
        }
        let verdicts = verdicts(&samples, context.health);
        Report {
            settings: Settings::from_verdicts(&verdicts),
            verdicts,
            is_interrupted: measured.is_interrupted,
            context,
        }
    }

    /// The answer.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let is_open = |own: &Verdict| own.shaper.is_none();
        if self.is_interrupted || self.verdicts.iter().any(is_open) {
            Answer::CannotTell
        } else if self.verdicts.iter().all(Verdict::is_shaped) {
            Answer::Right
        } else {
            Answer::SetUp
        }
    }

    /// The report as text: the advice first.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.headline());
        if self.context.is_on_wifi {
            text += "This computer is on Wi-Fi. A cable to the router is better, because Wi-Fi delays packets, too.\n";
        }
        for (own, contract) in self.verdicts.iter().zip(self.context.contract) {
            let _ = write!(text, "\n{}:\n", word(own.direction));
            for line in self.lines(own, contract) {
                let _ = writeln!(text, "  {line}");
            }
        }
        if let Some(settings) = self.settings.filter(|_| self.answer() != Answer::Right) {
            text += &self.settings_text(&settings);
        }
        text
    }

    fn interface(&self) -> &str {
        if self.context.interface.is_empty() {
            INTERFACE
        } else {
            &self.context.interface
        }
    }

    fn headline(&self) -> String {
        let waiting = self.verdicts.iter().filter(|own| own.queue != Some(Queue::Policer));
        let longest = waiting
            .filter(|own| !own.is_shaped())
            .filter_map(|own| Some((own.added.server_p95?, own.direction)))
            .max();
        match self.answer() {
            Answer::Right => "Yes: under load, packets hardly wait. Something keeps the queues of your line short already: SQM, \
                              or a modem with AQM. Change nothing."
                .to_owned(),
            Answer::SetUp => match longest {
                Some((delay, direction)) => format!(
                    "No: a full {} delays everything else by {} ms (95th percentile). Set up SQM with the rates below.",
                    word(direction),
                    ms(delay)
                ),
                None => "No: your provider drops what exceeds a rate. Set up SQM with the rates below, so that packets wait for a \
                         moment instead."
                    .to_owned(),
            },
            Answer::CannotTell if self.is_interrupted => "Can't tell yet: the measurement was interrupted. What was found until then is \
                                                          below, and it may be incomplete."
                .to_owned(),
            Answer::CannotTell if self.settings.is_some() => "Only partly known: one direction has no reliable result, because of what \
                                                              is said below."
                .to_owned(),
            Answer::CannotTell => "Can't tell, because of what is said below.".to_owned(),
        }
    }

    /// Findings about a direction, one or two sentences in a line.
    fn lines(&self, own: &Verdict, contract: Option<BitRate>) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(goodput) = own.goodput {
            lines.push(format!("TCP reaches {} (median).", mbit(goodput.as_bps())));
        }
        lines.extend(own.queue.map(|queue| place(own, queue)));
        if let Some(rate) = own
            .line_rate
            .filter(|_| !matches!(own.queue, Some(Queue::Near | Queue::Unseen)))
        {
            lines.push(moves(own, rate));
            // SQM counts the bytes that it was set to, which need not be those of the line.
            if !own.is_shaped() {
                lines.push(adds(own));
            }
        }
        lines.extend(own.reasons.iter().map(|reason| reason.text()));
        if own.is_shaped() {
            lines.push(shaped(own, contract));
        } else if let Some(rate) = own.shaper {
            lines.push(recommended(own, rate));
        }
        lines
    }

    fn settings_text(&self, settings: &Settings) -> String {
        let interface = self.interface();
        let mut text = String::from("\nSettings for OpenWrt, the file /etc/config/sqm (package luci-app-sqm):\n\n");
        text += &settings.openwrt(interface);
        if settings.down.is_none() || settings.up.is_none() {
            text += "# 0: this direction has no reliable result, and is not shaped\n";
        }
        if self.context.interface.is_empty() {
            let _ = writeln!(
                text,
                "\nReplace `{INTERFACE}` by the interface towards the modem, such as eth1 or pppoe-wan; `ifstatus wan` shows it."
            );
        }
        text += "\nThe same with the commands of iproute2:\n\n";
        text += &settings.tc(interface);
        text.push('\n');
        for note in notes(settings) {
            let _ = writeln!(text, "{note}");
        }
        text
    }

    /// The report as JSON. Rates are in kbit/s, and times in ms.
    #[must_use]
    pub fn json(&self) -> Value {
        let answer = match self.answer() {
            Answer::Right => "right",
            Answer::SetUp => "set-up",
            Answer::CannotTell => "cannot-tell",
        };
        let settings = self.settings.filter(|_| self.answer() != Answer::Right).map(|own| {
            json!({
                "interface": self.interface(),
                "download_kbps": own.down.map(kbps),
                "upload_kbps": own.up.map(kbps),
                "layer": layer_json(own.layer),
                "openwrt": own.openwrt(self.interface()),
                "tc": own.tc(self.interface()),
                "notes": notes(&own),
            })
        });
        json!({
            "schema": "netburn.sqm/1",
            "answer": answer,
            "advice": self.headline(),
            "interrupted": self.is_interrupted,
            "wifi": self.context.is_on_wifi,
            "download": verdict_json(&self.verdicts[0]),
            "upload": verdict_json(&self.verdicts[1]),
            "settings": settings,
        })
    }
}

/// Sentences about the use of settings.
fn notes(settings: &Settings) -> Vec<String> {
    let mut notes = vec![
        "Switch off software and hardware flow offloading in the firewall of the router: packets that it forwards bypass SQM."
            .to_owned(),
    ];
    if [settings.down, settings.up].into_iter().flatten().max() > Some(FAST) {
        notes.push(format!(
            "Many home routers cannot shape more than {FAST} with CAKE. If the rates are then lower than those of the settings, the \
             processor of the router is the limit."
        ));
    }
    notes.push("Then measure again: the delay must be small, and the rates those of the settings.".to_owned());
    notes
}

impl Reason {
    /// The reason as a sentence.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Reason::NotMeasured => "Not measured: the measurement ended before.".to_owned(),
            Reason::NoTransfer => "Nothing was transferred.".to_owned(),
            Reason::Near(delay) => format!(
                "No settings, because the link to the router is slower than the line: it adds {} ms. Connect this computer with a \
                 cable, and measure again.",
                ms(*delay)
            ),
            Reason::Busy => "No settings, because this computer was busy and the line was not full. Measure with a faster computer."
                .to_owned(),
            Reason::NotFull => "No settings, because nothing shows that TCP filled the line. If the rate is that of your line, and packets \
                                hardly wait, you need no SQM. Otherwise the server or this computer was the limit."
                .to_owned(),
            Reason::IdleChanged(from, to) => format!(
                "No settings, because the round trip without load changed from {} to {} ms. Another device probably used the line. \
                 Measure again when the line is quiet.",
                ms(*from),
                ms(*to)
            ),
            Reason::Unexplained(residual) => format!(
                "No settings, because the times of packets of several sizes differ from those of every known line by {:.1} % or more. \
                 Another device probably used the line. Measure again when the line is quiet.",
                residual * 100.0
            ),
            Reason::TooVaried => "No settings, because the rate of the line falls so low at times that no constant rate of a shaper keeps \
                                  its queue short. An adaptive shaper may help."
                .to_owned(),
            Reason::RatesDiffer(tcp, datagrams) => format!(
                "No settings, because TCP reached {} and datagrams {}, with all headers. Another device probably used the line, or the \
                 server is too slow. Measure again.",
                mbit(*tcp),
                mbit(*datagrams)
            ),
        }
    }

    /// Name of the reason in JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Reason::NotMeasured => "not-measured",
            Reason::NoTransfer => "no-transfer",
            Reason::Near(_) => "near",
            Reason::Busy => "busy",
            Reason::NotFull => "not-full",
            Reason::IdleChanged(..) => "idle-changed",
            Reason::Unexplained(_) => "unexplained",
            Reason::TooVaried => "too-varied",
            Reason::RatesDiffer(..) => "rates-differ",
        }
    }
}

fn place(own: &Verdict, queue: Queue) -> String {
    let delay =
        |delay: Option<Duration>| delay.map_or("an unknown time".to_owned(), |delay| format!("{} ms", ms(delay)));
    let (median, p95) = (delay(own.added.server), delay(own.added.server_p95));
    match queue {
        Queue::Line => format!(
            "Packets wait {median} (median; p95 {p95}) in a long queue behind this computer's network: in the modem or at the \
             provider, or in a router without SQM."
        ),
        Queue::Managed => format!("Packets of others wait {median} (median; p95 {p95}): the queue is short."),
        Queue::Policer => {
            format!(
                "Packets wait {median} (median; p95 {p95}), and those that exceed a rate are lost: a policer of the provider."
            )
        }
        Queue::Near => format!(
            "Packets wait {median} (median; p95 {p95}), most of it before the router: in the Wi-Fi or the cable."
        ),
        Queue::Unseen => format!("Packets wait {median} (median; p95 {p95})."),
    }
}

fn moves(own: &Verdict, rate: BitRate) -> String {
    if own.varies {
        return format!("The rate of the line varies; the median is {}.", mbit(rate.as_bps()));
    }
    let error = (own.rate_error * 100.0).max(0.1);
    format!(
        "The queue moves at {} ± {error:.1} %, with what the line adds.",
        mbit(rate.as_bps())
    )
}

fn adds(own: &Verdict) -> String {
    let name = own.layer.known().map(|known| known.name);
    let bytes = format!("{} bytes per packet{}", own.layer.overhead, cells(own.layer));
    match (&own.overheads, name) {
        _ if own.is_from_other => format!("The line adds {bytes}, as in the other direction."),
        (Some(range), name) => {
            let name = name.map_or(String::new(), |name| {
                format!(" This is {name}, or a line with the same bytes.")
            });
            format!(
                "The line adds {bytes} ({} to {} fit).{name}",
                range.start(),
                range.end()
            )
        }
        (None, _) => format!(
            "The bytes that the line adds to each packet are not visible at this rate. {bytes} are safe for cable and VDSL2. Ethernet \
             with PPPoE adds 46, and 50 with a VLAN tag."
        ),
    }
}

fn cells(layer: Layer) -> &'static str {
    match layer.cells {
        Cells::None => "",
        Cells::Atm => " in ATM cells",
        Cells::Ptm => " and PTM code words",
    }
}

fn shaped(own: &Verdict, contract: Option<BitRate>) -> String {
    let rate = own.line_rate.unwrap_or(BitRate::from_bps(0));
    let share = |contract: BitRate| u128::from(rate.as_bps()) * 100 / u128::from(contract.as_bps().max(1));
    let why = "Whether the line carries more is visible only without SQM: switch it off and measure again.";
    match contract {
        Some(contract) if share(contract) < WASTE => format!(
            "This is {} % of the contract's {}, so more than 15 % may be wasted. {why}",
            share(contract),
            mbit(contract.as_bps())
        ),
        Some(contract) => format!(
            "This is {} % of the contract's {}: keep it.",
            share(contract),
            mbit(contract.as_bps())
        ),
        None => format!("Keep it. {why}"),
    }
}

fn recommended(own: &Verdict, rate: BitRate) -> String {
    let expected = if own.varies {
        "up to 30 ms (p95). A higher rate means more delay when the line is slow".to_owned()
    } else {
        // A packet in transmission, those of a burst, and the interval of timers.
        let packet = u64::from(own.layer.bytes(1500)) * 8 * 1_000_000_000 / rate.as_bps().max(1);
        format!("about {} ms", ms(Duration::from_nanos(2 * packet + 1_000_000)))
    };
    let now = own
        .added
        .server
        .map_or(String::new(), |now| format!(", instead of {} ms now", ms(now)));
    format!(
        "Set {}. Packets of others then wait {expected}{now}.",
        mbit(rate.as_bps())
    )
}

fn verdict_json(own: &Verdict) -> Value {
    let time = |delay: Option<Duration>| delay.map(|delay| delay.as_millis_f64());
    let queue = own.queue.map(|queue| match queue {
        Queue::Line => "line",
        Queue::Managed => "managed",
        Queue::Policer => "policer",
        Queue::Near => "near",
        Queue::Unseen => "unseen",
    });
    json!({
        "goodput_kbps": own.goodput.map(kbps),
        "added_ms": {
            "near_p50": time(own.added.near),
            "line_p50": time(own.added.line),
            "server_p50": time(own.added.server),
            "server_p95": time(own.added.server_p95),
        },
        "queue": queue,
        "line_kbps": own.line_rate.map(kbps),
        "line_error_share": own.rate_error,
        "varies": own.varies,
        "layer": layer_json(own.layer),
        "layer_identified": own.is_identified,
        "layer_of_other_direction": own.is_from_other,
        "overhead_bytes_range": own.overheads.as_ref().map(|range| [*range.start(), *range.end()]),
        "shaper_kbps": own.shaper.map(kbps),
        "reasons": own.reasons.iter().map(|own| json!({ "name": own.name(), "text": own.text() })).collect::<Vec<_>>(),
    })
}

fn layer_json(layer: Layer) -> Value {
    json!({
        "cells": layer.cells.keyword(),
        "overhead_bytes": layer.overhead,
        "minimum_bytes": layer.minimum,
        "name": layer.known().map(|known| known.name),
    })
}

const fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "download",
        Direction::Up => "upload",
    }
}

fn kbps(rate: BitRate) -> u64 {
    rate.as_bps() / 1000
}

fn mbit(bits: u64) -> String {
    let mega = bits as f64 / 1e6;
    if mega < 100.0 {
        format!("{mega:.2} Mbit/s")
    } else {
        format!("{mega:.0} Mbit/s")
    }
}

fn ms(time: Duration) -> String {
    let ms = time.as_millis_f64();
    if ms < 10.0 {
        format!("{ms:.1}")
    } else {
        format!("{ms:.0}")
    }
}
