//! Access points that are observed during a run.

use netburn_access_point::{Addresses, Observer, Target};
use netburn_record::{Detail, EventKind, Row};
use netburn_units::Instant;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Observed access points of one run. The threads end with this value.
#[derive(Debug)]
pub(crate) struct AccessPoints {
    observers: Mutex<Vec<Observer>>,
    /// Texts for the user that were not reported yet.
    warnings: Mutex<Vec<String>>,
}

impl AccessPoints {
    /// Starts to observe access points. Returns texts about those that can't be.
    pub(crate) fn start(targets: &[Target], config: Option<PathBuf>, addresses: &Addresses) -> AccessPoints {
        let (mut observers, mut warnings) = (Vec::new(), Vec::new());
        for target in targets {
            match Observer::start(target, config.clone(), addresses.clone()) {
                Ok(observer) => observers.push(observer),
                Err(error) => warnings.push(error.to_string()),
            }
        }
        AccessPoints {
            observers: Mutex::new(observers),
            warnings: Mutex::new(warnings),
        }
    }

    /// Sets time 0 of the run: it is `now` at this moment.
    pub(crate) fn begin(&self, now: Instant) {
        let here = std::time::Instant::now();
        let span = std::time::Duration::from_nanos(now.as_nanos().unsigned_abs());
        let zero = if now < Instant::ZERO {
            here.checked_add(span)
        } else {
            here.checked_sub(span)
        };
        for observer in self.observers().iter_mut() {
            observer.begin(zero.unwrap_or(here));
        }
    }

    /// Ends the observation. The last rows are complete afterwards.
    pub(crate) fn end(&self) {
        let mut observers = self.observers();
        observers.iter().for_each(Observer::end);
        observers.iter_mut().for_each(Observer::wait_for_end);
    }

    /// Rows since the last call.
    pub(crate) fn take_rows(&self) -> Vec<Row> {
        let rows: Vec<Row> = self.observers().iter_mut().flat_map(Observer::rows).collect();
        let mut warnings = lock(&self.warnings);
        for row in &rows {
            if let Row::Event(event) = row
                && event.kind == EventKind::AccessPoint
                && let Detail::AccessPoint(what) = &event.detail
                && what.is_warning()
            {
                warnings.push(what.to_string());
            }
        }
        rows
    }

    /// Texts for the user since the last call.
    pub(crate) fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.warnings))
    }

    fn observers(&self) -> MutexGuard<'_, Vec<Observer>> {
        lock(&self.observers)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
