//! Fuzz target for the arguments of a sweep and the files of its folder.

use super::folder::read_any;
use super::{Grid, Precision, Shard, Vary};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Reads any bytes as `--vary` arguments, one per line, for a built-in scenario, as a file of a sweep folder, as a shard and as
/// a precision.
///
/// # Panics
/// A grid is not the product of its values, with each combination once. A shard is not read again from its text, or a
/// precision is not positive.
pub fn check(bytes: &[u8]) {
    static DOCUMENT: LazyLock<netburn_scenario::Document> =
        LazyLock::new(|| netburn_scenario::load("anomaly").expect("it is built in"));
    let _ = read_any(bytes);
    let text = String::from_utf8_lossy(bytes);
    if let Ok(shard) = text.parse::<Shard>() {
        assert_eq!(shard.to_string().parse(), Ok(shard));
    }
    if let Ok(Precision::Share(width) | Precision::Number(width, _)) = text.parse() {
        assert!(width > 0.0 && width.is_finite());
    }
    let varies: Result<Vec<Vary>, _> = text.lines().map(Vary::parse).collect();
    let Ok(varies) = varies else { return };
    // Larger grids take long and test nothing else.
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
