//! What fuzzing holds sweeps to: any `--vary` makes a grid or is told why not, and any file is read or isn't.

use super::folder::read_any;
use super::{Grid, Vary};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Reads any bytes as `--vary` arguments, one a line, over a built-in scenario, and as a file of a sweep's folder.
///
/// # Panics
/// When a grid isn't the product of its values, each combination once.
pub fn check(bytes: &[u8]) {
    static DOCUMENT: LazyLock<netburn_scenario::Document> =
        LazyLock::new(|| netburn_scenario::load("anomaly").expect("it is built in"));
    let _ = read_any(bytes);
    let text = String::from_utf8_lossy(bytes);
    let varies: Result<Vec<Vary>, _> = text.lines().map(Vary::parse).collect();
    let Ok(varies) = varies else { return };
    // More takes long, and shows no more.
    if varies.iter().any(|vary| vary.count() > 1000) {
        return;
    }
    let Ok(grid) = Grid::new(DOCUMENT.clone(), &varies) else {
        return;
    };
    assert_eq!(grid.cells(), varies.iter().map(Vary::count).product::<u64>());
    let runs = grid.runs().min(200);
    let cells: BTreeSet<Vec<&str>> = (0..runs).map(|run| grid.choices(run)).collect();
    assert_eq!(cells.len() as u64, runs.div_ceil(u64::from(grid.repeat())));
    for run in 0..runs.min(8) {
        if let Err(error) = grid.plan(run) {
            assert!(!grid.faults(&error).is_empty());
        }
    }
}
