//! Packets of the first workload of a simulated run, for several tests.

use netburn_record::Row;
use netburn_scenario::{Document, Environment};
use netburn_workload::{Direction, Operation};
use std::ops::ControlFlow;

/// Operations of the workload in the order of their numbers. `text` is the scenario.
pub(crate) fn operations(text: &str) -> Vec<Operation> {
    let document = Document::from_toml("packets.toml", text).unwrap();
    let plan = document.resolve_for(Environment::Simulate).unwrap().0;
    let mut all = Vec::new();
    let done = netburn_simulate::run(&plan, |_, rows| {
        all.extend(rows);
        ControlFlow::Continue(())
    });
    assert!(!done.unwrap().interrupted);
    let of = |row: &Row| match row {
        Row::Operation(row) if row.workload == 0 => Some(row.operation),
        _ => None,
    };
    let mut operations: Vec<Operation> = all.iter().filter_map(of).collect();
    operations.sort_by_key(|operation| operation.sequence);
    operations
}

/// The packets of a direction.
pub(crate) fn in_direction(operations: &[Operation], direction: Direction) -> Vec<Operation> {
    let is = |operation: &&Operation| Direction::of_packet(operation.sequence) == direction;
    operations.iter().filter(is).copied().collect()
}
