//! Events that the helper reports: exits and stops of the programs that it started, and its own responses to pings.

use crate::program::ProcessExit;
use netburn_platform::Monotonic;
use netburn_units::Duration;
use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Time without a response after which the helper counts as stopped or starved of processor time.
pub(super) const SILENCE_THRESHOLD: Duration = Duration::from_secs(1);

/// Events of the helper, with callbacks and blocking waits.
#[derive(Debug, Default)]
pub(crate) struct ProcessEvents {
    state: Mutex<State>,
    changed: Condvar,
}

/// Callback for the exit of a process.
type ExitCallback = Box<dyn FnOnce(ProcessExit) + Send>;

/// State that follows from the helper's events. Pure: `now` is an argument.
#[derive(Default)]
struct State {
    ended: BTreeMap<u32, ProcessExit>,
    /// Callbacks to run when a process exits, by process number.
    callbacks: BTreeMap<u32, Vec<ExitCallback>>,
    stops: BTreeMap<u32, Stops>,
    /// Time of the last ping that has not been answered.
    asked: Option<Monotonic>,
    longest_silence: Duration,
    over: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("ended", &self.ended)
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}

/// Times for which a program was stopped.
#[derive(Debug, Clone, Copy, Default)]
struct Stops {
    since: Option<Monotonic>,
    before: Duration,
}

impl State {
    fn handle_ended(&mut self, now: Monotonic, id: u32, how: ProcessExit) -> Vec<ExitCallback> {
        self.handle_continued(now, id);
        self.ended.insert(id, how);
        self.callbacks.remove(&id).unwrap_or_default()
    }

    fn end_of(&self, id: u32) -> Option<ProcessExit> {
        let ended = self.ended.get(&id).copied();
        ended.or(self.over.then_some(ProcessExit::LabClosed))
    }

    fn handle_stopped(&mut self, now: Monotonic, id: u32) {
        self.stops.entry(id).or_default().since.get_or_insert(now);
    }

    fn handle_continued(&mut self, now: Monotonic, id: u32) {
        if let Some(stops) = self.stops.get_mut(&id)
            && let Some(since) = stops.since.take()
        {
            stops.before += now.saturating_since(since);
        }
    }

    fn handle_pulse(&mut self, now: Monotonic) {
        self.longest_silence = self.silence(now);
        self.asked = None;
    }

    /// Returns the longest time without a response, including the present one.
    fn silence(&self, now: Monotonic) -> Duration {
        let lasting = self.asked.map_or(Duration::ZERO, |asked| now.saturating_since(asked));
        self.longest_silence.max(lasting)
    }

    fn stopped(&self, now: Monotonic) -> Vec<(u32, Duration)> {
        let each = self.stops.iter().map(|(id, stops)| {
            let lasting = stops.since.map_or(Duration::ZERO, |since| now.saturating_since(since));
            (*id, stops.before + lasting)
        });
        each.collect()
    }
}

impl ProcessEvents {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut State, Monotonic) -> T) -> T {
        let result = change(&mut self.lock(), Monotonic::now());
        self.changed.notify_all();
        result
    }

    pub(super) fn ended(&self, id: u32, how: ProcessExit) {
        for tell in self.change(|state, now| state.handle_ended(now, id, how)) {
            tell(how);
        }
    }

    pub(super) fn stopped(&self, id: u32) {
        self.change(|state, now| state.handle_stopped(now, id));
    }

    pub(super) fn continued(&self, id: u32) {
        self.change(|state, now| state.handle_continued(now, id));
    }

    pub(super) fn pulse(&self) {
        self.change(State::handle_pulse);
    }

    /// The helper has exited, and with it all processes that it started.
    pub(super) fn over(&self) {
        let callbacks = self.change(|state, _| {
            state.over = true;
            std::mem::take(&mut state.callbacks)
        });
        for tell in callbacks.into_values().flatten() {
            tell(ProcessExit::LabClosed);
        }
    }

    /// Calls `tell` when process `id` exits, or immediately if it has exited.
    pub(crate) fn when_ended(&self, id: u32, tell: ExitCallback) {
        let mut state = self.lock();
        match state.end_of(id) {
            Some(how) => {
                drop(state);
                tell(how);
            }
            None => state.callbacks.entry(id).or_default().push(tell),
        }
    }

    /// A ping was sent.
    pub(super) fn asked(&self) {
        self.change(|state, now| state.asked = Some(now));
    }

    /// Waits for the response to the ping, for at most `long`. Returns whether it arrived or the helper has exited.
    pub(super) fn wait_for_pulse(&self, long: std::time::Duration) -> bool {
        let waiting = |state: &mut State| state.asked.is_some() && !state.over;
        let waited = self.changed.wait_timeout_while(self.lock(), long, waiting);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.asked.is_none() || state.over
    }

    /// Returns how process `id` exited; `None` while it runs.
    pub(crate) fn end_of(&self, id: u32) -> Option<ProcessExit> {
        self.lock().end_of(id)
    }

    /// Waits until process `id` exits.
    pub(crate) fn wait_for_end(&self, id: u32) -> ProcessExit {
        let mut state = self.lock();
        loop {
            if let Some(how) = state.end_of(id) {
                return how;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the programs that a signal stopped, with the total time for which they were stopped.
    pub(crate) fn stops(&self) -> Vec<(u32, Duration)> {
        self.lock().stopped(Monotonic::now())
    }

    /// Returns the longest time without a response of the helper.
    pub(crate) fn silence(&self) -> Duration {
        self.lock().silence(Monotonic::now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Monotonic {
        Monotonic::from_nanos(millis * 1_000_000)
    }

    fn millis(spans: Vec<(u32, Duration)>) -> Vec<(u32, u64)> {
        spans.into_iter().map(|(id, span)| (id, span.as_millis())).collect()
    }

    #[test]
    fn stops_are_added_up_until_the_end() {
        let mut state = State::default();
        state.handle_stopped(at(1_000), 3);
        // The kernel may report a stop twice.
        state.handle_stopped(at(1_500), 3);
        assert_eq!(millis(state.stopped(at(1_700))), [(3, 700)]);
        state.handle_continued(at(2_200), 3);
        state.handle_continued(at(2_300), 4);
        assert_eq!(millis(state.stopped(at(9_000))), [(3, 1_200)]);
        state.handle_stopped(at(10_000), 3);
        state.handle_ended(at(10_300), 3, ProcessExit::Signal(9));
        assert_eq!(millis(state.stopped(at(20_000))), [(3, 1_500)]);
    }

    #[test]
    fn exit_callbacks_run_once_before_and_after_the_exit() {
        let (tell, callbacks) = std::sync::mpsc::channel();
        let process_events = ProcessEvents::default();
        let tell = |id: u32| {
            let tell = tell.clone();
            process_events.when_ended(id, Box::new(move |how| tell.send((id, how)).unwrap()));
        };
        tell(1);
        tell(2);
        process_events.ended(1, ProcessExit::Status(7));
        tell(1);
        assert_eq!(
            callbacks.try_iter().collect::<Vec<_>>(),
            [(1, ProcessExit::Status(7)); 2]
        );
        process_events.over();
        tell(3);
        let with_lab = [(2, ProcessExit::LabClosed), (3, ProcessExit::LabClosed)];
        assert_eq!(callbacks.try_iter().collect::<Vec<_>>(), with_lab);
        assert_eq!(process_events.end_of(1), Some(ProcessExit::Status(7)));
    }

    #[test]
    fn silence_lasts_until_the_response() {
        let mut state = State::default();
        assert_eq!(state.silence(at(5_000)), Duration::ZERO);
        state.asked = Some(at(1_000));
        assert_eq!(state.silence(at(4_000)), Duration::from_secs(3));
        state.handle_pulse(at(4_500));
        state.asked = Some(at(5_000));
        state.handle_pulse(at(5_001));
        assert_eq!(state.silence(at(90_000)), Duration::from_millis(3_500));
    }
}
