//! Changes of WAN links and of the path to the server.

use super::{Effort, InterventionBuilder, written};
use crate::explain::{Cause, Kind};
use netburn_scenario::plan::{Device, Line};
use netburn_units::{BitRate, Duration};
use netburn_workload::Direction;

/// Factors by which a slow link's rate is increased.
const RATE_FACTORS: [u64; 2] = [2, 4];

/// Share of a line's lowest rate to which a shaper limits it, in percent.
const BELOW_PERCENT: u64 = 90;
/// Share of the link's rate to which a shaper limits it, as OpenWrt's guide to SQM advises.
const SQM_SHARE: &str = "90 %";

impl InterventionBuilder<'_> {
    /// Proposes a shaper with CAKE below the rate of a WAN link (SQM), in the direction of the cause.
    pub(crate) fn sqm(&mut self, cause: Kind, line: &Line<'_>) {
        let wan = line.wan;
        let (direction, rate, isolation) = match cause {
            Kind::UploadBloat | Kind::LineUp => ("up", wan.up, "dual-srchost"),
            _ => ("down", wan.down, "dual-dsthost"),
        };
        if rate.is_none() {
            return;
        }
        let key = |name: &str| format!("{}.{name}_{direction}", line.key);
        let label = format!(
            "{} limits the {direction}link to {SQM_SHARE} of its rate with CAKE (SQM)",
            self.router_at(line)
        );
        self.propose(
            cause,
            Effort::Firmware,
            label,
            &[
                (&key("discipline"), "cake"),
                (&key("shaper"), SQM_SHARE),
                (&key("cake.isolation"), isolation),
            ],
        );
        if let (Some(_), Some(_)) = (wan.down, wan.up) {
            self.isolation(cause, line);
        }
    }

    /// Proposes a short queue of a WAN link for uploads. Downloads wait in the provider's equipment, which no setting at home can
    /// change.
    pub(crate) fn short_line_queue(&mut self, cause: Kind, line: &Line<'_>) {
        let wan = line.wan;
        let (Kind::UploadBloat | Kind::LineUp, Some(rate)) = (cause, wan.up) else {
            return;
        };
        let of = format!("{}'s queue for uploads", self.router_at(line));
        let key = format!("{}.queue_up", line.key);
        self.short_queue(cause, (&of, &key), rate, wan.queue_in(Direction::Up));
    }

    /// The router of a line in a sentence: `home's router`.
    pub(crate) fn router_at(&self, line: &Line<'_>) -> String {
        match line.router {
            Device::Router => "the router".to_owned(),
            Device::Ap(_) => format!("{}'s router", self.plan.name_of(line.router)),
        }
    }

    /// Proposes a faster line. `kind` is the kind of the cause.
    pub(crate) fn slow_line(&mut self, kind: Kind, cause: &Cause) {
        for (name, rates) in self.lines(cause) {
            for times in RATE_FACTORS {
                let faster = rates
                    .iter()
                    .map(|(key, rate)| (key.clone(), written(rate.as_bps().saturating_mul(times))));
                let faster: Vec<(String, String)> = faster.collect();
                let set: Vec<(&str, &str)> = faster
                    .iter()
                    .map(|(key, value)| (key.as_str(), value.as_str()))
                    .collect();
                let words = if times == 2 { "twice" } else { "four times" };
                self.propose(kind, Effort::Provider, format!("{name} has {words} its rate"), &set);
            }
        }
    }

    /// Links of the affected stations, each with the keys of its rates.
    fn lines(&self, cause: &Cause) -> Vec<(String, Vec<(String, BitRate)>)> {
        let mut lines: Vec<(String, Vec<(String, BitRate)>)> = Vec::new();
        for name in &cause.stations {
            let Some(station) = self.plan.station(name) else {
                continue;
            };
            let (of, key, rates) = match (self.line_of(name), &station.link) {
                (Some(line), _) => {
                    let rates = vec![("down", line.wan.down), ("up", line.wan.up)];
                    (self.plan.name_of(line.router), line.key, rates)
                }
                (None, Some(link)) => {
                    let rates = vec![("down", Some(link.down)), ("up", Some(link.up))];
                    (name.as_str(), format!("station.{name}.link"), rates)
                }
                (None, None) => continue,
            };
            let rates = rates
                .into_iter()
                .filter_map(|(direction, rate)| Some((format!("{key}.{direction}"), rate?)));
            let line = (format!("{of}'s link"), rates.collect());
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    pub(crate) fn shaper(&mut self, cause: Kind, line: &Line<'_>, way: &str, rate: BitRate) {
        let rate = written(rate.as_bps());
        let key = |name: &str| format!("{}.{name}_{way}", line.key);
        let label = format!(
            "{} limits the {way}link to {rate} with CAKE (SQM)",
            self.router_at(line)
        );
        self.propose(
            cause,
            Effort::Firmware,
            label,
            &[(&key("discipline"), "cake"), (&key("shaper"), &rate)],
        );
    }

    /// Proposes SQM in both directions of a line, with shares by host.
    pub(crate) fn isolation(&mut self, cause: Kind, line: &Line<'_>) {
        let key = |name: &str| format!("{}.{name}", line.key);
        let label = format!(
            "{} limits both directions to 90 % of their rates with CAKE (SQM), and shares them by host",
            self.router_at(line)
        );
        self.propose(
            cause,
            Effort::Firmware,
            label,
            &[
                (&key("discipline"), "cake"),
                (&key("shaper_down"), "90 %"),
                (&key("shaper_up"), "90 %"),
                (&key("cake.isolation_down"), "dual-dsthost"),
                (&key("cake.isolation_up"), "dual-srchost"),
            ],
        );
    }

    pub(crate) fn has_station(&self, cause: &Cause) -> bool {
        cause.stations.iter().any(|name| self.plan.station(name).is_some())
    }

    /// Wired links between the affected stations and the server.
    pub(crate) fn hops(&self, cause: &Cause) -> Vec<Hop> {
        let server = &self.plan.server.link;
        let mut hops = vec![Hop {
            key: "server.link".to_owned(),
            delay: server.delay,
            loss: server.loss.as_ppb() > 0,
        }];
        for name in &cause.stations {
            let Some(station) = self.plan.station(name) else {
                continue;
            };
            let of_link = station.link.as_ref().map(|link| Hop {
                key: format!("station.{name}.link"),
                delay: link.delay,
                loss: link.loss.as_ppb() > 0,
            });
            let of_line = self.line_of(name).map(|line| Hop {
                key: line.key,
                delay: line.wan.delay,
                loss: line.wan.loss.as_ppb() > 0,
            });
            for hop in of_link.into_iter().chain(of_line) {
                if !hops.iter().any(|known| known.key == hop.key) {
                    hops.push(hop);
                }
            }
        }
        hops
    }
}

/// A wired link.
pub(crate) struct Hop {
    /// Path of its section.
    pub(crate) key: String,
    pub(crate) delay: Duration,
    /// `true` if the link loses packets.
    pub(crate) loss: bool,
}

/// The rate of a shaper on a line of this rate.
pub(crate) fn below(rate: BitRate) -> BitRate {
    BitRate::from_bps(rate.as_bps() / 100 * BELOW_PERCENT)
}
