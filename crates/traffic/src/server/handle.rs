//! How a running server goes.

use super::stats::{Distribution, Stats};
use super::worker::Shared;
use netburn_linux::cpu::ThreadId;
use netburn_linux::{CpuMonitor, Monotonic, Sampler, TcpInfo, Window};
use netburn_record::{Health, Role};
use netburn_units::Instant;
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tells how a server goes, while it runs and after. Cheap to clone, and usable from any thread.
#[derive(Clone)]
pub struct ServerHandle {
    name: String,
    shared: Arc<Shared>,
    cpu: Arc<Mutex<Cpu>>,
}

/// A look at one of the server's TCP connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// The client's end: its port names the connection at both ends.
    pub peer: SocketAddr,
    /// When it was looked at.
    pub at: std::time::Instant,
    /// What the kernel knows of it.
    pub info: TcpInfo,
}

/// The processor time of the server's threads.
struct Cpu {
    since: Monotonic,
    /// From `since` to now, for as long as there is no whole window.
    sampler: Option<Sampler>,
    watch: Option<CpuMonitor>,
    /// What the watch had seen when the server ended.
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

    /// What the server says of its own measuring since it began, or since [`reset`](Self::reset). Its lateness is how
    /// late it acted on the pieces of capped transfers.
    #[must_use]
    pub fn health(&self) -> Health {
        let stats = &self.shared.stats;
        let sum = |count: fn(&Stats) -> &AtomicU64| stats.iter().map(|stats| count(stats).load(Relaxed)).sum();
        let lateness = Distribution::of(stats.iter().map(|stats| &stats.lateness));
        let service = Distribution::of(stats.iter().map(|stats| &stats.service));
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
            refused: sum(|stats| &stats.refused),
            bytes_down: sum(|stats| &stats.bytes_down),
            bytes_up: sum(|stats| &stats.bytes_up),
            operations: sum(|stats| &stats.requests),
            served: Default::default(),
        }
    }

    /// Has every worker watch for standstills from now on, for which it looks at its work 50 times a second.
    pub fn watch_standstills(&self) {
        self.shared.watching.send_replace(true);
    }

    /// Forgets what was measured so far, bytes and requests included: a run begins.
    pub fn reset(&self) {
        self.shared.stats.iter().for_each(|stats| stats.reset());
        let mut cpu = self.lock();
        cpu.since = Monotonic::now();
        if let Some(sampler) = &mut cpu.sampler {
            // Its next window begins here.
            let _ = sampler.sample();
        }
    }

    /// Bytes of content sent to and taken from each station, by its number in the plan, since the server began: of
    /// requests that name it.
    #[must_use]
    pub fn moved(&self) -> Vec<(u64, u64)> {
        self.shared.tally.moved()
    }

    /// Looks at every connection that is open now.
    #[must_use]
    pub fn connections(&self) -> Vec<Connection> {
        self.shared.registry.look()
    }

    /// The server's threads are under way.
    pub(super) fn begun(&self, threads: Vec<ThreadId>) {
        let mut cpu = self.lock();
        // Where the system tells nothing of processor time, the shares stay 0.
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
    /// The windows since the beginning; a last, shorter one where there is no other.
    fn windows(&mut self) -> Vec<Window> {
        let seen = self
            .watch
            .as_ref()
            .map_or_else(|| self.ended.clone(), CpuMonitor::windows);
        let within = |window: &Window| window.end.saturating_since(self.since) >= window.span;
        let whole: Vec<Window> = seen.into_iter().filter(within).collect();
        if whole.is_empty() && self.watch.is_some() {
            return self
                .sampler
                .as_mut()
                .and_then(|sampler| sampler.sample().ok())
                .into_iter()
                .collect();
        }
        whole
    }

    /// The busiest thread's share (the 95th percentile of the windows) and the machine's (their mean).
    fn shares(&mut self) -> (f64, f64) {
        let windows = self.windows();
        let mut busiest: Vec<f64> = windows.iter().map(|window| window.busiest_thread).collect();
        busiest.sort_by(f64::total_cmp);
        // Nearest rank: the smallest that at least 95 % don't exceed.
        let rank = (busiest.len() * 95).div_ceil(100).max(1);
        let cpu = busiest.get(rank - 1).copied().unwrap_or(0.0);
        let machine: f64 = windows.iter().map(|window| window.machine_busy).sum();
        (cpu, machine / windows.len().max(1) as f64)
    }
}

impl fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerHandle")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
