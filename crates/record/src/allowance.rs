//! Limits on the rows that one agent or server may add to a run, and on their values.
//!
//! The plan bounds the number and size of the operations that can be due by a given time. Drivers
//! sample connections and links once a second. An agent that reports much more, or impossible
//! values, is broken or malicious. Its excess rows are rejected and counted by reason. Without
//! these limits, one agent could fill the controller's disk or add any number to the total.

mod limits;

pub use limits::MAX_RATE;

use crate::rejected_rows::{Rejected, Rejection};
use crate::row::{ConnectionRow, EventRow, IntervalRow, LinkRow, OperationRow, Row, baseline};
use limits::{Limits, Pace, Remarks};
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use netburn_workload::config::BIN;
use std::collections::BTreeMap;

/// Tolerance around the run's time for a row's timestamps: clocks differ, and the last results
/// arrive late.
const MARGIN: Duration = Duration::from_secs(60);
/// Time after the end of the run in which an event may lie. An agent that waits for its controller
/// reports events during this time.
const REMARKS: Duration = Duration::from_secs(86_400);
/// Tolerance for times of an operation before its due time: browsers round the times that they
/// report.
const ROUNDING: Duration = Duration::from_millis(100);
/// Tolerance for a sender that is ahead of the time for which its allowance is computed.
const AHEAD: Duration = Duration::from_secs(10);

/// Remaining allowance of one agent or server.
///
/// **Call order:** [`admit`](Self::admit) for each row, in order of arrival. Any row may follow,
/// whatever it returns. A rejected row does not reduce the allowance.
#[derive(Debug, Clone)]
pub struct Allowance {
    earliest: Instant,
    latest: Instant,
    /// Duration of the run: baseline, load and drain.
    lasts: Duration,
    /// By station and workload.
    places: BTreeMap<(u16, u16), Place>,
    /// Number of connection samples, for a server. A server reports no other rows.
    server: Option<u64>,
    /// Samples of Wi-Fi links, by station.
    links: BTreeMap<u16, u64>,
    remarks: Remarks,
    events: u64,
    text: u64,
    rejected: Rejected,
}

/// Number of rows of each kind an agent may report of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Operations.
    pub operations: u64,
    /// Intervals.
    pub intervals: u64,
    /// Samples of connections.
    pub connections: u64,
    /// Samples of Wi-Fi links.
    pub links: u64,
    /// Events.
    pub events: u64,
    /// Bytes of text in events.
    pub text: u64,
}

/// One workload of one station.
#[derive(Debug, Clone)]
struct Place {
    limits: Limits,
    operations: u64,
    intervals: u64,
    connections: u64,
    bytes: u128,
}

impl Allowance {
    /// Allowance for the agent of these stations, given by their numbers in the plan.
    #[must_use]
    pub fn for_agent(plan: &Plan, stations: &[u16]) -> Allowance {
        let mut places = BTreeMap::new();
        for &number in stations {
            let Some(station) = plan.stations.get(usize::from(number)) else {
                continue;
            };
            let configs = station.workloads.iter().map(|workload| &workload.config);
            let limits = (0..)
                .zip(configs)
                .map(|(place, config)| (place, Limits::from_config(config)));
            let measured = if plan.baseline.is_zero() {
                Vec::new()
            } else {
                station.idle_targets()
            };
            let idle = measured
                .into_iter()
                .map(|target| (baseline(target), Limits::baseline()));
            places.extend(
                limits
                    .chain(idle)
                    .map(|(place, limits)| ((number, place), Place::new(limits))),
            );
        }
        let at = |span: Duration| Instant::ZERO.checked_add(span).unwrap_or(Instant::from_nanos(i64::MAX));
        let before = plan.baseline.checked_add(MARGIN).unwrap_or(plan.baseline);
        let latest = at(plan.settled().checked_add(MARGIN).unwrap_or(plan.settled()));
        let earliest = Instant::ZERO
            .checked_sub(before)
            .unwrap_or(Instant::from_nanos(i64::MIN));
        Allowance {
            earliest,
            latest,
            lasts: plan.baseline.checked_add(plan.settled()).unwrap_or_default(),
            remarks: Remarks::on(stations.len(), places.len()),
            places,
            server: None,
            links: stations.iter().map(|station| (*station, 0)).collect(),
            events: 0,
            text: 0,
            rejected: Rejected::default(),
        }
    }

    /// Allowance for the run's server.
    #[must_use]
    pub fn for_server(plan: &Plan) -> Allowance {
        Allowance {
            server: Some(0),
            ..Allowance::for_agent(plan, &[])
        }
    }

    /// Checks a row and reduces the allowance. `elapsed` is the time since the run began, baseline
    /// included; it is limited to the duration of the run.
    ///
    /// # Errors
    /// Returns the reason if the row is rejected. The row is counted in
    /// [`rejected`](Self::rejected).
    pub fn admit(&mut self, row: &Row, elapsed: Duration) -> Result<(), Rejection> {
        let elapsed = elapsed.min(self.lasts);
        let elapsed = elapsed.checked_add(AHEAD).unwrap_or(elapsed);
        let admitted = match row {
            Row::Operation(row) => self.operation(row, elapsed),
            Row::Interval(row) => self.interval(row, elapsed),
            Row::Connection(row) => self.connection(row, elapsed),
            Row::Link(row) => self.link(row, elapsed),
            Row::Event(row) => self.event(row, elapsed),
            // The air is recorded where it is modelled, and access points are observed, by the controller itself.
            Row::Air(_) | Row::Observed(_) => Err(Rejection::Workload),
        };
        if let Err(rejection) = admitted {
            self.rejected.count(rejection);
        }
        admitted
    }

    /// Maximum that is admitted for a whole run.
    #[must_use]
    pub fn most(&self) -> Most {
        let elapsed = self.lasts.checked_add(AHEAD).unwrap_or(self.lasts);
        let sum = |of: fn(&Limits) -> Pace| {
            let places = self.places.values().map(|place| of(&place.limits).allowed(elapsed));
            places.fold(0, u64::saturating_add)
        };
        Most {
            operations: sum(|limits| limits.operations),
            intervals: sum(|_| limits::INTERVALS),
            connections: sum(|limits| limits.connections),
            links: limits::LINKS.allowed(elapsed).saturating_mul(self.links.len() as u64),
            events: self.remarks.events.allowed(elapsed),
            text: self.remarks.text.allowed(elapsed),
        }
    }

    /// The rows rejected so far.
    #[must_use]
    pub fn rejected(&self) -> &Rejected {
        &self.rejected
    }

    fn operation(&mut self, row: &OperationRow, elapsed: Duration) -> Result<(), Rejection> {
        let operation = &row.operation;
        let later = [
            operation.started,
            operation.tcp_connected,
            operation.connected,
            operation.first_byte,
            operation.finished,
        ];
        let mut times = later.into_iter().flatten().chain([operation.due]);
        if !times.all(|at| self.covers(at)) {
            return Err(Rejection::Time);
        }
        let rounded = operation.due.checked_sub(ROUNDING).unwrap_or(operation.due);
        let backwards = later.into_iter().flatten().any(|at| at < rounded);
        if backwards || operation.far.is_some_and(|far| far.sent < far.received) {
            return Err(Rejection::Order);
        }
        let place = self.place(row.station, row.workload)?;
        if operation.bytes > place.limits.operation_bytes {
            return Err(Rejection::Bytes);
        }
        spend(
            &mut place.operations,
            place.limits.operations,
            elapsed,
            Rejection::Operations,
        )
    }

    fn interval(&mut self, row: &IntervalRow, elapsed: Duration) -> Result<(), Rejection> {
        let on_grid = row.at.as_nanos().rem_euclid(BIN.as_nanos() as i64) == 0;
        if !on_grid || !self.covers(row.at) {
            return Err(Rejection::Time);
        }
        let place = self.place(row.station, row.workload)?;
        let moved = u128::from(row.bytes_down) + u128::from(row.bytes_up);
        if moved > limits::bytes_at(MAX_RATE, BIN) || place.bytes + moved > place.limits.bytes(elapsed) {
            return Err(Rejection::Bytes);
        }
        spend(&mut place.intervals, limits::INTERVALS, elapsed, Rejection::Intervals)?;
        place.bytes += moved;
        Ok(())
    }

    fn connection(&mut self, row: &ConnectionRow, elapsed: Duration) -> Result<(), Rejection> {
        if !self.covers(row.at) {
            return Err(Rejection::Time);
        }
        let (looks, pace) = match &mut self.server {
            Some(looks) => (looks, limits::SERVER_LOOKS),
            None => {
                let place = self.place(row.station, row.workload)?;
                (&mut place.connections, place.limits.connections)
            }
        };
        spend(looks, pace, elapsed, Rejection::Connections)
    }

    fn link(&mut self, row: &LinkRow, elapsed: Duration) -> Result<(), Rejection> {
        if !self.covers(row.at) {
            return Err(Rejection::Time);
        }
        let looks = self.links.get_mut(&row.station).ok_or(Rejection::Workload)?;
        spend(looks, limits::LINKS, elapsed, Rejection::Links)
    }

    fn event(&mut self, row: &EventRow, elapsed: Duration) -> Result<(), Rejection> {
        let last = self.latest.checked_add(REMARKS).unwrap_or(self.latest);
        let longest = self.latest.checked_since(self.earliest).unwrap_or_default();
        if row.at < self.earliest || row.at > last || row.length > longest.as_nanos() {
            return Err(Rejection::Time);
        }
        if let (Some(station), Some(workload)) = (row.station, row.workload) {
            self.place(station, workload)?;
        }
        let (text, limits) = (row.detail.text().len() as u64, &self.remarks);
        if self.text + text > limits.text.allowed(elapsed) {
            return Err(Rejection::Text);
        }
        spend(&mut self.events, limits.events, elapsed, Rejection::Events)?;
        self.text += text;
        Ok(())
    }

    fn covers(&self, at: Instant) -> bool {
        (self.earliest..=self.latest).contains(&at)
    }

    fn place(&mut self, station: u16, workload: u16) -> Result<&mut Place, Rejection> {
        self.places.get_mut(&(station, workload)).ok_or(Rejection::Workload)
    }
}

impl Place {
    fn new(limits: Limits) -> Place {
        Place {
            limits,
            operations: 0,
            intervals: 0,
            connections: 0,
            bytes: 0,
        }
    }
}

/// Counts one of something, if that is within what is allowed by now.
fn spend(used: &mut u64, pace: Pace, elapsed: Duration, beyond: Rejection) -> Result<(), Rejection> {
    if *used >= pace.allowed(elapsed) {
        return Err(beyond);
    }
    *used += 1;
    Ok(())
}

#[cfg(test)]
mod tests;
