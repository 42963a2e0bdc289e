//! What a plan asks of kernels, and what this machine's can't do of it.

use netburn_scenario::Plan;
use netburn_scenario::plan::Station;
use std::fs;

/// Where nobody says otherwise, on every environment that models the air.
const USUAL: &str = "cubic";

/// The congestion control of connections for which the plan names none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Usual {
    /// Its name; empty: the network namespace's.
    pub(crate) name: String,
    /// What is to be said about it.
    pub(crate) note: Option<String>,
}

/// The same as the simulator takes, if this kernel has it.
pub(crate) fn usual_control() -> Usual {
    let read = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
    usual(
        &read("tcp_available_congestion_control"),
        &read("tcp_congestion_control"),
    )
}

fn usual(available: &str, own: &str) -> Usual {
    if available.split_whitespace().any(|name| name == USUAL) {
        return Usual {
            name: USUAL.to_owned(),
            note: None,
        };
    }
    let own = own.trim();
    Usual {
        name: own.to_owned(),
        note: Some(format!(
            "where the scenario names no congestion control, this machine's own is used ({own}) and not {USUAL}, which the simulator \
             takes: this kernel has not loaded it; `sudo modprobe tcp_{USUAL}` may"
        )),
    }
}

/// What of a plan's wishes about kernels isn't done here, a sentence each.
pub(crate) fn unmet(plan: &Plan) -> Vec<String> {
    plan.stations.iter().flat_map(of_station).collect()
}

fn of_station(station: &Station) -> Vec<String> {
    let name = &station.name;
    let mut notes = Vec::new();
    let settings = station.tsq.and_then(|tsq| tsq.settings());
    if settings.is_some_and(|settings| settings.cap.is_some() && !settings.caps_paced) {
        notes.push(format!("station.{name}.tsq: the cap holds for paced connections, too"));
    }
    if !station.tx_completion_delay.is_zero() {
        notes.push(format!(
            "station.{name}.tx_completion_delay: the lab tells a kernel at once what has left"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    #[test]
    fn the_simulators_control_is_used_where_there_is_one() {
        let here = usual("reno cubic bbr\n", "bbr\n");
        assert_eq!((here.name.as_str(), here.note), ("cubic", None));
        let here = usual("reno bbr\n", "bbr\n");
        assert_eq!(here.name, "bbr");
        let note = here.note.unwrap();
        assert!(note.contains("(bbr)") && note.contains("modprobe tcp_cubic"), "{note}");
        // A name that only begins so is another.
        assert_eq!(usual("cubictcp", "reno").name, "reno");
        assert_eq!(usual("", "").name, "");
    }

    #[test]
    fn what_is_not_met_is_told() {
        let notes = |line: &str| {
            let text = format!(
                "[ap.a.radio.5g]\n[station.s]\njoins = \"a.5g\"\nsignal = \"-60 dBm\"\nworkload = \"upload\"\n{line}\n"
            );
            unmet(&Document::from_toml("s.toml", &text).unwrap().resolve().unwrap())
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
            ["station.s.tx_completion_delay: the lab tells a kernel at once what has left"]
        );
        assert_eq!(
            notes("tsq = \"2019\""),
            ["station.s.tsq: the cap holds for paced connections, too"]
        );
    }
}
