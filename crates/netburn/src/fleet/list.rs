//! `netburn fleet list`.

use super::{found, runtime};
use crate::args::{FleetListArgs, Format};
use crate::exit::{Ended, Stop};
use crate::record::document;
use crate::terminal::data;
use netburn_fleet::hub::owner::Present;
use netburn_fleet::protocol::standing::Kind;
use netburn_record::Role;
use netburn_report::plain::sanitise;
use serde_json::json;

/// `netburn fleet list`.
pub(crate) fn list(args: &FleetListArgs) -> Result<Ended, Stop> {
    let members = runtime()?.block_on(async {
        let mut owner = found().await?;
        owner
            .members()
            .await
            .map_err(|error| Stop::NotMeasured(error.to_string()))
    })?;
    data(&match args.format {
        Format::Text => text(&members),
        Format::Json => document(&members.iter().map(entry).collect::<Vec<_>>()),
    })?;
    Ok(Ended::Ran)
}

/// The members as lines.
pub(super) fn text(members: &[Present]) -> String {
    if members.is_empty() {
        return "nobody is here yet\n".to_owned();
    }
    let rows: Vec<[String; 4]> = members.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let lines = rows.iter().map(|row| {
        let padded = |column: usize| format!("{:<width$}", row[column], width = widths[column]);
        let line = format!("{}  {}  {}  {}", padded(0), padded(1), padded(2), row[3]);
        format!("{}\n", line.trim_end())
    });
    lines.collect()
}

/// Name, kind and system, address, and the rest.
fn row(member: &Present) -> [String; 4] {
    let about = &member.about;
    let kind = match (about.role, about.kind) {
        (Role::Server, _) => "server",
        (_, Kind::Browser) => "browser",
        (_, Kind::Process) => "agent",
    };
    let mut rest: Vec<String> = about
        .labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    rest.extend(about.interface.iter().map(|name| format!("on {name}")));
    rest.extend(member.run.iter().map(|run| format!("in {run}")));
    if !member.waiting.is_empty() {
        rest.push(format!("has results of {}", member.waiting.join(", ")));
    }
    let from = member
        .address
        .map_or_else(|| "this machine".to_owned(), |ip| ip.to_string());
    [
        member.name.clone(),
        format!("{kind}, {}", shortened(&sanitise(&about.system))),
        from,
        sanitise(&rest.join(" ")),
    ]
}

/// What a browser says of itself can be long.
fn shortened(text: &str) -> String {
    match text.chars().count() > 40 {
        true => text.chars().take(39).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// A member for programs.
fn entry(member: &Present) -> serde_json::Value {
    json!({
        "name": member.name,
        "about": member.about,
        "version": member.version,
        "address": member.address,
        "run": member.run,
        "waiting": member.waiting,
    })
}
