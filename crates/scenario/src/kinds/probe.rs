//! Keys of `probe`.

use super::{KindKeys, KindSection, check_size, jitter, keys};
use crate::decode::Context;
use crate::plan::WorkloadSection;
use netburn_workload::config::PROBE_SIZES;
use netburn_workload::kinds::Probe;

keys!(Probe {
    object_size => size,
    interval => grid.interval,
    jitter => grid.jitter,
    outstanding => outstanding,
    target => target,
});

impl KindSection for Probe {
    fn resolve(&mut self, section: &WorkloadSection, cx: &mut Context) {
        self.apply(section);
        check_size(section, &PROBE_SIZES, "a probe", cx);
        jitter(&mut self.grid, section, cx);
    }
}
