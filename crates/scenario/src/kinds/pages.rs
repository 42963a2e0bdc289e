//! Keys of `pages`.

use super::{KindKeys, KindSection, grid, keys};
use crate::decode::Context;
use crate::plan::WorkloadSection;
use netburn_workload::kinds::Pages;

keys!(Pages {
    objects => requests.objects,
    object_size => requests.object_size,
    interval => grid.interval,
    jitter => grid.jitter,
    connections => requests.connections,
} and rate);

impl KindSection for Pages {
    fn resolve(&mut self, section: &WorkloadSection, cx: &mut Context) {
        self.apply(section);
        grid(&mut self.grid, self.requests.bounded_size(), None, section, cx);
    }
}
