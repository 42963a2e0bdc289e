//! Values with several forms: goals, and rates in two directions.

use crate::decode::{Context, FromNode, Section, Spanned};
use crate::node::{Node, Value};
use crate::path::Shape;
use crate::scalars::{Rate, Whole};
use crate::section_macro::section;
use crate::value::{PlanValue, from_section};
use netburn_medium::config::AdapterRate;
use netburn_units::{BitRate, Duration, Probability};
use netburn_workload::Goal;
use netburn_workload::config::{MAX_RATING, MAX_RPM};
use schemars::{Schema, SchemaGenerator, json_schema};

/// Goals in a file: a time, a rate, a rating R, round trips per minute, a loss, `no gap`, `no freeze`, `frames on time`, `no stall`, `none`,
/// or a list.
#[derive(Debug, Clone)]
pub(crate) struct Goals(pub(crate) Vec<Spanned<Goal>>);

const GOALS: &str = "a time (`\"500 ms\"`), a rate (`\"20 Mbit/s\"`), a rating (`\"R 80\"`), round trips per minute (`\"1000 rpm\"`), a loss (`\"1 % lost\"`), `\"no gap\"`, `\"no freeze\"`, `\"frames on time\"`, `\"no stall\"` or `\"none\"`";

impl FromNode for Goals {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        match &node.value {
            Value::List(items) => Some(Goals(items.iter().filter_map(|item| cx.at(item)).collect())),
            _ if node.text() == Some("none") => Some(Goals(Vec::new())),
            _ => cx.at(node).map(|goal| Goals(vec![goal])),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let one = Goal::schema(generator);
        json_schema!({ "anyOf": [one, { "const": "none" }, { "type": "array", "items": one }], "x-value": "a time, a rate, a rating (`R 80`), round trips per minute (`1000 rpm`), a loss (`1 % lost`), `no gap`, `no freeze`, `frames on time`, `no stall`, `none`, or a list" })
    }
}

impl PlanValue<Goals> for Vec<Goal> {
    fn from_key(key: &Goals) -> Self {
        key.0.iter().map(|goal| goal.value).collect()
    }

    fn to_json(&self) -> serde_json::Value {
        let text = |goal: &Goal| match goal {
            Goal::Latency { limit } => limit.to_string(),
            Goal::Rate { at_least, .. } => at_least.to_string(),
            Goal::NoStall => "no stall".to_owned(),
            Goal::NoGap => "no gap".to_owned(),
            Goal::NoFreeze => "no freeze".to_owned(),
            Goal::Frames => "frames on time".to_owned(),
            Goal::Quality { at_least, .. } => format!("R {at_least}"),
            Goal::Loss { at_most, .. } => format!("{at_most} lost"),
            Goal::Rpm { at_least, .. } => format!("{at_least} rpm"),
        };
        self.iter().map(text).collect()
    }
}

/// Rate goal with windows of 2 s in steps of 100 ms.
pub(crate) fn rate_goal(at_least: BitRate) -> Goal {
    Goal::Rate {
        at_least,
        window: Duration::from_secs(2),
        step: Duration::from_millis(100),
    }
}

/// Quality goal with windows of 10 s in steps of 1 s.
pub(crate) fn quality_goal(at_least: u8) -> Goal {
    Goal::Quality {
        at_least,
        window: Duration::from_secs(10),
        step: Duration::from_secs(1),
    }
}

/// Loss goal with windows of 10 s in steps of 1 s.
pub(crate) fn loss_goal(at_most: Probability) -> Goal {
    Goal::Loss {
        at_most,
        window: Duration::from_secs(10),
        step: Duration::from_secs(1),
    }
}

/// Goal of round trips per minute with windows of 5 s in steps of 1 s.
pub(crate) fn rpm_goal(at_least: u32) -> Goal {
    Goal::Rpm {
        at_least,
        window: Duration::from_secs(5),
        step: Duration::from_secs(1),
    }
}

/// The number before `rpm`, such as that of `1000 rpm`; `None` if the text is something else.
fn round_trips(text: &str) -> Option<&str> {
    let number = text.strip_suffix("rpm")?.trim_end();
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

/// The number after `R`, such as that of `R 80`; `None` if the text is something else.
fn rating(text: &str) -> Option<&str> {
    let number = text.strip_prefix('R')?.trim_start();
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}

impl FromNode for Goal {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        let Some(text) = node.text() else {
            return cx.mismatch(node, GOALS);
        };
        if text == "no stall" {
            return Some(Goal::NoStall);
        }
        if text == "no gap" {
            return Some(Goal::NoGap);
        }
        if text == "no freeze" {
            return Some(Goal::NoFreeze);
        }
        if text == "frames on time" {
            return Some(Goal::Frames);
        }
        if let Some(number) = rating(text.trim()) {
            let known = number.parse().ok().filter(|rating| (1..=MAX_RATING).contains(rating));
            if known.is_none() {
                let help = format!("expected a rating of 1 to {MAX_RATING}");
                cx.problem(&node.place, format!("{} is out of range", node.found()), help);
            }
            return known.map(quality_goal);
        }
        if let Some(number) = round_trips(text.trim()) {
            let known = number.parse().ok().filter(|rpm| (1..=MAX_RPM).contains(rpm));
            if known.is_none() {
                let help = format!("expected 1 to {MAX_RPM} round trips per minute");
                cx.problem(&node.place, format!("{} is out of range", node.found()), help);
            }
            return known.map(rpm_goal);
        }
        if let Some(share) = text.trim().strip_suffix("lost") {
            let share = share.trim_end().parse::<Probability>();
            let is_known = |share: &Probability| *share > Probability::ZERO && *share < Probability::ONE;
            let known = share.ok().filter(is_known);
            if known.is_none() {
                let help = "expected a share greater than 0 %, less than 100 %, such as `1 % lost`";
                cx.problem(&node.place, format!("invalid loss {}", node.found()), help.to_owned());
            }
            return known.map(loss_goal);
        }
        if let Ok(limit) = text.parse::<Duration>() {
            let most = Duration::from_secs(86_400);
            if limit.is_zero() || limit > most {
                let help = "expected a time greater than 0, up to 24 h";
                cx.problem(
                    &node.place,
                    format!("{} is out of range", node.found()),
                    help.to_owned(),
                );
                return None;
            }
            return Some(Goal::Latency { limit });
        }
        if text.parse::<BitRate>().is_ok() {
            return Rate::read(node, cx).map(|rate| rate_goal(rate.0));
        }
        cx.problem(
            &node.place,
            format!("invalid goal {}", node.found()),
            format!("expected {GOALS}"),
        );
        None
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^\\s*(no stall|no gap|no freeze|frames on time|R\\s*[0-9]+|[0-9]+\\s*rpm|[+]?\\s*[0-9._]+\\s*(%|ppm)\\s*lost|[+]?\\s*[0-9._]+\\s*(s|sec|ms|us|µs|μs|ns|min|m|h|[GMk]bit/s|[GMk]bps|[GMk]b/s|bit/s|bps|b/s))\\s*$" })
    }
}

section! {
    /// Maximum rates of a station's adapter.
    AdapterRateSection(AdapterRate = AdapterRate::default()) {
        /// Uplink rate (station to access point).
        up: Rate => up, default "unlimited";
        /// Downlink rate (access point to station).
        down: Rate => down, default "unlimited";
        /// Packets per bus transfer to the adapter, which receives them together: 20 with ath9k_htc over USB.
        transfer: Whole<1, 1024> => transfer, default "1";
    }
}

/// One rate for both directions, or one for each direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates(pub(crate) AdapterRate);

impl FromNode for Rates {
    fn read(node: &Node, cx: &mut Context) -> Option<Self> {
        if let Value::Table(_) = node.value {
            return Some(Rates(from_section(&AdapterRateSection::read(node, cx)?)));
        }
        Rate::read(node, cx).map(|rate| {
            Rates(AdapterRate {
                up: Some(rate.0),
                down: Some(rate.0),
                transfer: None,
            })
        })
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let (one, own) = (Rate::schema(generator), AdapterRateSection::schema(generator));
        json_schema!({ "anyOf": [one, own], "x-value": "a rate, or `{ up, down, transfer }`" })
    }

    fn shape() -> Shape {
        AdapterRateSection::shape()
            .with_short_form(|node| node.text().map(|_| vec![("up", node.clone()), ("down", node.clone())]))
    }
}

impl PlanValue<Rates> for AdapterRate {
    fn from_key(key: &Rates) -> Self {
        key.0
    }

    fn to_json(&self) -> serde_json::Value {
        AdapterRateSection::encode(self).into_json()
    }
}
