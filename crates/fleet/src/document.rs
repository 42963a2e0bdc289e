//! A plan as a document, as it travels to the participants.

use netburn_scenario::Plan;
use serde_json::Value;

/// The plan of a document.
pub(crate) fn read(document: &Value) -> Result<Plan, String> {
    Plan::from_json(document).map_err(|error| format!("the plan can't be read: {error}"))
}
