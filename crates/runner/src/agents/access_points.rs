//! Access points that are observed during a run.

use netburn_access_point::{Addresses, Destination, Login, Observer, Refusal, Target};
use netburn_parallel::Cancel;
use netburn_record::{AccessPointEvent, Detail, EventKind, Row};
use netburn_units::Instant;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest wait for the logins before a run. The SSH client gives up a connection after 10 s.
const LOGIN_LIMIT: Duration = Duration::from_secs(12);
/// Interval of looking for them.
const POLL: Duration = Duration::from_millis(20);

/// Observed access points of one run. The threads end with this value.
#[derive(Debug)]
pub(crate) struct AccessPoints {
    observers: Mutex<Vec<(Target, Observer)>>,
    /// Names of access points whose refused login was reported before the run.
    refused: Mutex<BTreeSet<String>>,
    /// Texts for the user that were not reported yet.
    warnings: Mutex<Vec<String>>,
}

impl AccessPoints {
    /// Starts to observe access points. Returns texts about those that can't be.
    pub(crate) fn start(targets: &[Target], config: Option<PathBuf>, addresses: &Addresses) -> AccessPoints {
        let (mut observers, mut warnings) = (Vec::new(), Vec::new());
        for target in targets {
            match Observer::start(target, config.clone(), addresses.clone()) {
                Ok(observer) => observers.push((target.clone(), observer)),
                Err(error) => warnings.push(error.to_string()),
            }
        }
        AccessPoints {
            observers: Mutex::new(observers),
            refused: Mutex::default(),
            warnings: Mutex::new(warnings),
        }
    }

    /// Waits for the first login on each access point, but at most [`LOGIN_LIMIT`]. `report` gets a text for each one that is
    /// refused.
    pub(crate) fn await_logins(&self, cancel: &Cancel, report: &dyn Fn(&str)) {
        let until = std::time::Instant::now() + LOGIN_LIMIT;
        let mut observers = self.observers();
        let mut pending: Vec<&mut (Target, Observer)> = observers.iter_mut().collect();
        while !pending.is_empty() && !cancel.is_stopped() {
            let is_late = std::time::Instant::now() >= until;
            pending.retain_mut(|(target, observer)| {
                let text = match observer.login() {
                    Login::Pending if is_late => late(target),
                    Login::Pending => return true,
                    Login::Accepted => return false,
                    Login::Refused(refusal) => refused(target, &refusal),
                };
                lock(&self.refused).insert(target.name.clone());
                report(&text);
                false
            });
            std::thread::sleep(POLL);
        }
    }

    /// Sets time 0 of the run: it is `now` at this moment.
    pub(crate) fn begin(&self, now: Instant) {
        let here = std::time::Instant::now();
        let span = Duration::from_nanos(now.as_nanos().unsigned_abs());
        let zero = if now < Instant::ZERO {
            here.checked_add(span)
        } else {
            here.checked_sub(span)
        };
        for (_, observer) in self.observers().iter_mut() {
            observer.begin(zero.unwrap_or(here));
        }
    }

    /// Ends the observation. The last rows are complete afterwards.
    pub(crate) fn end(&self) {
        let mut observers = self.observers();
        observers.iter().for_each(|(_, observer)| observer.end());
        observers.iter_mut().for_each(|(_, observer)| observer.wait_for_end());
    }

    /// Rows since the last call.
    pub(crate) fn take_rows(&self) -> Vec<Row> {
        let rows: Vec<Row> = self
            .observers()
            .iter_mut()
            .flat_map(|(_, observer)| observer.rows())
            .collect();
        let reported = lock(&self.refused);
        let mut warnings = lock(&self.warnings);
        for row in &rows {
            if let Row::Event(event) = row
                && event.kind == EventKind::AccessPoint
                && let Detail::AccessPoint(what) = &event.detail
                && what.is_warning()
                && !(matches!(**what, AccessPointEvent::Unreachable { .. }) && reported.contains(what.name()))
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

    fn observers(&self) -> MutexGuard<'_, Vec<(Target, Observer)>> {
        lock(&self.observers)
    }
}

fn refused(target: &Target, refusal: &Refusal) -> String {
    let Refusal { reason, problem } = refusal;
    let text = format!(
        "access point {} can't be observed: {reason}; the run goes on without it",
        target.name
    );
    match problem.correction(target) {
        Some(correction) => format!("{text}; help: {correction}"),
        None => text,
    }
}

fn late(target: &Target) -> String {
    let seconds = LOGIN_LIMIT.as_secs();
    let text = format!(
        "access point {} has not answered for {seconds} s; the run begins without it",
        target.name
    );
    match target.destination {
        Destination::Ssh(_) => format!("{text}; help: test `ssh {} true`", target.address()),
        Destination::Local => text,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_test_support::unused_address;

    /// The login on a port without a server is refused by the client of this machine.
    #[test]
    fn a_refused_login_is_reported_before_the_run_and_once() {
        let address = unused_address();
        let target: Target = format!("hall=ssh://root@{address}").parse().unwrap();
        let access_points = AccessPoints::start(&[target], None, &Addresses::default());
        let texts = Mutex::new(Vec::new());
        access_points.await_logins(&Cancel::default(), &|text| lock(&texts).push(text.to_owned()));
        let texts = texts.into_inner().unwrap();
        let [text] = texts.as_slice() else { panic!("{texts:?}") };
        assert!(text.starts_with("access point hall can't be observed: "), "{text}");
        assert!(text.contains("; the run goes on without it; help: "), "{text}");
        access_points.begin(Instant::ZERO);
        let rows = access_points.take_rows();
        let is_event = |row: &Row| matches!(row, Row::Event(event) if event.kind == EventKind::AccessPoint);
        assert_eq!(rows.iter().filter(|row| is_event(row)).count(), 1, "{rows:?}");
        assert_eq!(access_points.take_warnings(), Vec::<String>::new());
    }
}
