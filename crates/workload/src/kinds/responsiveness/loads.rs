//! Load connections of a `responsiveness` workload.

use super::LoadConnections;
use super::Part;
use crate::direction::Direction;
use crate::schedule::BACKOFF;
use netburn_units::{Instant, Seed, Stream};

/// Load connections: each transfers one large object after another. After a failure the next object is due after
/// [`BACKOFF`].
#[derive(Debug)]
pub(crate) struct Loads {
    connections: Vec<LoadConnection>,
    /// Number of objects that were due.
    number: u64,
    /// Selects the connections of self probes.
    choice: Stream,
}

#[derive(Debug)]
struct LoadConnection {
    direction: Direction,
    /// Due time of its next object; `None` while one is in flight.
    due: Option<Instant>,
    /// Number of the operation in flight.
    operation: Option<u64>,
    /// True if the connection is open and transfers load.
    open: bool,
}

/// An object that is due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadObject {
    pub(crate) operation: u64,
    /// Number of the connection.
    pub(crate) connection: u32,
    pub(crate) direction: Direction,
}

impl Loads {
    /// Connections of a workload whose first window begins at `start`; `None` without any.
    pub(crate) fn new(load: LoadConnections, start: Instant, seed: Seed, index: u64) -> Option<Self> {
        if load.count() == 0 {
            return None;
        }
        let of = |direction| (0..load.in_direction(direction)).map(move |_| direction);
        let connection = |direction| LoadConnection {
            direction,
            due: Some(start),
            operation: None,
            open: false,
        };
        Some(Loads {
            connections: of(Direction::Down).chain(of(Direction::Up)).map(connection).collect(),
            number: 0,
            choice: seed.stream("self probe", index),
        })
    }

    /// Due time of the next object.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.connections.iter().filter_map(|connection| connection.due).min()
    }

    /// Takes the object that is due first.
    pub(crate) fn take(&mut self) -> Option<LoadObject> {
        let due = self.connections.iter_mut().zip(0..).filter(|(c, _)| c.due.is_some());
        let (connection, number) = due.min_by_key(|(connection, _)| connection.due)?;
        let operation = Part::Load.operation(self.number);
        self.number += 1;
        connection.due = None;
        connection.operation = Some(operation);
        Some(LoadObject {
            operation,
            connection: number,
            direction: connection.direction,
        })
    }

    /// The connection of an operation is open.
    pub(crate) fn opened(&mut self, operation: u64) {
        if let Some(connection) = self.loading(operation) {
            connection.open = true;
        }
    }

    /// An operation ended at `now`.
    pub(crate) fn ended(&mut self, operation: u64, now: Instant, well: bool) {
        if let Some(connection) = self.loading(operation) {
            connection.operation = None;
            connection.open &= well;
            connection.due = if well { Some(now) } else { now.checked_add(BACKOFF) };
        }
    }

    /// Starts again with a window that begins at `from`.
    pub(crate) fn restart(&mut self, from: Instant) {
        for connection in &mut self.connections {
            connection.due = Some(from);
        }
    }

    /// A connection that transfers load: each open one has the same probability. `None` without any.
    pub(crate) fn choose(&mut self) -> Option<u32> {
        let open: Vec<u32> = self
            .connections
            .iter()
            .zip(0..)
            .filter(|(c, _)| c.open)
            .map(|(_, n)| n)
            .collect();
        let place = self.choice.below(open.len() as u64);
        open.get(place as usize).copied()
    }

    fn loading(&mut self, operation: u64) -> Option<&mut LoadConnection> {
        self.connections
            .iter_mut()
            .find(|connection| connection.operation == Some(operation))
    }
}
