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
    format!(
        "Simulated load, {DURATION}: {everyone} a voice call and opens web pages, and at the same time {}.",
        each.join(", ")
    )
}
