//! Copies of records without names and addresses, for publication.
//!
//! Names are replaced in the typed fields of the plan and of the rows. The summary is then computed again from them, as
//! for every record. Texts for people get the same substitutes, wherever a known name or an address occurs in them.

mod substitutes;

use crate::columns::names::Names;
use crate::document::{Document, sync_folder};
use crate::error::Error;
use crate::header::{Header, Host, RunStatus, Source};
use crate::quality_issue::QualityIssue;
use crate::row::{Detail, EventRow, LinkChange, Row};
use crate::run::Run;
use crate::run_set::pool;
use crate::summary::count::Counter;
use crate::tables::Tables;
use std::path::Path;
use substitutes::Substitutes;

/// Path of the run in the summary of a copy. Readers replace it by the path of their folder.
const RUN: &str = "run";

/// Writes a copy of a run, or of a run set, into the new folder `folder`. Stations, access points, networks, meshes,
/// workloads of the scenario's own, devices of the fleet and the host get numbered names. BSSIDs, IP addresses and home
/// folders are replaced. Title, question, assumptions and labels are removed. Equal names have equal substitutes in all
/// runs of a set.
///
/// Names that occur only in texts of other programs are unknown, and remain.
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
    run.rows(&mut |row| match row {
        Row::Link(row) => {
            if let Some(ssid) = &row.ssid {
                substitutes.ssid(ssid);
            }
        }
        Row::Event(row) => match &row.detail {
            Detail::Health(health) => substitutes.participant(&health.name),
            Detail::Clock(clock) => substitutes.participant(&clock.name),
            Detail::Issue(issue) => participants(issue, substitutes),
            Detail::Text(_) | Detail::Link(_) | Detail::Lab(_) | Detail::Dscp(_) => {}
        },
        Row::Operation(_) | Row::Interval(_) | Row::Connection(_) | Row::Air(_) => {}
    })
}

/// Collects the devices that an issue names.
fn participants(issue: &QualityIssue, substitutes: &mut Substitutes) {
    match issue {
        QualityIssue::AgentLost { name, .. } => {
            // `laptop (anna-macbook)`, if the device has another name than the station.
            if let Some((_, device)) = name.strip_suffix(')').and_then(|name| name.split_once(" (")) {
                substitutes.participant(device);
            }
        }
        QualityIssue::ServerLost {
            member: Some(member), ..
        } => substitutes.participant(member),
        QualityIssue::ClockUncertain { name, .. } | QualityIssue::ClockJumped { name, .. } => {
            substitutes.participant(name);
        }
        QualityIssue::OfRun { issue, .. } => participants(issue, substitutes),
        _ => {}
    }
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
        Row::Event(row) => event(row, substitutes),
        Row::Operation(_) | Row::Interval(_) | Row::Connection(_) | Row::Air(_) => {}
    }
}

fn event(row: &mut EventRow, substitutes: &mut Substitutes) {
    let mut text = |text: &mut String| *text = substitutes.text(text);
    match &mut row.detail {
        Detail::Text(description) => text(description),
        Detail::Issue(issue) => issue.for_each_text(&mut text),
        Detail::Link(event) => {
            text(&mut event.text);
            match &mut event.change {
                LinkChange::Roamed { from, to } => from.iter_mut().chain(to).for_each(text),
                LinkChange::Reconnected { to } | LinkChange::JoinFailed { to } => to.iter_mut().for_each(text),
                LinkChange::Disconnected { from } | LinkChange::Disassociated { from } => {
                    from.iter_mut().for_each(text);
                }
                LinkChange::TransitionRequested { to, reason } => {
                    text(reason);
                    to.iter_mut().for_each(text);
                }
                LinkChange::Scanned { .. } | LinkChange::TransitionAnswered { .. } => {}
            }
        }
        Detail::Health(health) => {
            text(&mut health.name);
            health.stations.iter_mut().for_each(&mut text);
            health.served = std::mem::take(&mut health.served)
                .into_iter()
                .map(|(mut station, moved)| {
                    text(&mut station);
                    (station, moved)
                })
                .collect();
        }
        Detail::Clock(clock) => {
            text(&mut clock.name);
            clock.stations.iter_mut().for_each(&mut text);
        }
        Detail::Lab(lab) => {
            for stopped in &mut lab.stopped {
                text(&mut stopped.station);
                text(&mut stopped.program);
            }
        }
        Detail::Dscp(_) => {}
    }
}
