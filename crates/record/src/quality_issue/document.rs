//! Issues in documents: code, fields and sentence. Issues of newer versions are kept as they are.

use super::{LimitExceeded, QualityIssue};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

impl QualityIssue {
    /// Returns its code in documents: `agent_lost`. Codes are stable.
    #[must_use]
    pub fn code(&self) -> String {
        match self {
            QualityIssue::Unknown { code, .. } => code.clone(),
            QualityIssue::LimitExceeded(exceeded) => exceeded.quantity.code().to_owned(),
            known => match known.fields().remove("code") {
                Some(Value::String(code)) => code,
                _ => unreachable!("the code is the tag of the enum"),
            },
        }
    }

    /// Code and fields of a known issue.
    fn fields(&self) -> Map<String, Value> {
        if let QualityIssue::LimitExceeded(exceeded) = self {
            return exceeded.fields();
        }
        match QualityIssue::serialize(self, serde_json::value::Serializer) {
            Ok(Value::Object(fields)) => fields,
            _ => unreachable!("an issue is an object of plain fields"),
        }
    }
}

impl Serialize for QualityIssue {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if let QualityIssue::Unknown { document, .. } = self {
            return document.serialize(to);
        }
        let mut fields = self.fields();
        fields.insert("text".to_owned(), Value::String(self.to_string()));
        fields.serialize(to)
    }
}

impl<'de> Deserialize<'de> for QualityIssue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let document = Map::<String, Value>::deserialize(from)?;
        if let Some(exceeded) = LimitExceeded::from_document(&document) {
            return Ok(QualityIssue::LimitExceeded(exceeded));
        }
        if let Ok(known) = QualityIssue::deserialize(Value::Object(document.clone())) {
            return Ok(known);
        }
        let field = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
        let code = field("code").ok_or_else(|| D::Error::missing_field("code"))?;
        let text = field("text").unwrap_or_else(|| code.clone());
        Ok(QualityIssue::Unknown { code, text, document })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Loss, LossCause};
    use crate::quality_issue::Quantity;
    use crate::rejected_rows::{Rejected, Rejection};
    use serde_json::json;

    #[test]
    fn an_issue_is_written_with_code_fields_and_sentence() {
        let issue = QualityIssue::AgentLost {
            name: "tv".into(),
            loss: Loss::new(LossCause::Left, "gone"),
        };
        let document = json!({
            "code": "agent_lost", "name": "tv", "cause": "left", "detail": "gone", "text": "agent tv was lost: gone"
        });
        assert_eq!(serde_json::to_value(&issue).unwrap(), document);
        assert_eq!(serde_json::from_value::<QualityIssue>(document).unwrap(), issue);
        assert_eq!(issue.code(), "agent_lost");
        let of_run = issue.of_run(2);
        assert_eq!(of_run.to_string(), "run 2: agent tv was lost: gone");
        let text = serde_json::to_string(&of_run).unwrap();
        assert_eq!(serde_json::from_str::<QualityIssue>(&text).unwrap(), of_run);
        assert_eq!(QualityIssue::NoServerReport.code(), "no_server_report");
    }

    #[test]
    fn an_agent_that_was_absent_from_the_beginning_was_not_lost() {
        let issue = QualityIssue::AgentLost {
            name: "tv".into(),
            loss: Loss::new(LossCause::NoDevice, "no agent named `tv` is registered"),
        };
        assert_eq!(issue.to_string(), "tv has no agent: no agent named `tv` is registered");
    }

    #[test]
    fn rejected_rows_are_written_as_numbers_by_reason() {
        let mut reasons = Rejected::default();
        for rejection in [Rejection::Events, Rejection::Time, Rejection::Events] {
            reasons.count(rejection);
        }
        let issue = QualityIssue::RowsRejected {
            sender: "agent tv".into(),
            reasons,
        };
        let document = json!({
            "code": "rows_rejected", "sender": "agent tv", "reasons": { "time": 1, "events": 2 },
            "text": "3 rows of agent tv were rejected: 2 above the limit for events, 1 outside the run's time"
        });
        assert_eq!(serde_json::to_value(&issue).unwrap(), document);
        assert_eq!(serde_json::from_value::<QualityIssue>(document).unwrap(), issue);
    }

    #[test]
    fn an_issue_of_a_newer_version_is_kept_and_printed() {
        let document = json!({ "code": "solar_flare", "flux": 3, "text": "the sun disturbed the run" });
        let issue: QualityIssue = serde_json::from_value(document.clone()).unwrap();
        assert_eq!(
            (issue.code().as_str(), issue.to_string().as_str()),
            ("solar_flare", "the sun disturbed the run")
        );
        assert_eq!(serde_json::to_value(&issue).unwrap(), document);
        // A known code with other fields.
        let document = json!({ "code": "agent_lost", "agents": ["a", "b"], "text": "agents a and b were lost" });
        let issue: QualityIssue = serde_json::from_value(document).unwrap();
        assert_eq!(issue.to_string(), "agents a and b were lost");
        // A known code with a new cause.
        let document = json!({
            "code": "server_lost", "member": null, "cause": "flooded", "detail": "wet", "text": "the server was lost: wet"
        });
        let issue: QualityIssue = serde_json::from_value(document.clone()).unwrap();
        assert_eq!(
            (issue.code().as_str(), issue.to_string().as_str()),
            ("server_lost", "the server was lost: wet")
        );
        assert_eq!(serde_json::to_value(&issue).unwrap(), document);
        // A share that is not a number is null in JSON.
        let busy = QualityIssue::LimitExceeded(LimitExceeded {
            quantity: Quantity::LabMachineBusy,
            who: String::new(),
            value: f64::NAN,
            limit: 0.5,
        });
        let read: QualityIssue = serde_json::from_str(&serde_json::to_string(&busy).unwrap()).unwrap();
        assert_eq!((read.code(), read.to_string()), (busy.code(), busy.to_string()));
        assert!(serde_json::from_str::<QualityIssue>("{}").is_err());
    }
}
