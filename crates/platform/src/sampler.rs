//! Processor time in windows: load of this process, its threads and the machine.

use crate::Monotonic;
use crate::cpu::{self, MachineTimes, ThreadId};
use netburn_units::Duration;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Shortest window whose load means something: in a shorter one, the start of a thread alone looks like a busy processor.
pub const MIN_SPAN: Duration = Duration::from_millis(200);

/// Load in one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// End of the window.
    pub end: Monotonic,
    /// Length of the window.
    pub span: Duration,
    /// Share of one processor that the busiest thread used, 0 to 1.
    pub busiest_thread: f64,
    /// Processors that the process used: 1.5 is one and a half.
    pub process: f64,
    /// Busy share of the machine, 0 to 1.
    pub machine_busy: f64,
    /// Share of steal, 0 to 1.
    pub steal: f64,
}

/// Computes windows from the differences of samples.
#[derive(Debug)]
pub struct Sampler {
    at: Monotonic,
    only: Option<Vec<ThreadId>>,
    threads: BTreeMap<ThreadId, Duration>,
    process: Duration,
    machine: MachineTimes,
}

impl Sampler {
    /// Starts the first window for all threads of this process.
    ///
    /// # Errors
    /// An I/O error when /proc cannot be read; [`Unsupported`](io::ErrorKind::Unsupported) on other systems than Linux.
    pub fn new() -> io::Result<Self> {
        Self::start(None)
    }

    /// Starts the first window for these threads only, and for process and machine.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn for_threads(threads: Vec<ThreadId>) -> io::Result<Self> {
        Self::start(Some(threads))
    }

    fn start(only: Option<Vec<ThreadId>>) -> io::Result<Self> {
        Ok(Self {
            at: Monotonic::now(),
            threads: thread_times(only.as_deref())?,
            process: cpu::process_time()?,
            machine: cpu::machine()?,
            only,
        })
    }

    /// Returns the window from the last sample until now.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn sample(&mut self) -> io::Result<Window> {
        let end = Monotonic::now();
        let threads = thread_times(self.only.as_deref())?;
        let (process, machine) = (cpu::process_time()?, cpu::machine()?);
        let span = end.saturating_since(self.at);
        let share = |used: Duration| match span.as_nanos() {
            0 => 0.0,
            nanos => used.as_nanos() as f64 / nanos as f64,
        };
        let busiest = threads
            .iter()
            .map(|(id, time)| time.saturating_sub(self.threads.get(id).copied().unwrap_or(Duration::ZERO)))
            .max()
            .unwrap_or(Duration::ZERO);
        let spent = machine.since(&self.machine);
        let window = Window {
            end,
            span,
            busiest_thread: share(busiest).min(1.0),
            process: share(process.saturating_sub(self.process)),
            machine_busy: spent.busy_share(),
            steal: spent.steal_share(),
        };
        (self.at, self.threads, self.process, self.machine) = (end, threads, process, machine);
        Ok(window)
    }
}

fn thread_times(only: Option<&[ThreadId]>) -> io::Result<BTreeMap<ThreadId, Duration>> {
    let found = match only {
        Some(threads) => threads.to_vec(),
        None => cpu::threads()?,
    };
    // A thread may have ended since it was listed.
    Ok(found.into_iter().filter_map(|id| Some((id, id.time().ok()?))).collect())
}

/// Samples once a second on its own thread, until it is dropped. Not delayed by other threads of the process.
#[derive(Debug)]
pub struct CpuMonitor {
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    stop: Condvar,
}

#[derive(Debug, Default)]
struct State {
    windows: Vec<Window>,
    stopped: bool,
}

impl CpuMonitor {
    /// Length of a window.
    pub const PERIOD: Duration = Duration::from_secs(1);

    /// Maximum number of windows (one day). The oldest are discarded first.
    pub const MAX_WINDOWS: usize = 86_400;

    /// Starts sampling with `sampler`.
    ///
    /// # Errors
    /// An I/O error when the thread cannot be started.
    pub fn start(mut sampler: Sampler) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::default()),
            stop: Condvar::new(),
        });
        let seen = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(move || {
            let period = std::time::Duration::from_nanos(Self::PERIOD.as_nanos());
            let mut state = seen.lock();
            while !state.stopped {
                let (woken, wait) = seen
                    .stop
                    .wait_timeout_while(state, period, |state| !state.stopped)
                    .unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if wait.timed_out()
                    && let Ok(window) = sampler.sample()
                {
                    if state.windows.len() >= Self::MAX_WINDOWS {
                        state.windows.remove(0);
                    }
                    state.windows.push(window);
                }
            }
        })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Returns the windows so far, oldest first.
    #[must_use]
    pub fn windows(&self) -> Vec<Window> {
        self.shared.lock().windows.clone()
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CpuMonitor {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.stop.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_window_contains_the_processor_time_used_in_it() {
        let me = ThreadId::current();
        let mut sampler = Sampler::for_threads(vec![me]).unwrap();
        let start = me.time().unwrap();
        let mut value = 1u64;
        while me.time().unwrap() < start + Duration::from_millis(20) {
            value = std::hint::black_box(value.wrapping_mul(3));
        }
        let window = sampler.sample().unwrap();
        let used = window.busiest_thread * window.span.as_nanos() as f64;
        assert!(used >= 20e6 * 0.999, "{window:?}");
        assert!(window.busiest_thread <= 1.0 && window.process > 0.0);
        assert!((0.0..=1.0).contains(&window.machine_busy) && (0.0..=1.0).contains(&window.steal));
    }

    #[test]
    fn all_threads_include_this_one() {
        let mut sampler = Sampler::new().unwrap();
        assert!(sampler.threads.contains_key(&ThreadId::current()));
        sampler.sample().unwrap();
    }

    #[test]
    fn a_monitor_stops_when_dropped() {
        let watch = CpuMonitor::start(Sampler::new().unwrap()).unwrap();
        assert!(watch.windows().is_empty());
        drop(watch);
    }
}
