//! Keys of `responsiveness`.

use super::{KindKeys, KindSection, check_time, keys};
use crate::decode::Context;
use crate::plan::WorkloadSection;
use netburn_workload::config::PROBE_INTERVALS;
use netburn_workload::kinds::Responsiveness;

keys!(Responsiveness {
    interval => interval,
    load_down => load.down,
    load_up => load.up,
});

impl KindSection for Responsiveness {
    fn resolve(&mut self, section: &WorkloadSection, cx: &mut Context) {
        self.apply(section);
        check_time(section.interval.as_ref(), &PROBE_INTERVALS, "probes", cx);
    }
}
