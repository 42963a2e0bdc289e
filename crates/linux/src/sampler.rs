//! Processor time in windows: how busy this process, its threads and the machine were.

use crate::Monotonic;
use crate::cpu::{self, MachineTimes, ThreadId};
use netburn_units::Duration;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// One window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Where it ends.
    pub end: Monotonic,
    /// How long it is.
    pub span: Duration,
    /// The busiest thread's share of one processor, 0 to 1.
    pub busiest_thread: f64,
    /// The whole process in processors: 1.5 is one and a half.
    pub process: f64,
    /// The machine's busy share, 0 to 1.
    pub machine_busy: f64,
    /// The share that the hypervisor took, 0 to 1.
    pub steal: f64,
}

/// Takes the difference from one look to the next.
#[derive(Debug)]
pub struct Sampler {
    at: Monotonic,
    only: Option<Vec<ThreadId>>,
    threads: BTreeMap<ThreadId, Duration>,
    process: Duration,
    machine: MachineTimes,
}

impl Sampler {
    /// Looks at all threads of this process, from now on.
    ///
    /// # Errors
    /// When /proc can't be read; [`Unsupported`](io::ErrorKind::Unsupported) elsewhere than on Linux.
    pub fn new() -> io::Result<Self> {
        Self::start(None)
    }

    /// Looks at these threads only; process and machine as ever.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn of(threads: Vec<ThreadId>) -> io::Result<Self> {
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

    /// The window from the last look to now.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
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
    // A thread may end between being found and being asked.
    Ok(found.into_iter().filter_map(|id| Some((id, id.time().ok()?))).collect())
}

/// Looks once a second from a thread of its own, however busy the others are, until it is dropped.
#[derive(Debug)]
pub struct Watch {
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

impl Watch {
    /// How long a window is.
    pub const PERIOD: Duration = Duration::from_secs(1);

    /// At most so many windows are kept (a day's); the oldest go first.
    pub const KEPT: usize = 86_400;

    /// Begins to look with `sampler`.
    ///
    /// # Errors
    /// When no thread can be started.
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
                    if state.windows.len() >= Self::KEPT {
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

    /// The windows so far, oldest first.
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

impl Drop for Watch {
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
    fn a_window_holds_what_was_used_in_it() {
        let me = ThreadId::current();
        let mut sampler = Sampler::of(vec![me]).unwrap();
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
    fn a_watch_ends_when_dropped() {
        let watch = Watch::start(Sampler::new().unwrap()).unwrap();
        assert!(watch.windows().is_empty());
        drop(watch);
    }
}
