//! The texts in an issue, which can contain names.

use super::{QualityIssue, Quantity};
use serde_json::Value;

/// Kind of a text in an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IssueText {
    /// Name of a station, or `server`.
    Station,
    /// Name of an agent or a server.
    Participant,
    /// Name of a workload.
    Workload,
    /// Label with a name in it, or a sentence.
    Sentence,
}

impl QualityIssue {
    /// Passes every text of the issue to `edit`: names, and causes in words of other programs.
    pub(crate) fn for_each_text(&mut self, edit: &mut impl FnMut(IssueText, &mut String)) {
        use IssueText::{Participant, Sentence, Station, Workload};
        match self {
            QualityIssue::AgentLost { name, loss } => {
                edit(Sentence, name);
                edit(Sentence, &mut loss.detail);
            }
            QualityIssue::ServerLost { member, loss } => {
                member.iter_mut().for_each(|member| edit(Participant, member));
                edit(Sentence, &mut loss.detail);
            }
            QualityIssue::WorkloadExcluded { workload, cause } => {
                edit(Workload, workload);
                edit(Sentence, cause);
            }
            QualityIssue::ProgramStopped { program, station, .. } => {
                edit(Sentence, program);
                edit(Station, station);
            }
            QualityIssue::NoSamples {
                workload, goal_text, ..
            } => {
                edit(Workload, workload);
                edit(Sentence, goal_text);
            }
            QualityIssue::ResultsMissing { cause: text }
            | QualityIssue::LabStopped { cause: text }
            | QualityIssue::RunFailed { cause: text, .. }
            | QualityIssue::RowsRejected { sender: text, .. }
            | QualityIssue::Standstill { who: text, .. }
            | QualityIssue::OperationsSkipped { who: text, .. } => edit(Sentence, text),
            QualityIssue::ClockJumped { name, .. } => edit(Participant, name),
            QualityIssue::LimitExceeded(exceeded) => match exceeded.quantity {
                Quantity::ClockUncertain => edit(Participant, &mut exceeded.who),
                _ => edit(Sentence, &mut exceeded.who),
            },
            QualityIssue::BytesUnconfirmed { station, .. } => edit(Station, station),
            QualityIssue::NoAgentReport { stations } => {
                stations.iter_mut().for_each(|station| edit(Station, station));
            }
            QualityIssue::InterfaceDown { station } => station.iter_mut().for_each(|station| edit(Station, station)),
            QualityIssue::OfRun { issue, .. } => issue.for_each_text(edit),
            QualityIssue::Unknown { code, text, document } => {
                edit(Sentence, text);
                for (key, value) in document.iter_mut() {
                    // The code is no name.
                    if key != "code" || value.as_str() != Some(code) {
                        each_string(value, &mut |text| edit(Sentence, text));
                    }
                }
            }
            QualityIssue::NoHealthReports
            | QualityIssue::NoServerReport
            | QualityIssue::RunInterrupted { .. }
            | QualityIssue::RunsMissing { .. } => {}
        }
    }
}

fn each_string(value: &mut Value, edit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => edit(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_string(value, edit)),
        Value::Object(fields) => fields.values_mut().for_each(|value| each_string(value, edit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
