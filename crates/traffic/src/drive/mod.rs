//! Driver: runs many workloads over sockets, on one thread.
//!
//! - [`load`] – input and result.
//! - [`baseline`](mod@baseline): idle latency before the load.
//! - `backlog`: detection of overload.
//! - `shared`: events and the resulting actions. `job`: one object. `datagrams`: sockets of `probe` and `call`. `hop_probe`: ICMP.
//!   `dscp`: marks of datagrams. `sample`: TCP_INFO.

mod backlog;
pub mod baseline;
pub mod load;
mod sample;
mod shared;

pub use baseline::{Idle, baseline};
pub use load::{CancelHandle, CancelToken, Load, Rows};
pub use netburn_driver::DriveReport;

use crate::clock::RunClock;
use backlog::Backlog;
use netburn_platform::sampler::MIN_SPAN;
use netburn_platform::{Monotonic, Timer, cpu::ThreadId};
use netburn_record::Standstills;
use netburn_units::{Duration, Instant};
use netburn_workload::responsiveness::Stages;
use shared::Shared;
use std::cell::RefCell;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use tokio::task::{LocalSet, spawn_local};

/// Interval at which rows are sent and connections sampled.
const TICK: Duration = Duration::from_millis(50);
/// Maximum time between two checks for standstills. Shorter standstills may not be detected.
const LOOK: Duration = Duration::from_millis(20);
/// Window for processor time.
const WINDOW: Duration = Duration::from_secs(1);
/// Interval at which the waiting time of a task is measured.
const TURN: Duration = Duration::from_millis(5);

/// Drives `loads` until all are settled or `stop` is cancelled, and sends `rows` in batches several times a second.
///
/// All work runs on the thread that polls this future, which is not `Send`. The thread should have no other tasks:
/// see [`on_thread`].
///
/// # Panics
/// When no timer can be created because too many files are open.
pub async fn drive(loads: Vec<Load>, clock: RunClock, rows: Rows, stop: CancelToken) -> DriveReport {
    let ended = drive_observed(loads, clock, rows, stop, &mut |_| {}).await;
    ended.expect("a timer")
}

/// [`drive`], which shows responsiveness tests to an observer several times a second, and at their end.
///
/// # Errors
/// When no timer can be created because too many files are open.
pub(crate) async fn drive_observed(
    loads: Vec<Load>,
    clock: RunClock,
    rows: Rows,
    stop: CancelToken,
    observe: &mut dyn FnMut(&mut Stages),
) -> io::Result<DriveReport> {
    // Every connection is a file.
    let _ = netburn_platform::raise_open_files();
    let timer = Timer::new()?;
    let local = LocalSet::new();
    let shared = Shared::new(loads, clock);
    let (busy, standstills) = local.run_until(run(&shared, &rows, timer, stop, observe)).await;
    // The remaining tasks own the shared state and close their connections.
    drop(local);
    let Ok(shared) = Rc::try_unwrap(shared).map_err(|_| ()) else {
        unreachable!("no task outlives its set")
    };
    let load_failure = shared.load_failure.into_inner();
    let (rest, report) = shared.scheduler.into_inner().finish();
    // A dropped receiver is not an error.
    let _ = rows.send(rest);
    Ok(DriveReport {
        cpu: busy.share(),
        standstill_us_max: standstills.longest().as_nanos() as f64 / 1e3,
        load_failure,
        ..report
    })
}

async fn run(
    shared: &Rc<Shared>,
    rows: &Rows,
    mut timer: Timer,
    mut stop: CancelToken,
    observe: &mut dyn FnMut(&mut Stages),
) -> (Busy, Standstills) {
    let mut stopped = pin!(async move { stop.stopped().await });
    let mut is_stopped = false;
    let mut busy = Busy::begin(shared.clock.now());
    let mut tick = shared.clock.now() + TICK;
    let mut standstills = Standstills::new(LOOK);
    let backlog = Rc::new(RefCell::new(Backlog::default()));
    let mut turn = shared.clock.now();
    shared.open_packet_sockets();
    loop {
        shared.with_scheduler(|_, _| {});
        let now = shared.clock.now();
        if let Some(overloaded) = backlog.borrow_mut().handle_check(now) {
            shared.scheduler.borrow_mut().set_overloaded(overloaded);
        }
        if now >= turn && backlog.borrow_mut().begin_wait(now) {
            turn = now + TURN;
            spawn_local(take_turn(Rc::clone(shared), Rc::clone(&backlog)));
        }
        standstills.handle_poll(now);
        if now >= tick {
            tick = now + TICK;
            busy.look(now);
            let mut scheduler = shared.scheduler.borrow_mut();
            shared.sampler.borrow_mut().sample(now, &mut scheduler);
            let _ = rows.send(scheduler.take_rows(now));
            scheduler.observe_tests(observe);
        }
        if shared.scheduler.borrow().is_settled() {
            break;
        }
        let look = tick.min(now + LOOK);
        let next = shared.scheduler.borrow().poll_timeout().map_or(look, |at| at.min(look));
        shared.asleep_until.set(next);
        let wait = next.checked_since(shared.clock.now()).unwrap_or(Duration::ZERO);
        tokio::select! {
            biased;
            () = &mut stopped, if !is_stopped => {
                is_stopped = true;
                shared.with_scheduler(|scheduler, now| scheduler.handle_stop(now));
            }
            () = pause(&mut timer, wait) => {}
            () = shared.changed.notified() => {}
        }
        shared.asleep_until.set(Instant::from_nanos(i64::MIN));
    }
    let now = shared.clock.now();
    shared.scheduler.borrow_mut().observe_tests(observe);
    shared::dscp::record(shared, now);
    shared
        .sampler
        .borrow_mut()
        .sample_all(now, &mut shared.scheduler.borrow_mut());
    busy.end(now);
    (busy, standstills)
}

/// Waits for one turn, like a task whose socket has become readable.
async fn take_turn(shared: Rc<Shared>, backlog: Rc<RefCell<Backlog>>) {
    tokio::task::yield_now().await;
    let overloaded = backlog.borrow_mut().handle_turn(shared.clock.now());
    shared.scheduler.borrow_mut().set_overloaded(overloaded);
}

/// Waits for `wait`, and always lets the other tasks run, so that running operations continue under overload.
async fn pause(timer: &mut Timer, wait: Duration) {
    if wait.is_zero() {
        tokio::task::yield_now().await
    } else {
        timer.until(Monotonic::now() + wait).await
    }
}

/// Processor time of the driving thread in windows of one second.
struct Busy {
    thread: ThreadId,
    since: Instant,
    used: Option<Duration>,
    shares: Vec<f64>,
}

impl Busy {
    fn begin(now: Instant) -> Self {
        let thread = ThreadId::current();
        Busy {
            thread,
            since: now,
            used: thread.time().ok(),
            shares: Vec::new(),
        }
    }

    fn look(&mut self, now: Instant) {
        let span = now.checked_since(self.since).unwrap_or(Duration::ZERO);
        if span >= WINDOW {
            self.close(now, span);
        }
    }

    fn close(&mut self, now: Instant, span: Duration) {
        let used = self.thread.time().ok();
        if let (Some(before), Some(used)) = (self.used, used) {
            self.shares
                .push(used.saturating_sub(before).as_secs_f64() / span.as_secs_f64());
        }
        (self.since, self.used) = (now, used);
    }

    /// The last, shorter window counts only without a whole one, and only if it is long enough to be measured.
    fn end(&mut self, now: Instant) {
        let span = now.checked_since(self.since).unwrap_or(Duration::ZERO);
        if self.shares.is_empty() && span >= MIN_SPAN {
            self.close(now, span);
        }
    }

    /// Returns the 95th percentile of the windows; 0 without any.
    fn share(mut self) -> f64 {
        self.shares.sort_by(f64::total_cmp);
        let rank = (self.shares.len() * 95).div_ceil(100);
        rank.checked_sub(1).map_or(0.0, |index| self.shares[index])
    }
}

/// Runs [`drive`] on its own thread and runtime. The future may be polled anywhere. Dropping it does not cancel the
/// drive.
///
/// # Errors
/// An I/O error when the thread or its runtime cannot be created.
pub async fn on_thread(loads: Vec<Load>, clock: RunClock, rows: Rows, stop: CancelToken) -> io::Result<DriveReport> {
    own_thread(move || drive(loads, clock, rows, stop)).await
}

/// Runs a future that is not `Send` on its own thread and runtime.
async fn own_thread<F, T>(work: impl FnOnce() -> F + Send + 'static) -> io::Result<T>
where
    F: Future<Output = T>,
    T: Send + 'static,
{
    let (done, result) = tokio::sync::oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::Builder::new().name("drive".into()).spawn(move || {
        // A dropped receiver is not an error.
        let _ = done.send(runtime.block_on(work()));
    })?;
    result
        .await
        .map_err(|_| io::Error::other("the driving thread panicked"))
}
