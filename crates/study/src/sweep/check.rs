//! Everything that can be known to be wrong before anything runs.

use super::columns::{Column, columns};
use super::grid::Grid;
use crate::pool::each;
use netburn_scenario::{Environment, Plan};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What the cells of a sound sweep have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The columns of its rows: those of the first cell, then what further cells add.
    pub columns: Vec<Column>,
    /// Stands for all plans together: two sweeps with the same run the same.
    pub fingerprint: u64,
    /// The cells that can't be run, where they are [skipped](InvalidCellPolicy::Skip).
    pub impossible: Option<InvalidCells>,
}

/// What becomes of a sweep some of whose cells can't be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidCellPolicy {
    /// Nothing is run.
    Reject,
    /// The others are run. Where none is left, nothing is.
    Skip,
}

/// The cells that can't be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidCells {
    /// Their numbers, each with what is wrong first.
    cells: BTreeMap<u64, String>,
    /// How many cells there are in all.
    of: u64,
    /// What is wrong, in how many cells, and the first of them in words.
    faults: Vec<(String, u64, String)>,
}

/// How many different faults are told.
const MAX_SHOWN_FAULTS: usize = 5;

/// Resolves every cell on `threads` processors and begins it, without running it; `progress` is told how many cells are done. `None`
/// when `stop` was set meanwhile.
///
/// # Errors
/// All cells that can't be run, where they are refused or none is left.
pub fn check(
    grid: &Grid,
    threads: usize,
    stop: &AtomicBool,
    impossible: InvalidCellPolicy,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Option<Checked>, InvalidCells> {
    let found = Mutex::new(Found::default());
    let repeat = u64::from(grid.repeat());
    each(grid.cells(), threads, &|cell| {
        if stop.load(Ordering::Relaxed) {
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
    begin(&plan).map_err(|fault| vec![fault])?;
    Ok((columns(&plan), fingerprint(&plan.to_json().to_string())))
}

/// What only the simulator can say: it lays the plan out and goes its first tenth of a second.
fn begin(plan: &Plan) -> Result<(), String> {
    match netburn_simulate::run(plan, |_, _| ControlFlow::Break(())) {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("on {}: {error}", Environment::Simulate)),
    }
}

/// What the cells that were resolved at have shown, in whatever order they came.
#[derive(Debug, Default)]
struct Found {
    cells: u64,
    /// Those that can't be run, with what is wrong first.
    wrong: BTreeMap<u64, String>,
    /// Layouts with the first cell that has each.
    layouts: BTreeMap<Vec<Column>, u64>,
    prints: Vec<(u64, u64)>,
    /// Faults with the first cell that has each, and how many do.
    faults: BTreeMap<String, (u64, u64)>,
}

impl Found {
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
            of: grid.cells(),
            faults: faults
                .into_iter()
                .map(|(first, count, fault)| (fault, count, grid.describe(first * repeat)))
                .collect(),
        }
    }
}

impl InvalidCells {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.cells.len() as u64
    }

    /// Why a cell can't be run; `None` where it can.
    #[must_use]
    pub fn why(&self, cell: u64) -> Option<&str> {
        self.cells.get(&cell).map(String::as_str)
    }

    /// The same as when they are refused, for a sweep in which they are skipped.
    #[must_use]
    pub fn skipped(&self) -> String {
        format!(
            "{} of {} cells can't be run and are skipped:{}",
            self.count(),
            self.of,
            Faults(self)
        )
    }
}

impl fmt::Display for InvalidCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of {} cells can't be run; nothing was:{}",
            self.count(),
            self.of,
            Faults(self)
        )?;
        match self.count() < self.of {
            true => write!(f, "\nhelp: --skip-impossible runs the others"),
            false => Ok(()),
        }
    }
}

/// What is wrong, a line each.
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
            more => write!(f, "\nand {more} more faults"),
        }
    }
}

impl std::error::Error for InvalidCells {}

/// FNV-1a over 64 bits: tells texts apart that differ by accident.
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
        let checked = check(&grid, 2, &AtomicBool::new(false), InvalidCellPolicy::Reject, &|_| ());
        checked.map(Option::unwrap).map_err(|wrong| wrong.to_string())
    }

    fn skipping(varies: &[&str]) -> Result<Checked, InvalidCells> {
        let varies: Vec<Vary> = varies.iter().map(|text| Vary::parse(text).unwrap()).collect();
        let grid = Grid::new(netburn_scenario::load("anomaly").unwrap(), &varies).unwrap();
        check(&grid, 2, &AtomicBool::new(false), InvalidCellPolicy::Skip, &|_| ()).map(Option::unwrap)
    }

    #[test]
    fn wrong_cells_are_skipped_where_that_is_asked_for_and_others_are_left() {
        let checked = skipping(&["station.slow.cc=cubic,vegas"]).unwrap();
        let impossible = checked.impossible.unwrap();
        assert_eq!((impossible.count(), impossible.why(0)), (1, None));
        assert!(impossible.why(1).unwrap().contains("vegas"));
        assert!(
            impossible
                .skipped()
                .starts_with("1 of 2 cells can't be run and are skipped:\n- ")
        );
        // All that is run is the same, and yet it is another sweep than one without the cell.
        let one = skipping(&["station.slow.cc=cubic"]).unwrap();
        assert_eq!(one.impossible, None);
        assert_eq!(one.columns, checked.columns);
        assert!(one.fingerprint != checked.fingerprint);
        let none = skipping(&["station.slow.mcs=98,99"]).unwrap_err();
        assert!(
            none.to_string().starts_with("2 of 2 cells can't be run; nothing was:"),
            "{none}"
        );
    }

    #[test]
    fn wrong_cells_are_told_together_and_grouped() {
        let said = checked(&["ap.home.queue=fifo,fiffo", "station.slow.mcs=0..3,99"]).unwrap_err();
        // 4 with a wrong queue, 1 with a wrong MCS, 1 with both.
        assert!(
            said.starts_with("6 of 10 cells can't be run; nothing was:\n- --vary station.slow.mcs=99: "),
            "{said}"
        );
        assert!(
            said.contains("(5 cells, the first ap.home.queue=fiffo, station.slow.mcs=0)"),
            "{said}"
        );
        assert!(
            said.contains("(2 cells, the first ap.home.queue=fifo, station.slow.mcs=99)"),
            "{said}"
        );
    }

    #[test]
    fn what_only_the_simulator_knows_is_told_before_it_runs() {
        let said = checked(&["station.slow.cc=cubic,vegas"]).unwrap_err();
        assert!(said.starts_with("1 of 2 cells can't be run"), "{said}");
        assert!(said.contains("station.slow.cc=vegas"), "{said}");
    }

    #[test]
    fn columns_are_those_of_all_cells_and_any_change_is_another_sweep() {
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
