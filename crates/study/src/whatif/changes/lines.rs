//! Changes of WAN links and of the path to the server.

use super::{InterventionBuilder, written};
use netburn_analysis::explain::{Cause, Kind};
use netburn_scenario::plan::{Device, Line};
use netburn_units::{BitRate, Duration};

/// Factors by which a slow link's rate is increased.
const RATE_FACTORS: [u64; 2] = [2, 4];
/// One-way delay of a server in the same region.
const NEAR_SERVER_DELAY: Duration = Duration::from_millis(5);

/// Maximum ratio of the rates of a WAN link for which one short queue serves both directions: 20 ms in the slower one are then
/// at least 10 ms in the faster one.
const MAX_ASYMMETRY: u64 = 2;
/// Share of the link's rate to which a shaper limits it, as OpenWrt's guide to SQM advises.
const SQM_SHARE: &str = "90 %";

impl InterventionBuilder<'_> {
    /// Proposes a shaper with CAKE below the rate of a WAN link (SQM), in the direction of the cause.
    pub(super) fn sqm(&mut self, cause: Kind, line: &Line<'_>) {
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

    /// Proposes a short queue of a WAN link in the direction of the cause. The capacity of a queue is that of both directions, so
    /// on a link whose other direction is much faster it would be too small there.
    pub(super) fn short_line_queue(&mut self, cause: Kind, line: &Line<'_>) {
        let wan = line.wan;
        let (rate, other) = match cause {
            Kind::UploadBloat | Kind::LineUp => (wan.up, wan.down),
            _ => (wan.down, wan.up),
        };
        let Some(rate) = rate else { return };
        if other.is_none_or(|other| other.as_bps() <= rate.as_bps().saturating_mul(MAX_ASYMMETRY)) {
            self.short_queue(cause, &format!("{}.queue", line.key), rate, wan.queue);
        }
    }

    /// The router of a line in a sentence: `home's router`.
    pub(super) fn router_at(&self, line: &Line<'_>) -> String {
        match line.router {
            Device::Router => "the router".to_owned(),
            Device::Ap(_) => format!("{}'s router", self.plan.name_of(line.router)),
        }
    }

    /// Proposes a short queue, and SQM, for the WAN links that delay stations.
    pub(super) fn delayed_line(&mut self, cause: &Cause) {
        for name in &cause.stations {
            let Some(line) = self.line_of(name) else { continue };
            self.short_line_queue(cause.kind, &line);
            self.sqm(cause.kind, &line);
        }
    }

    /// Proposes a faster line. `kind` is the kind of the cause.
    pub(super) fn slow_line(&mut self, kind: Kind, cause: &Cause) {
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
                self.propose(kind, format!("{name} has {words} its rate"), &set);
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

    pub(super) fn lossy_line(&mut self, cause: &Cause) {
        if !self.has_station(cause) {
            return;
        }
        let hops = self.hops(cause);
        let lossy: Vec<String> = hops
            .iter()
            .filter(|hop| hop.loss)
            .map(|hop| format!("{}.loss", hop.key))
            .collect();
        let set: Vec<(&str, &str)> = lossy.iter().map(|key| (key.as_str(), "0 %")).collect();
        if !set.is_empty() {
            self.propose(Kind::LossyLine, "the link loses no packets".to_owned(), &set);
        }
        self.propose(
            Kind::LossyLine,
            "the server uses BBR".to_owned(),
            &[("server.cc", "bbr")],
        );
    }

    pub(super) fn distant_server(&mut self, cause: &Cause) {
        if !self.has_station(cause) {
            return;
        }
        let hops = self.hops(cause);
        let far = hops
            .iter()
            .filter(|hop| hop.delay > NEAR_SERVER_DELAY)
            .map(|hop| format!("{}.delay", hop.key));
        let far: Vec<String> = far.collect();
        let near = format!("{} ms", NEAR_SERVER_DELAY.as_nanos() / 1_000_000);
        let set: Vec<(&str, &str)> = far.iter().map(|key| (key.as_str(), near.as_str())).collect();
        if !set.is_empty() {
            self.propose(
                Kind::DistantServer,
                format!("the one-way delay to the server is at most {near}"),
                &set,
            );
        }
        self.propose(
            Kind::DistantServer,
            "the server uses HTTP/2, with one connection per page".to_owned(),
            &[("server.http", "2")],
        );
    }

    fn has_station(&self, cause: &Cause) -> bool {
        cause.stations.iter().any(|name| self.plan.station(name).is_some())
    }

    /// Wired links between the affected stations and the server.
    fn hops(&self, cause: &Cause) -> Vec<Hop> {
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
struct Hop {
    /// Path of its section.
    key: String,
    delay: Duration,
    /// `true` if the link loses packets.
    loss: bool,
}
