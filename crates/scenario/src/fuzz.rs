//! Fuzz target: no input panics, and a valid plan survives a round trip.

use crate::{Document, Environment, Plan};

/// Reads the bytes as a scenario file and resolves it. A valid plan must survive a round trip through JSON. Input that is
/// JSON is also read as a resolved document. A line `#set KEY=VALUE` is also used as a `--set` argument.
///
/// # Panics
/// The crate has a bug.
pub fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(document) = serde_json::from_str(text)
        && let Ok(plan) = Plan::from_json(&document)
    {
        assert_eq!(Plan::from_json(&plan.to_json()).as_ref(), Ok(&plan));
    }
    let mut document = match Document::from_toml("fuzz.toml", text) {
        Ok(document) => document,
        Err(error) => {
            assert!(!error.problems().is_empty());
            let _ = (error.to_string(), error.render(false), error.render(true));
            return;
        }
    };
    for line in text.lines().filter_map(|line| line.strip_prefix("#set ")).take(8) {
        if let Some((key, value)) = line.split_once('=')
            && let Err(error) = document.set(key, value)
        {
            let _ = (error.to_string(), error.render(false));
        }
    }
    match document.resolve() {
        Err(error) => {
            assert!(!error.problems().is_empty());
            let _ = (error.to_string(), error.render(false), error.render(true));
        }
        Ok(plan) => {
            let again = Plan::from_json(&plan.to_json());
            assert_eq!(again.as_ref(), Ok(&plan), "the plan survives a round trip");
            for environment in Environment::ALL {
                let _ = (
                    plan.check_for(environment),
                    plan.bytes_expected(environment),
                    plan.describe(environment),
                );
                let _ = document.resolve_for(environment);
            }
        }
    }
}
