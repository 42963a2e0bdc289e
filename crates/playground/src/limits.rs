//! Limits of scenarios, because anyone can share one.

use netburn_scenario::Plan;
use netburn_units::Duration;

/// Maximum length of a scenario in bytes.
pub const MAX_TEXT: usize = 64 * 1024;
/// Maximum number of stations. The page cannot show more of them, and the memory of a tab is limited.
pub const MAX_STATIONS: usize = 64;
/// Maximum duration of the load.
pub const MAX_DURATION: Duration = Duration::from_secs(300);

/// Returns why a page does not simulate a valid plan; `None` if it does.
pub(crate) fn exceeded(plan: &Plan) -> Option<(&'static str, String)> {
    let stations = plan.stations.len();
    if stations > MAX_STATIONS {
        let message =
            format!("{stations} devices; the playground simulates at most {MAX_STATIONS}, the command up to 4096");
        return Some(("station", message));
    }
    if plan.duration > MAX_DURATION {
        let message = format!(
            "{}; the playground simulates at most {MAX_DURATION}, the command any time",
            plan.duration
        );
        return Some(("duration", message));
    }
    None
}
