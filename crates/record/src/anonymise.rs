//! Copies of records without names and addresses, for publication.
//!
//! Names are replaced in the typed fields of the plan and of the rows. The summary is then computed again from them, as
//! for every record. Texts for people get the same substitutes, wherever a known name or an address occurs in them.

mod substitutes;

use crate::columns::names::Names;
use crate::document::{Document, sync_folder};
use crate::error::Error;
use crate::header::{Header, Host, RunStatus, Source};
use crate::quality_issue::IssueText;
use crate::row::{AccessPointEvent, Detail, EventRow, LinkChange, Logged, Row};
use crate::run::Run;
use crate::run_set::pool;
use crate::summary::count::Counter;
use crate::tables::Tables;
use netburn_scenario::plan::NameKind;
use std::path::Path;
use substitutes::Substitutes;

/// Path of the run in the summary of a copy. Readers replace it by the path of their folder.
const RUN: &str = "run";

/// Writes a copy of a run, or of a run set, into the new folder `folder`. Stations, access points, networks, meshes,
/// workloads of the scenario's own, devices of the fleet and the host get numbered names. BSSIDs, IP addresses and home
/// folders are replaced. Title, question, assumptions and labels are removed. Equal names have equal substitutes in all
/// runs of a set.
///
/// A name that occurs only in a text, and in no field, can be unknown. It remains.
///
/// # Errors
/// When the record can't be read completely, or the folder can't be written.
pub fn anonymise(run: &Run, folder: &Path) -> Result<Run, Error> {
    let mut substitutes = Substitutes::default();
    let runs: Vec<Run> = run
        .run_folders()
        .iter()
        .map(|path| Run::open(path))
        .collect::<Result<_, _>>()?;
    if runs.is_empty() {
        collect(run, &mut substitutes)?;
        return copy(run, folder, &mut substitutes);
    }
    for run in &runs {
        collect(run, &mut substitutes)?;
    }
    std::fs::create_dir(folder).map_err(Error::io(folder))?;
    let copies: Vec<Run> = (1_usize..)
        .zip(&runs)
        .map(|(number, run)| copy(run, &folder.join(number.to_string()), &mut substitutes))
        .collect::<Result<_, _>>()?;
    pool(folder, &copies)
}

/// Collects the names of a run. Texts can contain names that later rows define.
fn collect(run: &Run, substitutes: &mut Substitutes) -> Result<(), Error> {
    let header = run.header();
    substitutes.host(&header.host.name);
    if let Some(source) = &header.source {
        substitutes.file(&source.file);
    }
    header
        .plan
        .clone()
        .rename(&mut |kind, name| substitutes.name(kind, name));
    for station in &header.plan.stations {
        if let Some(label) = &station.label {
            substitutes.label(label);
        }
        if header.source.is_some() {
            // Names of stations have no full stop. Texts about the file have the names of hosts.
            substitutes.alias(&station.name, &station.name.replace('-', "."));
        }
    }
    run.rows(&mut |row| match row {
        Row::Link(row) => {
            if let Some(ssid) = &row.ssid {
                substitutes.ssid(ssid);
            }
        }
        Row::Event(row) => match row.detail {
            Detail::Health(health) => substitutes.participant(&health.name),
            Detail::Clock(clock) => substitutes.participant(&clock.name),
            Detail::Issue(mut issue) => issue.for_each_text(&mut |kind, text| match kind {
                IssueText::Participant => substitutes.participant(text),
                IssueText::Sentence => substitutes.devices_in(text),
                IssueText::Station | IssueText::Workload => {}
            }),
            Detail::Text(text) => substitutes.devices_in(&text),
            Detail::AccessPoint(event) => {
                substitutes.name(NameKind::Ap, event.name());
                if let AccessPointEvent::Described { facts, .. } = &*event {
                    let ssids = facts
                        .iter()
                        .filter(|(topic, _)| topic.ends_with(AccessPointEvent::SSID));
                    ssids.for_each(|(_, ssid)| {
                        substitutes.ssid(ssid);
                    });
                }
            }
            Detail::Link(_) | Detail::Lab(_) | Detail::Dscp(_) => {}
        },
        Row::Observed(row) => {
            substitutes.name(NameKind::Ap, &row.access_point);
        }
        Row::Operation(_) | Row::Interval(_) | Row::Connection(_) | Row::Air(_) => {}
    })
}

fn copy(run: &Run, folder: &Path, substitutes: &mut Substitutes) -> Result<Run, Error> {
    std::fs::create_dir(folder).map_err(Error::io(folder))?;
    let header = self::header(run.header(), substitutes);
    let status = match run.status() {
        RunStatus::Failed(reason) => RunStatus::Failed(substitutes.text(reason)),
        status => status.clone(),
    };
    let names = Names::new(&header.plan);
    let mut tables = Tables::create(folder)?;
    let mut counter = Counter::new(&header.plan, header.environment);
    let mut failed = None;
    run.rows(&mut |mut row| {
        self::row(&mut row, substitutes);
        counter.row(&row);
        if failed.is_none() {
            failed = tables.put(&row, &names).err();
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let facts = tables.finish()?;
    sync_folder(folder).map_err(Error::io(folder))?;
    Document::of_rows(&header, &status, Path::new(RUN), counter, facts).write(folder)?;
    Run::open(folder)
}

fn header(header: &Header, substitutes: &mut Substitutes) -> Header {
    let mut plan = header.plan.clone();
    plan.rename(&mut |kind, name| substitutes.name(kind, name));
    (plan.title, plan.question) = (None, None);
    plan.assumptions.clear();
    for ap in &mut plan.aps {
        ap.observe = None;
    }
    for station in &mut plan.stations {
        station.label = None;
    }
    Header {
        plan,
        host: Host {
            name: substitutes.host(&header.host.name),
            ..header.host.clone()
        },
        source: header.source.as_ref().map(|source| Source {
            file: substitutes.file(&source.file),
            title: String::new(),
            left_out: source.left_out.iter().map(|what| substitutes.text(what)).collect(),
            ..source.clone()
        }),
        ..header.clone()
    }
}

fn row(row: &mut Row, substitutes: &mut Substitutes) {
    match row {
        Row::Link(row) => {
            if let Some(ssid) = &mut row.ssid {
                *ssid = substitutes.ssid(ssid);
            }
            if let Some(bssid) = &mut row.bssid {
                *bssid = substitutes.bssid(*bssid);
            }
        }
        Row::Observed(row) => {
            row.access_point = substitutes.name(NameKind::Ap, &row.access_point).into();
            if let Some(address) = &mut row.address {
                *address = substitutes.bssid(*address);
            }
            if let Some(part) = &mut row.part {
                *part = substitutes.part(part);
            }
        }
        Row::Event(row) => event(row, substitutes),
        Row::Operation(_) | Row::Interval(_) | Row::Connection(_) | Row::Air(_) => {}
    }
}

fn event(row: &mut EventRow, substitutes: &mut Substitutes) {
    match &mut row.detail {
        Detail::Text(text) => *text = substitutes.text(text),
        Detail::Issue(issue) => issue.for_each_text(&mut |kind, text| {
            *text = match kind {
                IssueText::Station => substitutes.station(text),
                IssueText::Participant => substitutes.participant_name(text),
                IssueText::Workload => substitutes.name(NameKind::Workload, text),
                IssueText::Sentence => substitutes.text(text),
            };
        }),
        Detail::Link(event) => {
            event.text = substitutes.text(&event.text);
            let mut bss = |bss: &mut String| *bss = substitutes.bss(bss);
            match &mut event.change {
                LinkChange::Roamed { from, to } => from.iter_mut().chain(to).for_each(bss),
                LinkChange::Reconnected { to } | LinkChange::JoinFailed { to } => to.iter_mut().for_each(bss),
                LinkChange::Disconnected { from } | LinkChange::Disassociated { from } => from.iter_mut().for_each(bss),
                LinkChange::TransitionRequested { to, reason } => {
                    to.iter_mut().for_each(&mut bss);
                    *reason = substitutes.text(reason);
                }
                LinkChange::Scanned { .. } | LinkChange::TransitionAnswered { .. } => {}
            }
        }
        Detail::Health(health) => {
            health.name = substitutes.participant_name(&health.name);
            for station in &mut health.stations {
                *station = substitutes.station(station);
            }
            health.served = std::mem::take(&mut health.served)
                .into_iter()
                .map(|(station, moved)| (substitutes.station(&station), moved))
                .collect();
        }
        Detail::Clock(clock) => {
            clock.name = substitutes.participant_name(&clock.name);
            for station in &mut clock.stations {
                *station = substitutes.station(station);
            }
        }
        Detail::Lab(lab) => {
            for stopped in &mut lab.stopped {
                stopped.station = substitutes.station(&stopped.station);
                stopped.program = substitutes.text(&stopped.program);
            }
        }
        Detail::AccessPoint(event) => access_point(event, substitutes),
        Detail::Dscp(_) => {}
    }
}

fn access_point(event: &mut AccessPointEvent, substitutes: &mut Substitutes) {
    match event {
        AccessPointEvent::Described { name, facts } => {
            *name = substitutes.name(NameKind::Ap, name);
            for (topic, mut fact) in std::mem::take(facts) {
                fact = if topic.ends_with(AccessPointEvent::SSID) {
                    substitutes.ssid(&fact)
                } else {
                    substitutes.text(&fact)
                };
                facts.insert(substitutes.part(&topic), fact);
            }
        }
        AccessPointEvent::Joined {
            name,
            interface,
            address,
        }
        | AccessPointEvent::Left {
            name,
            interface,
            address,
        } => {
            *name = substitutes.name(NameKind::Ap, name);
            *interface = substitutes.part(interface);
            *address = substitutes.bss(address);
        }
        AccessPointEvent::Unreachable { name, reason } | AccessPointEvent::Lost { name, reason } => {
            *name = substitutes.name(NameKind::Ap, name);
            *reason = substitutes.text(reason);
        }
        AccessPointEvent::Restarted { name }
        | AccessPointEvent::Returned { name }
        | AccessPointEvent::LogIncomplete { name } => {
            *name = substitutes.name(NameKind::Ap, name);
        }
        AccessPointEvent::ChannelChanged { name, interface, .. } => {
            *name = substitutes.name(NameKind::Ap, name);
            *interface = substitutes.part(interface);
        }
        AccessPointEvent::Logged {
            name,
            interface,
            address,
            what,
        } => {
            *name = substitutes.name(NameKind::Ap, name);
            if let Some(interface) = interface {
                *interface = substitutes.part(interface);
            }
            if let Some(address) = address {
                *address = substitutes.bss(address);
            }
            if let Logged::Roamed { from } = what {
                *from = substitutes.part(from);
            }
        }
    }
}
