//! Validation of all cells before the first run.

use super::columns::{Column, columns};
use super::grid::Grid;
use netburn_parallel::Cancel;
use netburn_parallel::pool::each;
use netburn_scenario::Environment;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Properties of a valid sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Columns of the rows: those of the first cell, then those that further cells add.
    pub columns: Vec<Column>,
    /// Hash over all plans: two sweeps with the same fingerprint have the same runs.
    pub fingerprint: u64,
    /// Invalid cells, if they are [skipped](InvalidCellPolicy::Skip).
    pub impossible: Option<InvalidCells>,
}

/// Treatment of invalid cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidCellPolicy {
    /// The sweep is rejected.
    Reject,
    /// The valid cells run. A sweep without valid cells is rejected.
    Skip,
}

/// Cells that cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidCells {
    /// Number of each cell, with its first problem.
    cells: BTreeMap<u64, String>,
    /// Number of all cells.
    total: u64,
    /// Problems, each with the number of cells and a description of the first one.
    faults: Vec<(String, u64, String)>,
}

/// Maximum number of different problems in a message.
const MAX_SHOWN_FAULTS: usize = 5;

/// Resolves every cell on `threads` threads and starts its simulation, without running it. Calls `progress` with the number of
/// cells done. Returns `None` if `cancel` is stopped.
///
/// # Errors
/// Invalid cells, if the policy rejects them or no valid cell is left.
pub fn check(
    grid: &Grid,
    threads: usize,
    cancel: &Cancel,
    impossible: InvalidCellPolicy,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Option<Checked>, InvalidCells> {
    let found = Mutex::new(CellChecks::default());
    let repeat = u64::from(grid.repeat());
    each(grid.cells(), threads, &|cell| {
        if cancel.is_stopped() {
            return;
        }
        let resolved = resolve_cell(grid, cell * repeat);
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        found.add(cell, resolved);
        progress(found.cells);
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let wrong = (!found.faults.is_empty()).then(|| found.wrong(grid));
    match wrong {
        Some(wrong) if impossible == InvalidCellPolicy::Reject || wrong.count() == found.cells => Err(wrong),
        wrong => Ok((found.cells == grid.cells()).then(|| found.checked(wrong))),
    }
}

fn resolve_cell(grid: &Grid, run: u64) -> Result<(Vec<Column>, u64), Vec<String>> {
    let plan = grid.plan(run).map_err(|error| grid.faults(&error))?;
    let fault = |error: &dyn fmt::Display| vec![format!("{}: {error}", Environment::Simulate)];
    plan.check_for(Environment::Simulate)
        .map_err(|error| fault(&error.render(false)))?;
    netburn_simulate::check(&plan).map_err(|error| fault(&error))?;
    Ok((columns(&plan), fingerprint(&plan.to_json().to_string())))
}

/// Results of the checked cells, in any order.
#[derive(Debug, Default)]
struct CellChecks {
    cells: u64,
    /// Invalid cells, with their first problem.
    wrong: BTreeMap<u64, String>,
    /// Sets of columns, each with its first cell.
    layouts: BTreeMap<Vec<Column>, u64>,
    prints: Vec<(u64, u64)>,
    /// Problems, each with its first cell and the number of cells.
    faults: BTreeMap<String, (u64, u64)>,
}

impl CellChecks {
    fn add(&mut self, cell: u64, resolved: Result<(Vec<Column>, u64), Vec<String>>) {
        self.cells += 1;
        match resolved {
            Ok((columns, print)) => {
                let first = self.layouts.entry(columns).or_insert(cell);
                *first = cell.min(*first);
                self.prints.push((cell, print));
            }
            Err(faults) => {
                self.wrong.insert(cell, faults.first().cloned().unwrap_or_default());
                self.prints.push((cell, fingerprint(&faults.join("\n"))));
                for fault in faults {
                    let (first, count) = self.faults.entry(fault).or_insert((cell, 0));
                    *first = cell.min(*first);
                    *count += 1;
                }
            }
        }
    }

    fn checked(mut self, impossible: Option<InvalidCells>) -> Checked {
        let mut layouts: Vec<(u64, Vec<Column>)> = self.layouts.into_iter().map(|(c, first)| (first, c)).collect();
        layouts.sort();
        let mut columns: Vec<Column> = Vec::new();
        for column in layouts.into_iter().flat_map(|(_, columns)| columns) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        self.prints.sort_unstable();
        let prints: String = self.prints.iter().map(|(_, print)| format!("{print:016x}")).collect();
        Checked {
            columns,
            fingerprint: fingerprint(&prints),
            impossible,
        }
    }

    fn wrong(&mut self, grid: &Grid) -> InvalidCells {
        let mut faults: Vec<(u64, u64, String)> = std::mem::take(&mut self.faults)
            .into_iter()
            .map(|(fault, (first, count))| (first, count, fault))
            .collect();
        faults.sort();
        let repeat = u64::from(grid.repeat());
        InvalidCells {
            cells: std::mem::take(&mut self.wrong),
            total: grid.cells(),
            faults: faults
                .into_iter()
                .map(|(first, count, fault)| (fault, count, grid.describe(first * repeat)))
                .collect(),
        }
    }
}

impl InvalidCells {
    /// Returns the number of invalid cells.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Returns the numbers of the invalid cells, in order.
    pub(super) fn cells(&self) -> impl Iterator<Item = u64> + '_ {
        self.cells.keys().copied()
    }

    /// Returns the first problem of a cell; `None` if it is valid.
    #[must_use]
    pub fn why(&self, cell: u64) -> Option<&str> {
        self.cells.get(&cell).map(String::as_str)
    }

    /// Message for a sweep in which invalid cells are skipped.
    #[must_use]
    pub fn skipped(&self) -> String {
        format!(
            "{} of {} cells are invalid and skipped:{}",
            self.count(),
            self.total,
            Faults(self)
        )
    }
}

impl fmt::Display for InvalidCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} cells are invalid, and no cell ran:{}",
            self.count(),
            self.total,
            Faults(self)
        )?;
        if self.count() < self.total {
            write!(f, "\nhelp: --skip-impossible runs the others")?;
        }
        Ok(())
    }
}

/// Problems, one per line.
struct Faults<'a>(&'a InvalidCells);

impl fmt::Display for Faults<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults = &self.0.faults;
        for (fault, count, first) in faults.iter().take(MAX_SHOWN_FAULTS) {
            let fault = fault.replace('\n', "\n  ");
            match count {
                1 => write!(f, "\n- {fault} ({first})")?,
                count => write!(f, "\n- {fault} ({count} cells, the first {first})")?,
            }
        }
        match faults.len().saturating_sub(MAX_SHOWN_FAULTS) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more problems"),
        }
    }
}

impl std::error::Error for InvalidCells {}

/// 64-bit FNV-1a, which is sufficient against accidental collisions.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Vary;

    fn checked(varies: &[&str]) -> Result<Checked, String> {
        let varies: Vec<Vary> = varies.iter().map(|text| Vary::parse(text).unwrap()).collect();
        let grid = Grid::new(netburn_scenario::load("anomaly").unwrap(), &varies).unwrap();
        let checked = check(&grid, 2, &Cancel::default(), InvalidCellPolicy::Reject, &|_| ());
        checked.map(Option::unwrap).map_err(|wrong| wrong.to_string())
    }

    fn skipping(varies: &[&str]) -> Result<Checked, InvalidCells> {
        let varies: Vec<Vary> = varies.iter().map(|text| Vary::parse(text).unwrap()).collect();
        let grid = Grid::new(netburn_scenario::load("anomaly").unwrap(), &varies).unwrap();
        check(&grid, 2, &Cancel::default(), InvalidCellPolicy::Skip, &|_| ()).map(Option::unwrap)
    }

    #[test]
    fn invalid_cells_are_skipped_on_request() {
        let checked = skipping(&["station.slow.cc=cubic,vegas"]).unwrap();
        let impossible = checked.impossible.unwrap();
        assert_eq!((impossible.count(), impossible.why(0)), (1, None));
        assert!(impossible.why(1).unwrap().contains("vegas"));
        assert!(
            impossible
                .skipped()
                .starts_with("1 of 2 cells are invalid and skipped:\n- ")
        );
        // The runs are the same, but the sweep differs from one without the cell.
        let one = skipping(&["station.slow.cc=cubic"]).unwrap();
        assert_eq!(one.impossible, None);
        assert_eq!(one.columns, checked.columns);
        assert!(one.fingerprint != checked.fingerprint);
        let none = skipping(&["station.slow.mcs=98,99"]).unwrap_err();
        assert!(
            none.to_string()
                .starts_with("2 of 2 cells are invalid, and no cell ran:"),
            "{none}"
        );
    }

    #[test]
    fn invalid_cells_are_grouped_by_problem() {
        let message = checked(&["ap.home.queue=fifo,fiffo", "station.slow.mcs=0..3,99"]).unwrap_err();
        // 4 with an invalid queue, 1 with an invalid MCS, 1 with both.
        assert!(
            message.starts_with("6 of 10 cells are invalid, and no cell ran:\n- --vary station.slow.mcs=99: "),
            "{message}"
        );
        assert!(
            message.contains("(5 cells, the first ap.home.queue=fiffo, station.slow.mcs=0)"),
            "{message}"
        );
        assert!(
            message.contains("(2 cells, the first ap.home.queue=fifo, station.slow.mcs=99)"),
            "{message}"
        );
    }

    #[test]
    fn problems_of_the_simulator_are_reported_before_the_first_run() {
        let message = checked(&["station.slow.cc=cubic,vegas"]).unwrap_err();
        assert!(message.starts_with("1 of 2 cells are invalid"), "{message}");
        assert!(message.contains("station.slow.cc=vegas"), "{message}");
    }

    #[test]
    fn columns_cover_all_cells_and_changes_change_the_fingerprint() {
        let one = checked(&["station.slow.workload=voip,4kstream"]).unwrap();
        let names: Vec<&str> = one.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(
            names[..4],
            ["verdict", "throughput_mbps", "airtime_jain", "worst_p95_ms"]
        );
        for name in ["slow.voip.p95_ms", "slow.4kstream.stalls", "fast-1.probe.lost_share"] {
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name}");
        }
        assert_eq!(one, checked(&["station.slow.workload=voip,4kstream"]).unwrap());
        let other = checked(&["station.slow.workload=voip,browsing"]).unwrap();
        assert!(one.fingerprint != other.fingerprint);
    }
}
