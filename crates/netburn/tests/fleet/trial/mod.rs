//! Two trials of whole runs at random instants: `disturb` disturbs them, `kill` kills their processes.
//!
//! Both take their random numbers from a seed, and run a few rounds as tests. Environment variables set another seed
//! and more rounds: see `docs/results/trials.md`, `scripts/kill-trial` and `scripts/disturb-trial`.

mod control_group;
mod disturb;
mod disturbance;
mod kill;
mod kill_fleet;
mod kill_run;
mod kill_sweep;
mod random;
mod rows;
mod table;
mod victims;

use random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The extent of a trial.
struct Trial {
    /// Seed of the random numbers: `NETBURN_SEED`.
    seed: u64,
    /// Rounds at the same time: `NETBURN_JOBS`.
    jobs: usize,
    /// The first round's number: `NETBURN_ROUND`, to repeat one round of a seed.
    first: usize,
}

/// Duration of the load of [`two_stations`] in ms.
const LOAD_MS: u64 = 3000;

/// A scenario for any environment: the stations `caller` and `reader` behind a link of `mbit` Mbit/s, with additional
/// keys.
fn two_stations(rate: u32, caller: &str, reader: &str, workloads: &str) -> String {
    format!(
        r#"
duration = "{LOAD_MS} ms"
baseline = "300 ms"
drain = "1 s"
[server]
link = {{ rate = "{rate} Mbit/s" }}
[ap.home]
[ap.home.radio.5g]
standard = "802.11n"
[station.caller]
joins = "home.5g"
signal = "-50 dBm"
{caller}
[station.reader]
joins = "home.5g"
signal = "-50 dBm"
{reader}
{workloads}"#
    )
}

/// A number from the environment.
fn asked(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|e| panic!("{variable}={text}: {e}, expected a whole number")),
    )
}

impl Trial {
    /// A trial with this number of jobs, unless the environment sets another one.
    fn new(jobs: usize) -> Trial {
        Trial {
            seed: asked("NETBURN_SEED").unwrap_or(1),
            jobs: asked("NETBURN_JOBS").map_or(jobs, |jobs| jobs as usize).max(1),
            first: asked("NETBURN_ROUND").unwrap_or(0) as usize,
        }
    }

    /// Runs rounds until they have counted `wanted` events. A round gets its number and its own random numbers, and
    /// returns its result and its count. A round that panics counts once.
    ///
    /// # Panics
    /// At the end, if a round panicked: with the seed, and with each round's number and message.
    fn run<T: Send>(
        &self,
        wanted: usize,
        round: impl Fn(usize, &mut Random) -> (T, usize) + Sync,
        finish: impl FnOnce(Vec<T>),
    ) {
        let (next, counted) = (AtomicUsize::new(self.first), AtomicUsize::new(0));
        let (found, failed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let work = || {
            while counted.load(Ordering::SeqCst) < wanted {
                let number = next.fetch_add(1, Ordering::SeqCst);
                let mut random = Random::new(self.seed, number);
                match catch_unwind(AssertUnwindSafe(|| round(number, &mut random))) {
                    Ok((one, counts)) => {
                        found.lock().unwrap().push(one);
                        counted.fetch_add(counts, Ordering::SeqCst);
                    }
                    Err(panic) => {
                        let text = panic.downcast_ref::<String>().cloned();
                        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                        let text = text.unwrap_or_default();
                        eprintln!("round {number} of seed {}: {text}", self.seed);
                        failed.lock().unwrap().push((number, text));
                        counted.fetch_add(1, Ordering::SeqCst);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(work);
            }
        });
        println!("seed {}", self.seed);
        finish(found.into_inner().unwrap());
        let failed = failed.into_inner().unwrap();
        assert!(failed.is_empty(), "seed {}: {failed:#?}", self.seed);
    }
}
