//! Texts as messages.

use crate::messages::{Message, ToAgent, ToController};

/// A message is equal after serializing and parsing it; its rows are accepted or rejected.
///
/// # Panics
/// If an invariant is violated.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(message) = ToAgent::from_text(&text) {
        let again = ToAgent::from_text(&message.to_text());
        assert_eq!(again.as_ref(), Ok(&message));
    }
    if let Ok(message) = ToController::from_text(&text) {
        // Compared as texts, because a number of a self-report may be NaN.
        let written = message.to_text();
        let again = ToController::from_text(&written).expect("what was written can be read");
        assert_eq!(again.to_text(), written);
        if let ToController::Rows(rows) = message {
            let _ = rows.batch.clone().into_rows(|station| station < 4, false);
            let _ = rows.batch.into_rows(|_| true, true);
        }
    }
}
