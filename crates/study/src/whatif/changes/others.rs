//! Changes for causes that only a simulation shows: disturbances, shares, and wrong settings of a shaper.

use super::{InterventionBuilder, written};
use netburn_analysis::explain::{Cause, Kind};
use netburn_scenario::plan::Line;
use netburn_units::BitRate;
use netburn_workload::{Config, Direction};

/// Share of a line's lowest rate to which a shaper limits it, in percent.
const BELOW_PERCENT: u64 = 90;
/// Factor of a forwarding rate.
const FORWARDING_FACTOR: u64 = 4;

impl InterventionBuilder<'_> {
    pub(super) fn power_save(&mut self, cause: &Cause) {
        for name in &cause.stations {
            let key = format!("station.{name}.power_save");
            self.propose(Kind::PowerSave, format!("{name} does not doze"), &[(&key, "off")]);
        }
    }

    pub(super) fn scans(&mut self, cause: &Cause) {
        for name in &cause.stations {
            let key = format!("station.{name}.roaming");
            let label = format!("{name} never looks for another access point");
            self.propose(Kind::Scans, label, &[(&key, "never")]);
            let key = format!("station.{name}.roaming.trigger");
            let label = format!("{name} looks for another access point only below -80 dBm");
            self.propose(Kind::Scans, label, &[(&key, "-80 dBm")]);
        }
    }

    pub(super) fn access_point_scans(&mut self) {
        let scanning = self.plan.aps.iter().filter(|ap| ap.scan_interval.is_some());
        let names: Vec<String> = scanning.map(|ap| ap.name.clone()).collect();
        for name in names {
            let key = format!("ap.{name}.scan_interval");
            let label = format!("{name} scans only once an hour");
            self.propose(Kind::ApScans, label, &[(&key, "3600 s")]);
            let key = format!("ap.{name}.scan_away");
            let label = format!("{name} is away for 20 ms in each scan");
            self.propose(Kind::ApScans, label, &[(&key, "20 ms")]);
        }
    }

    /// Proposes a shaper below the rate of the policer.
    pub(super) fn policer(&mut self) {
        for line in self.plan.lines() {
            for (way, policer) in [("down", line.wan.policer_down), ("up", line.wan.policer_up)] {
                if let Some(policer) = policer {
                    self.shaper(Kind::Policer, &line, way, below(policer.rate));
                }
            }
        }
    }

    /// Proposes a shaper at 90 % of the lowest rate of the lines.
    pub(super) fn wrong_shaper(&mut self) {
        for line in self.plan.lines() {
            for (way, direction) in [("down", Direction::Down), ("up", Direction::Up)] {
                let capacity = self.plan.capacity(line.router, direction);
                let capacity = capacity.filter(|capacity| capacity.shaper().is_some());
                if let Some(lowest) = capacity.and_then(|capacity| capacity.lowest_of_line(self.plan.duration)) {
                    self.shaper(Kind::Shaper, &line, way, below(lowest));
                }
            }
        }
    }

    fn shaper(&mut self, cause: Kind, line: &Line<'_>, way: &str, rate: BitRate) {
        let rate = written(rate.as_bps());
        let key = |name: &str| format!("{}.{name}_{way}", line.key);
        let label = format!(
            "{} limits the {way}link to {rate} with CAKE (SQM)",
            self.router_at(line)
        );
        self.propose(cause, label, &[(&key("discipline"), "cake"), (&key("shaper"), &rate)]);
    }

    pub(super) fn router(&mut self) {
        for device in self.plan.devices() {
            let Some(rate) = self.plan.forwarding_of(device) else {
                continue;
            };
            let faster = written(rate.as_bps().saturating_mul(FORWARDING_FACTOR));
            let key = format!("{}.forwarding", self.plan.key_of(device));
            let label = format!("{} forwards {faster}", self.plan.name_of(device));
            self.propose(Kind::Router, label, &[(&key, &faster)]);
        }
    }

    pub(super) fn own_channel(&mut self, cause: &Cause) {
        self.free_channels(Kind::OwnChannel, &cause.stations);
        for name in &cause.by {
            self.other_radio(Kind::OwnChannel, name);
        }
    }

    /// Proposes fewer connections, shares by host, and a limit of each transfer.
    pub(super) fn fair_share(&mut self, cause: &Cause) {
        for name in &cause.by {
            let Some(station) = self.plan.station(name) else {
                continue;
            };
            let has_several = |config: &Config| config.bulk().is_some_and(|bulk| bulk.streams > 1);
            let several = station
                .workloads
                .iter()
                .filter(|workload| has_several(&workload.config));
            let several: Vec<String> = several.map(|workload| workload.name.clone()).collect();
            for workload in several {
                let key = format!("workload.{workload}.streams");
                self.propose(
                    Kind::FairShare,
                    format!("{workload} uses one connection"),
                    &[(&key, "1")],
                );
            }
            if let Some(line) = self.line_of(name) {
                self.isolation(Kind::FairShare, &line);
            }
            let uploads = station
                .workloads
                .iter()
                .any(|workload| workload.config.direction() == Direction::Up);
            if uploads {
                self.capped_up(Kind::FairShare, name, None);
            } else {
                self.capped(Kind::FairShare, name, None);
            }
        }
    }

    /// Proposes SQM in both directions of a line, with shares by host.
    pub(super) fn isolation(&mut self, cause: Kind, line: &Line<'_>) {
        let key = |name: &str| format!("{}.{name}", line.key);
        let label = format!(
            "{} limits both directions to 90 % of their rates with CAKE (SQM), and shares them by host",
            self.router_at(line)
        );
        self.propose(
            cause,
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

    pub(super) fn traffic(&mut self, cause: &Cause) {
        for name in cause.by.iter().chain(&cause.stations) {
            self.other_radio(Kind::Traffic, name);
        }
        self.slow_line(Kind::Traffic, cause);
    }
}

fn below(rate: BitRate) -> BitRate {
    BitRate::from_bps(rate.as_bps() / 100 * BELOW_PERCENT)
}
