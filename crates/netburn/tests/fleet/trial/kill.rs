//! Processes that are killed at random instants. No acknowledged row is lost, and no row older than a second. No
//! process or file is left.

use super::random::Random;
use super::table::Table;
use super::{Trial, asked, kill_fleet, kill_run, kill_sweep};
use crate::support::host;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum age of a lost row: rows are on the disk at most this long after the operation ended.
const MAX_LOST: Duration = Duration::from_secs(1);

/// Maximum allowance for the delays of a busy machine.
const MAX_WAITED: Duration = Duration::from_secs(2);

/// One process that was killed, and the outcome.
pub(super) struct Kill {
    pub(super) whom: String,
    pub(super) outcome: &'static str,
    /// The age of the oldest row that was lost with it.
    pub(super) lost: Duration,
}

/// Outcomes: no folder existed; a record was truncated and then finished when it was opened; the run continued or had
/// ended; a sweep continued.
pub(super) const OUTCOMES: [&str; 5] = [NO_FOLDER, CUT_SHORT, WENT_ON, STARTED_AGAIN, NOT_STARTED];
pub(super) const NO_FOLDER: &str = "no folder yet";
pub(super) const CUT_SHORT: &str = "cut short, readable";
pub(super) const WENT_ON: &str = "run ended by itself";
pub(super) const STARTED_AGAIN: &str = "started again";
pub(super) const NOT_STARTED: &str = "left nothing";

/// Delays of threads on this machine, measured in two ways: with a thread that wakes every 5 ms, and by a count of
/// the kernel. The kernel counts the time in which some thread waited for a processor.
pub(super) struct Delays {
    waited: u64,
    longest: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Delays {
    pub(super) fn watch() -> Delays {
        let (longest, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (write, end) = (Arc::clone(&longest), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            let mut before = Instant::now();
            while !end.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
                write.fetch_max(before.elapsed().as_micros() as u64, Ordering::Relaxed);
                before = Instant::now();
            }
        });
        Delays {
            waited: waited(),
            longest,
            over,
            thread: Some(thread),
        }
    }

    /// Checks the age of a lost row. A process that did not get a processor could not write it. So a row may be older
    /// by the longest delays of the three threads that handle it, and by the time for which threads waited.
    #[track_caller]
    pub(super) fn expect(&self, lost: Duration, what: impl Fn() -> String) {
        let longest = Duration::from_micros(self.longest.load(Ordering::Relaxed));
        let waited = Duration::from_micros(waited() - self.waited);
        assert!(
            lost <= MAX_LOST + 3 * longest + waited.min(MAX_WAITED),
            "{}: a row {lost:?} old was lost; this machine delayed threads by up to {longest:?}, {waited:?} in all",
            what()
        );
    }
}

/// The time for which some thread of the machine has waited for a processor, in µs (`/proc/pressure/cpu`). 0 if the
/// kernel does not count it.
fn waited() -> u64 {
    let text = std::fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    let total = text.lines().find(|line| line.starts_with("some "));
    let total = total.and_then(|line| line.rsplit_once("total=")?.1.parse().ok());
    total.unwrap_or(0)
}

impl Drop for Delays {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn killing_any_process_loses_no_acknowledged_row_and_leaves_nothing() {
    let wanted = asked("NETBURN_KILLS").unwrap_or(8) as usize;
    let before = host();
    let round = |number: usize, random: &mut Random| {
        let kills = match number % 8 {
            0 | 4 => kill_run::on("local", random),
            1 | 5 => kill_run::on("lab", random),
            2 => kill_sweep::of_a_sweep(random),
            3 => kill_fleet::in_a_fleet(random),
            6 => kill_run::on("simulate", random),
            _ => kill_run::of_a_lab(random),
        };
        let counted = kills.len();
        (kills, counted)
    };
    Trial::new(2).run(wanted, round, |rounds| {
        let (mut table, mut oldest) = (Table::default(), Duration::ZERO);
        for kill in rounds.into_iter().flatten() {
            table.count(kill.whom, kill.outcome);
            oldest = oldest.max(kill.lost);
        }
        table.print("killed", &OUTCOMES);
        println!("\nthe oldest row that was lost was {} ms old", oldest.as_millis());
    });
    // Other programs on this machine may have been active, too, but not for long.
    let until = Instant::now() + Duration::from_secs(60);
    while host() != before {
        assert!(Instant::now() < until, "{:?} was {before:?}", host());
        std::thread::sleep(Duration::from_millis(100));
    }
}
