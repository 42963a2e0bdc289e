//! The file of `--log`: the states of the commands and the self-check of the lab.

use super::session::{Command, Outcome, Went};
use netburn_lab::ProcessExit;
use netburn_record::{LabHealth, QualityIssue};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// Name of the file.
const FILE: &str = "lab.json";

/// Writes the file.
pub(super) fn keep(
    folder: &Path,
    commands: &[Command],
    outcome: &Outcome,
    health: &LabHealth,
    reasons: &[QualityIssue],
) -> io::Result<()> {
    let each = commands.iter().zip(&outcome.went);
    let document = json!({
        "schema": "netburn.lab/1",
        "commands": each.map(|(command, went)| described(command, *went)).collect::<Vec<_>>(),
        "reliable": reasons.is_empty(),
        "reasons": reasons,
        "health": health,
    });
    let mut text = serde_json::to_string_pretty(&document).map_err(io::Error::other)?;
    text.push('\n');
    std::fs::write(folder.join(FILE), text)
}

fn described(command: &Command, went: Went) -> Value {
    let words = command.words.iter().map(|word| word.to_string_lossy());
    let (status, signal) = match went {
        Went::Ended(ProcessExit::Status(status)) | Went::Dismissed(ProcessExit::Status(status)) => (Some(status), None),
        Went::Ended(ProcessExit::Signal(signal)) | Went::Dismissed(ProcessExit::Signal(signal)) => (None, Some(signal)),
        _ => (None, None),
    };
    json!({
        "name": command.name,
        "station": command.at,
        "command": words.collect::<Vec<_>>(),
        "service": command.service,
        "status": status,
        "signal": signal,
    })
}
