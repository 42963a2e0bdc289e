//! Load connections of a `responsiveness` workload.

use super::{LOAD_OBJECT, LoadConnections, PROBE_OBJECT, Part};
use crate::direction::Direction;
use crate::responsiveness::{ConnectionId, LoadEnd};
use crate::schedule::BACKOFF;
use netburn_units::{ByteSize, Instant, RandomStream, Seed};

/// Load connections: each transfers one large object after another. After a failure the next object is due after
/// [`BACKOFF`].
#[derive(Debug)]
pub(crate) struct Loads {
    connections: Vec<LoadConnection>,
    /// Number of objects that were due.
    number: u64,
    /// Selects the connections of self probes.
    choice: RandomStream,
}

#[derive(Debug)]
struct LoadConnection {
    /// Direction of its load; `None` for a connection that is opened for probes without load.
    load: Option<Direction>,
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
    pub(crate) size: ByteSize,
}

impl Loads {
    /// Connections of a workload whose first window begins at `start`; `None` without any.
    pub(crate) fn new(load: LoadConnections, start: Instant, seed: Seed, index: u64) -> Option<Self> {
        let mut loads = Loads::none(seed, index);
        for direction in [Direction::Down, Direction::Up] {
            for _ in 0..load.in_direction(direction) {
                loads.open(Some(direction), start);
            }
        }
        (load.count() > 0).then_some(loads)
    }

    /// No connection at first.
    pub(crate) fn none(seed: Seed, index: u64) -> Self {
        Loads {
            connections: Vec::new(),
            number: 0,
            choice: seed.stream("self probe", index),
        }
    }

    /// Opens a connection at `due`. Without load, it transfers one object of a probe, so that it is open for self probes.
    pub(crate) fn open(&mut self, load: Option<Direction>, due: Instant) {
        self.connections.push(LoadConnection {
            load,
            due: Some(due),
            operation: None,
            open: false,
        });
    }

    /// The connections without load are not used any more.
    pub(crate) fn close_idle(&mut self) {
        for connection in self.connections.iter_mut().filter(|c| c.load.is_none()) {
            connection.open = false;
        }
    }

    /// Direction of the load to which an operation belongs.
    pub(crate) fn direction(&self, operation: u64) -> Option<Direction> {
        let loading = |connection: &&LoadConnection| connection.operation == Some(operation);
        self.connections.iter().find(loading)?.load
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
            direction: connection.load.unwrap_or(Direction::Down),
            size: connection.load.map_or(PROBE_OBJECT, |_| LOAD_OBJECT),
        })
    }

    /// The connection of an operation is open.
    pub(crate) fn opened(&mut self, operation: u64) {
        let mut connections = self.connections.iter_mut();
        if let Some(connection) = connections.find(|connection| connection.operation == Some(operation)) {
            connection.open = true;
        }
    }

    /// An operation ended at `now`. Returns its connection, unless it is a probe.
    pub(crate) fn ended(&mut self, operation: u64, now: Instant, well: bool) -> Option<LoadEnd> {
        let numbers = (0..).map(ConnectionId);
        let mut connections = self.connections.iter_mut().zip(numbers);
        let (connection, number) = connections.find(|(c, _)| c.operation == Some(operation))?;
        let was_open = connection.open;
        connection.open &= well;
        connection.operation = None;
        connection.due = match (connection.load, well) {
            (None, _) => None,
            (Some(_), true) => Some(now),
            (Some(_), false) => now.checked_add(BACKOFF),
        };
        Some(LoadEnd {
            connection: number,
            is_idle: connection.load.is_none(),
            was_open,
        })
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
}
