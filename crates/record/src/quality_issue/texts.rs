//! The texts in an issue, which can contain names.

use super::QualityIssue;
use serde_json::Value;

impl QualityIssue {
    /// Passes every text of the issue to `edit`: names, and causes in words of other programs.
    pub(crate) fn for_each_text(&mut self, edit: &mut impl FnMut(&mut String)) {
        match self {
            QualityIssue::AgentLost { name, loss } => {
                edit(name);
                edit(&mut loss.detail);
            }
            QualityIssue::ServerLost { member, loss } => {
                member.iter_mut().for_each(&mut *edit);
                edit(&mut loss.detail);
            }
            QualityIssue::WorkloadExcluded { workload, cause } => {
                edit(workload);
                edit(cause);
            }
            QualityIssue::ProgramStopped { program, station, .. } => {
                edit(program);
                edit(station);
            }
            QualityIssue::NoSamples {
                workload, goal_text, ..
            } => {
                edit(workload);
                edit(goal_text);
            }
            QualityIssue::ResultsMissing { cause: text }
            | QualityIssue::LabStopped { cause: text }
            | QualityIssue::RunFailed { cause: text, .. }
            | QualityIssue::RowsRejected { sender: text, .. }
            | QualityIssue::BytesUnconfirmed { station: text, .. }
            | QualityIssue::StartDelay { who: text, .. }
            | QualityIssue::Standstill { who: text, .. }
            | QualityIssue::OperationsSkipped { who: text, .. }
            | QualityIssue::ProcessorBusy { who: text, .. }
            | QualityIssue::MachineBusy { machine: text, .. }
            | QualityIssue::SlowResponses { who: text, .. }
            | QualityIssue::RequestsFailed { who: text, .. }
            | QualityIssue::ClockUncertain { name: text, .. }
            | QualityIssue::ClockJumped { name: text, .. } => edit(text),
            QualityIssue::NoAgentReport { stations } => stations.iter_mut().for_each(edit),
            QualityIssue::InterfaceDown { station } => station.iter_mut().for_each(edit),
            QualityIssue::OfRun { issue, .. } => issue.for_each_text(edit),
            QualityIssue::Unknown { code, text, document } => {
                edit(text);
                for (key, value) in document.iter_mut() {
                    // The code is no name.
                    if key != "code" || value.as_str() != Some(code) {
                        each_string(value, edit);
                    }
                }
            }
            QualityIssue::StandstillShare { .. }
            | QualityIssue::LabMachineBusy { .. }
            | QualityIssue::NoHealthReports
            | QualityIssue::NoServerReport
            | QualityIssue::LabDeliveryDelay { .. }
            | QualityIssue::LabPacketLate { .. }
            | QualityIssue::MachineSuspended { .. }
            | QualityIssue::LabPacketsDropped { .. }
            | QualityIssue::LabFramesFailed { .. }
            | QualityIssue::HypervisorSteal { .. }
            | QualityIssue::RunInterrupted { .. }
            | QualityIssue::RunsMissing { .. } => {}
        }
    }
}

fn each_string(value: &mut Value, edit: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => edit(text),
        Value::Array(values) => values.iter_mut().for_each(|value| each_string(value, edit)),
        Value::Object(fields) => fields.values_mut().for_each(|value| each_string(value, edit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
