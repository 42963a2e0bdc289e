//! A plan as a document, as it travels to the participants.

use netburn_scenario::Plan;

/// The plan as a document.
pub(crate) fn write(plan: &Plan) -> serde_json::Value {
    let _ = plan;
    todo!()
}

/// The plan of a document.
pub(crate) fn read(document: &serde_json::Value) -> Result<Plan, String> {
    let _ = document;
    todo!()
}
