//! Keys of `download` and `upload`.

use super::{KindKeys, KindSection, keys};
use crate::decode::Context;
use crate::plan::WorkloadSection;
use netburn_workload::kinds::Bulk;

keys!(Bulk {
    object_size => requests.object_size,
    connections => requests.connections,
    streams => streams,
});

impl KindSection for Bulk {
    fn resolve(&mut self, section: &WorkloadSection, _cx: &mut Context) {
        self.apply(section);
    }
}
