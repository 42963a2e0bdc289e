//! Keys of a plan that have no effect in its environment.
//!
//! A plan has every default filled in, so a key counts as set when its value is not the default.

mod rules;

use crate::reason::Reason;
use std::fmt;

/// Keys without effect that share one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ineffective {
    /// The keys, as paths into the scenario file; `*` represents every name.
    pub keys: Vec<String>,
    /// Reason why the keys have no effect.
    pub reason: Reason,
}

impl fmt::Display for Ineffective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, key) in self.keys.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}`{key}`")?;
        }
        let verb = if self.keys.len() == 1 { "has" } else { "have" };
        write!(f, " {verb} no effect: {}", self.reason.text())
    }
}
