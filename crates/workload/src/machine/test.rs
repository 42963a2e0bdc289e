//! A responsiveness test: a workload whose [`Stages`] change its load and its probes.

use super::Workload;
use super::action::RequestId;
use crate::config::Config;
use crate::kinds::responsiveness::{Loads, ProbeSchedule, Responsiveness};
use crate::operation::Operation;
use crate::responsiveness::{self, Command, ConfigError, LoadEnd, ProbeKind, Stages};
use netburn_units::{Duration, Instant, Seed};

/// Time after which a test ends in any case. The limits of its parameters permit at most half of it.
const MAX_TEST: Duration = Duration::from_secs(3600);

impl Workload {
    /// Creates a workload that is a responsiveness test from `start` on. `seed` selects the connections of the self probes.
    ///
    /// # Errors
    /// [`ConfigError`] when a parameter is out of its range.
    pub fn responsiveness_test(
        config: responsiveness::Config,
        start: Instant,
        seed: Seed,
    ) -> Result<Workload, ConfigError> {
        let own = Config {
            timeout: config.probe_timeout,
            goals: Vec::new(),
            ..Config::from(Responsiveness::default())
        };
        let end = start + MAX_TEST;
        let mut workload = Workload {
            first_due: None,
            schedule: Box::new(ProbeSchedule::stopped()),
            loads: Some(Loads::none(seed, 0)),
            test: Some(Box::new(Stages::new(config, start)?)),
            ..Workload::new(own, start, end, end, seed, 0)
        };
        workload.apply_stages(start);
        Ok(workload)
    }

    /// Stages and result of a responsiveness test; `None` for other workloads.
    pub fn test_mut(&mut self) -> Option<&mut Stages> {
        self.test.as_deref_mut()
    }

    /// An interval or a stage ends at `at`.
    pub(super) fn end_stage(&mut self, at: Instant) {
        if let Some(test) = &mut self.test {
            test.handle_timeout(at);
            self.apply_stages(at);
        }
    }

    pub(super) fn cancel_test(&mut self, now: Instant) {
        if let Some(test) = &mut self.test {
            test.cancel(now);
            self.apply_stages(now);
        }
    }

    /// Bytes of an operation moved. Those of probes are no load.
    pub(super) fn test_bytes(&mut self, now: Instant, id: RequestId, bytes: u64) {
        if let (Some(test), Some(loads)) = (&mut self.test, &self.loads)
            && let Some(direction) = loads.direction(id.operation)
        {
            test.handle_bytes(now, direction, bytes);
            self.apply_stages(now);
        }
    }

    /// An operation has begun.
    pub(super) fn test_sent(&mut self, sequence: u64) {
        if let (Some(test), Some(kind)) = (&mut self.test, ProbeKind::from_sequence(sequence)) {
            test.handle_probe_sent(kind);
        }
    }

    /// An operation has ended, or was not begun. `load`: its connection, unless it is a probe.
    pub(super) fn test_ended(&mut self, now: Instant, operation: &Operation, load: Option<LoadEnd>) {
        let Some(test) = &mut self.test else { return };
        match (load, ProbeKind::from_sequence(operation.sequence)) {
            (Some(load), _) => test.handle_load_ended(now, load, operation.outcome),
            (None, Some(kind)) => test.handle_probe_ended(now, kind, operation),
            (None, None) => {}
        }
        self.apply_stages(now);
    }

    fn apply_stages(&mut self, now: Instant) {
        while let (Some(test), Some(loads)) = (&mut self.test, &mut self.loads)
            && let Some(command) = test.poll_command()
        {
            match command {
                Command::OpenIdle => loads.open(None, now),
                Command::CloseIdle => loads.close_idle(),
                Command::Load(direction) => loads.open(Some(direction), now),
                Command::Probe(interval) => self.schedule.set_interval(now, interval),
                Command::Finish => self.end_at(now),
            }
        }
    }
}
