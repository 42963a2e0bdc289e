//! Settings of a plan that this machine's kernel does not support.

use netburn_scenario::Plan;
use netburn_scenario::plan::Station;
use std::fs;

/// Default congestion control, equal in all environments.
const DEFAULT: &str = "cubic";

/// Congestion control of connections for which the plan does not set one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DefaultCongestionControl {
    /// Name of the congestion control; `None` for the default of the network namespace.
    pub(crate) name: Option<String>,
    /// Note for the user, if this is not [`DEFAULT`].
    pub(crate) note: Option<String>,
}

/// Returns the simulator's default if this kernel supports it, otherwise the kernel's own default.
pub(crate) fn default_congestion_control() -> DefaultCongestionControl {
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
    choose_default(
        &read("tcp_available_congestion_control"),
        &read("tcp_congestion_control"),
    )
}

fn choose_default(available: &str, own: &str) -> DefaultCongestionControl {
    if available.split_whitespace().any(|name| name == DEFAULT) {
        return DefaultCongestionControl {
            name: Some(DEFAULT.to_owned()),
            note: None,
        };
    }
    let own = own.trim();
    DefaultCongestionControl {
        name: (!own.is_empty()).then(|| own.to_owned()),
        note: Some(format!(
            "default congestion control: found {own}, expected {DEFAULT} as in the simulator; this kernel has not loaded it. \
             `sudo modprobe tcp_{DEFAULT}` may load it"
        )),
    }
}

/// Returns one note for each kernel setting of the plan that the lab does not support.
#[must_use]
pub fn unsupported(plan: &Plan) -> Vec<String> {
    plan.stations.iter().flat_map(unsupported_by_station).collect()
}

fn unsupported_by_station(station: &Station) -> Vec<String> {
    let name = &station.name;
    let mut notes = Vec::new();
    let settings = station.tsq.and_then(|tsq| tsq.settings());
    if settings.is_some_and(|settings| settings.cap.is_some() && !settings.caps_paced) {
        notes.push(format!("station.{name}.tsq: the cap also applies to paced connections"));
    }
    if !station.tx_completion_delay.is_zero() {
        notes.push(format!(
            "station.{name}.tx_completion_delay: not supported; the lab reports completions to the kernel immediately"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    #[test]
    fn the_simulators_congestion_control_is_used_if_available() {
        let here = choose_default("reno cubic bbr\n", "bbr\n");
        assert_eq!((here.name.as_deref(), here.note), (Some("cubic"), None));
        let here = choose_default("reno bbr\n", "bbr\n");
        assert_eq!(here.name.as_deref(), Some("bbr"));
        let note = here.note.unwrap();
        assert!(
            note.contains("found bbr,") && note.contains("modprobe tcp_cubic"),
            "{note}"
        );
        // A name that only has this prefix does not match.
        assert_eq!(choose_default("cubictcp", "reno").name.as_deref(), Some("reno"));
        assert_eq!(choose_default("", "").name, None);
    }

    #[test]
    fn unsupported_settings_cause_notes() {
        let notes = |line: &str| {
            let text = format!(
                "[ap.a.radio.5g]\n[station.s]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\nworkload = \"upload\"\n{line}\n"
            );
            unsupported(&Document::from_toml("s.toml", &text).unwrap().resolve().unwrap())
        };
        let none: [&str; 0] = [];
        for met in [
            "",
            "tsq = \"2012\"",
            "tsq = \"2013\"",
            "tsq = \"2025\"",
            "tsq = \"off\"",
            "tsq = { shift = 12, cap = \"64 KiB\" }",
        ] {
            assert_eq!(notes(met), none, "{met}");
        }
        assert_eq!(
            notes("tx_completion_delay = \"1 ms\""),
            ["station.s.tx_completion_delay: not supported; the lab reports completions to the kernel immediately"]
        );
        assert_eq!(
            notes("tsq = \"2019\""),
            ["station.s.tsq: the cap also applies to paced connections"]
        );
    }
}
