//! Observation of a running server.

use super::registry::Connection;
use super::stats::{Distribution, Stats};
use super::worker_state::Shared;
use netburn_platform::cpu::ThreadId;
use netburn_platform::sampler::MIN_SPAN;
use netburn_platform::{CpuMonitor, Monotonic, Sampler, Window};
use netburn_record::{Health, Role};
use netburn_units::Instant;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Handle for the statistics of a server, during and after its run. Cheap to clone, and usable from any thread.
#[derive(Clone)]
pub struct ServerHandle {
    name: String,
    shared: Arc<Shared>,
    cpu: Arc<Mutex<Cpu>>,
}

/// Processor time of the server's threads.
struct Cpu {
    since: Monotonic,
    /// Sampler since the start, used while there is no whole window.
    sampler: Option<Sampler>,
    watch: Option<CpuMonitor>,
    /// Windows at the end of the server.
    ended: Vec<Window>,
}

impl ServerHandle {
    pub(super) fn new(name: String, shared: Arc<Shared>) -> Self {
        let cpu = Cpu {
            since: Monotonic::now(),
            sampler: None,
            watch: None,
            ended: Vec::new(),
        };
        Self {
            name,
            shared,
            cpu: Arc::new(Mutex::new(cpu)),
        }
    }

    /// Returns the server's health since its start or since [`reset`](Self::reset). Its lateness is that of
    /// rate-limited transfers.
    #[must_use]
    pub fn health(&self) -> Health {
        let stats = &self.shared.stats;
        let sum = |count: fn(&Stats) -> &AtomicU64| stats.iter().map(|stats| count(stats).load(Relaxed)).sum();
        let lateness = Distribution::merge(stats.iter().map(|stats| &stats.lateness));
        let service = Distribution::merge(stats.iter().map(|stats| &stats.service));
        let (cpu, machine_busy) = self.lock().shares();
        Health {
            name: self.name.clone(),
            role: Role::Server,
            stations: Vec::new(),
            lateness_us_p50: lateness.quantile_us(0.50),
            lateness_us_p99: lateness.quantile_us(0.99),
            lateness_us_max: lateness.max_us(),
            lateness_count: lateness.count(),
            standstill_us_max: self.shared.watching.borrow().then(|| {
                let now = Instant::from_nanos(Monotonic::now().as_nanos());
                let each = stats.iter().map(|stats| stats.longest_standstill(now).as_nanos());
                each.max().unwrap_or(0) as f64 / 1e3
            }),
            missed_sends: 0,
            cpu,
            machine_busy,
            service_us_p99: service.quantile_us(0.99),
            rejected: sum(|stats| &stats.rejected),
            bytes_down: sum(|stats| &stats.bytes_down),
            bytes_up: sum(|stats| &stats.bytes_up),
            operations: sum(|stats| &stats.requests),
            served: Default::default(),
        }
    }

    /// Makes every worker detect standstills from now on, with 50 checks per second.
    pub fn watch_standstills(&self) {
        self.shared.watching.send_replace(true);
    }

    /// Resets all statistics at the start of a run, including bytes and requests.
    pub fn reset(&self) {
        self.shared.stats.iter().for_each(|stats| stats.reset());
        let mut cpu = self.lock();
        cpu.since = Monotonic::now();
        if let Some(sampler) = &mut cpu.sampler {
            // Starts a new window.
            let _ = sampler.sample();
        }
    }

    /// Returns the bytes of content sent to and received from each station since the start of the server, by its number
    /// in the plan. Only requests with a station are counted.
    #[must_use]
    pub fn moved(&self) -> Vec<(u64, u64)> {
        self.shared.tally.moved()
    }

    /// Samples all open connections.
    #[must_use]
    pub fn connections(&self) -> Vec<Connection> {
        self.shared.registry.sample()
    }

    /// The server's threads have started.
    pub(super) fn begun(&self, threads: Vec<ThreadId>) {
        let mut cpu = self.lock();
        // Without support for processor times, the shares stay 0.
        cpu.sampler = Sampler::for_threads(threads.clone()).ok();
        cpu.watch = Sampler::for_threads(threads)
            .ok()
            .and_then(|sampler| CpuMonitor::start(sampler).ok());
    }

    /// The server's threads are about to end.
    pub(super) fn ending(&self) {
        let mut cpu = self.lock();
        cpu.ended = cpu.windows();
        cpu.watch = None;
    }

    fn lock(&self) -> MutexGuard<'_, Cpu> {
        self.cpu.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cpu {
    /// Returns the windows since the start; a shorter window if there is no whole one.
    fn windows(&mut self) -> Vec<Window> {
        let seen = self
            .watch
            .as_ref()
            .map_or_else(|| self.ended.clone(), CpuMonitor::windows);
        let within = |window: &Window| window.end.saturating_since(self.since) >= window.span;
        let whole: Vec<Window> = seen.into_iter().filter(within).collect();
        if whole.is_empty() && self.watch.is_some() {
            let window = self.sampler.as_mut().and_then(|sampler| sampler.sample().ok());
            return window.into_iter().filter(|window| window.span >= MIN_SPAN).collect();
        }
        whole
    }

    /// Returns the share of the busiest thread (95th percentile of the windows) and of the machine (mean); `None` without
    /// a window.
    fn shares(&mut self) -> (Option<f64>, Option<f64>) {
        let windows = self.windows();
        let mut busiest: Vec<f64> = windows.iter().map(|window| window.busiest_thread).collect();
        busiest.sort_by(f64::total_cmp);
        // Nearest rank: the smallest value that at least 95 % do not exceed.
        let rank = (busiest.len() * 95).div_ceil(100).max(1);
        let cpu = busiest.get(rank - 1).copied();
        let machine: f64 = windows.iter().map(|window| window.machine_busy).sum();
        (cpu, cpu.map(|_| machine / windows.len() as f64))
    }
}

impl fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerHandle")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
