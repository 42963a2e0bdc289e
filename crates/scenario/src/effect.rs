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

#[cfg(test)]
mod tests {
    use crate::reason::Reason;
    use crate::{Document, Environment};

    /// A workload `responsiveness` receives the answers of its probes, but it also sends with `load_up`.
    #[test]
    fn congestion_control_has_an_effect_on_load_from_the_station() {
        for (load_up, has_effect) in [(4, true), (0, false)] {
            let text = format!(
                "[station.a]\ncc = \"bbr\"\nworkload = \"rpm\"\n[workload.rpm]\nkind = \"responsiveness\"\nload_up = {load_up}\n\
                 [server]\nhttp = \"2\"\n"
            );
            let document = Document::from_toml("t.toml", &text).unwrap();
            let (plan, _) = document.resolve_for(Environment::Local).unwrap();
            let ineffective = plan.ineffective_on(Environment::Local);
            let only_receives = ineffective.iter().any(|keys| keys.reason == Reason::OnlyReceives);
            assert_eq!(!only_receives, has_effect, "load_up = {load_up}: {ineffective:?}");
        }
    }
}
