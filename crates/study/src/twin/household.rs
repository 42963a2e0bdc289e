//! The load under which a network is judged that was measured without the workloads of its users.

use netburn_scenario::{Document, Environment, Plan, ScenarioError};
use std::fmt::Write as _;

/// Duration of the load. A call is judged in windows of 10 s, and a page is due every 3 s.
const DURATION: &str = "30 s";
/// Workloads that stations have in turn, each with its words.
const HEAVY: [(&str, &str); 3] = [
    ("download", "downloads"),
    ("backup", "uploads a backup"),
    ("4kstream", "plays a 4K video"),
];

/// All use the network at once: each station makes a call and opens pages. In addition, stations in turn download, upload a
/// backup, and play a 4K video, which begin together.
///
/// The workloads are the built-in ones with their goals. Only the call is in best effort, because many programs do not mark
/// its packets, and many access points and lines clear the mark. The plan has no network: it is a run for
/// [`on_model`](super::on_model).
///
/// # Errors
/// The names are not those of stations.
pub fn household(stations: &[String]) -> Result<Plan, ScenarioError> {
    let mut text = format!(
        "duration = \"{DURATION}\"\nwarmup = \"3 s\"\nbaseline = \"1 s\"\ndrain = \"4 s\"\n\
         [workload.call]\nkind = \"voice\"\npriority = \"best-effort\"\n\
         [workload.backup]\nkind = \"upload\"\n"
    );
    for (name, (heavy, _)) in stations.iter().zip(HEAVY.iter().cycle()) {
        let _ = write!(
            text,
            "[station.{name}]\nworkload = [\"call\", \"browsing\", \"{heavy}\"]\n"
        );
    }
    let (plan, _) = Document::from_toml("household", &text)?.resolve_for(Environment::Fleet)?;
    Ok(plan)
}

/// The load as a sentence.
#[must_use]
pub fn household_sentence(stations: &[String]) -> String {
    let each: Vec<String> = stations
        .iter()
        .zip(HEAVY.iter().cycle())
        .map(|(name, (_, words))| format!("{name} {words}"))
        .collect();
    let everyone = match stations.len() {
        1 => "the device makes",
        _ => "every device makes",
    };
    let heavy = match each.as_slice() {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        all => all.concat(),
    };
    format!("Simulated load, {DURATION}: {everyone} a voice call and opens web pages, and at the same time {heavy}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("s{number}")).collect()
    }

    #[test]
    fn stations_download_upload_and_stream_in_turn() {
        let plan = household(&names(4)).unwrap();
        let workloads = plan.stations.iter().map(|station| {
            let names = station.workloads.iter().map(|workload| workload.name.as_str());
            names.collect::<Vec<_>>()
        });
        let expected = ["download", "backup", "4kstream", "download"].map(|heavy| vec!["call", "browsing", heavy]);
        assert_eq!(workloads.collect::<Vec<_>>(), expected);
        let sentence = household_sentence(&names(4));
        assert!(
            sentence.ends_with("s0 downloads, s1 uploads a backup, s2 plays a 4K video and s3 downloads."),
            "{sentence}"
        );
        assert!(household_sentence(&names(1)).ends_with("the same time s0 downloads."));
    }

    #[test]
    fn names_that_no_station_can_have_are_an_error() {
        household(&["two words".to_owned()]).unwrap_err();
    }
}
