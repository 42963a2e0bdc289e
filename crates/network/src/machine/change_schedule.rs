//! Changes at run time: when a plan's `[[at]]` are due.

use crate::error::NetworkError;
use crate::layout::{Attachment, Layout};
use netburn_medium::config::LinkQuality;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Setting, StationSetting};
use netburn_units::Instant;
use std::collections::VecDeque;

/// A change of settings at run time.
#[derive(Debug, Clone, PartialEq)]
pub struct AppliedChange {
    /// Time of the change.
    pub at: Instant,
    /// Changed settings with their new values.
    pub settings: Vec<Setting>,
}

/// Schedule of the changes, in the order of time.
#[derive(Debug)]
pub(crate) struct ChangeSchedule {
    pub(crate) due: Vec<AppliedChange>,
    pub(crate) done: usize,
    /// Changes that took effect and were not polled yet.
    pub(crate) applied: VecDeque<AppliedChange>,
    pub(crate) aps: Vec<String>,
    pub(crate) stations: Vec<String>,
}

impl ChangeSchedule {
    pub(crate) fn from_plan(plan: &Plan, layout: &Layout) -> Result<Self, NetworkError> {
        let changes = ChangeSchedule {
            due: plan
                .changes
                .iter()
                .map(|change| AppliedChange {
                    at: Instant::ZERO + change.time,
                    settings: change.settings.clone(),
                })
                .collect(),
            done: 0,
            applied: VecDeque::new(),
            aps: plan.aps.iter().map(|ap| ap.name.clone()).collect(),
            stations: plan.stations.iter().map(|station| station.name.clone()).collect(),
        };
        for setting in changes.due.iter().flat_map(|changed| &changed.settings) {
            let there = match setting {
                Setting::Link(_) => true,
                Setting::Router(_) => plan.router.is_some(),
                Setting::Ap(name, _) => changes.aps.contains(name),
                Setting::Radio(name, _) => layout.radios.iter().any(|radio| radio.name == *name),
                Setting::Station(name, _) => changes.stations.contains(name),
            };
            if !there {
                let what = match setting {
                    Setting::Link(_) => "server.link".to_owned(),
                    Setting::Router(_) => "router".to_owned(),
                    Setting::Ap(name, _) => format!("ap.{name}"),
                    Setting::Radio(name, _) => format!("ap.{}.radio.{}", name.ap, name.radio),
                    Setting::Station(name, _) => format!("station.{name}"),
                };
                return Err(NetworkError::UnknownSetting { what });
            }
            if let Setting::Station(name, StationSetting::Quality(LinkQuality::Mcs(mcs))) = setting
                && let Some(station) = changes.stations.iter().position(|station| station == name)
            {
                let Attachment::Air(wifi_station) = layout.attachments[station] else {
                    continue;
                };
                let link = &layout.wifi_stations[wifi_station].link;
                link.check_mcs(*mcs).map_err(|reason| NetworkError::Phy {
                    subject: format!("[[at]] station.{name}.mcs with {}", link.standard.name()),
                    reason,
                })?;
            }
        }
        Ok(changes)
    }

    /// Time of the next change.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.due.get(self.done).map(|changed| changed.at)
    }
}
