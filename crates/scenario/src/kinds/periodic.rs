//! Keys of `calls`.

use super::{KindKeys, KindSection, grid, keys};
use crate::decode::Context;
use crate::plan::WorkloadSection;
use netburn_workload::Pattern;
use netburn_workload::kinds::Periodic;

keys!(Periodic {
    object_size => requests.object_size,
    interval => grid.interval,
    jitter => grid.jitter,
    connections => requests.connections,
    outstanding => outstanding,
} and rate);

impl KindSection for Periodic {
    fn resolve(&mut self, section: &WorkloadSection, cx: &mut Context) {
        self.apply(section);
        let (size, default) = (self.requests.bounded_size(), self.kind().default_rate);
        grid(&mut self.grid, size, default, section, cx);
    }
}
