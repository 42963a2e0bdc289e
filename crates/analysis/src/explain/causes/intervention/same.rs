//! Plans that describe the same network in different ways.

use netburn_scenario::Plan;
use netburn_scenario::plan::Radio;

/// True if two plans describe the same network: a rating, or the radios that follow from it.
pub(super) fn is_same(one: &Plan, other: &Plan) -> bool {
    one == other || decoded(one) == decoded(other)
}

/// The plan with the complete settings of each radio in place of a rating.
fn decoded(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    for ap in &mut plan.aps {
        let Ok(radios) = ap.all_radios() else { continue };
        ap.radios = radios
            .iter()
            .map(|(name, config)| Radio::with_config(*name, config))
            .collect();
        ap.rating = None;
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    /// No other networks are the default, so this value changes nothing; 1 % does.
    #[test]
    fn a_default_value_is_no_change() {
        let house = "[ap.home]\nrating = \"AX5400\"\n[station.tv]\njoins = \"home.5g\"\nsignal = \"-50 dBm\"\nworkload = \"voip\"\n";
        let document = Document::from_toml("house", house).unwrap();
        let with = |busy: &str| {
            let mut changed = document.clone();
            changed.set("ap.home.radio.5g.channel_busy", busy).unwrap();
            changed.resolve().unwrap()
        };
        let plan = document.resolve().unwrap();
        assert!(with("0 %") != plan && is_same(&with("0 %"), &plan));
        assert!(!is_same(&with("1 %"), &plan));
    }
}
