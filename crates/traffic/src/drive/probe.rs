//! Probes.
use super::shared::Shared;
use netburn_units::ByteSize;
use netburn_workload::RequestId;
use std::rc::Rc;

pub(super) struct Line;

pub(super) fn send(shared: &Rc<Shared>, index: usize, id: RequestId, size: ByteSize) {
    let _ = (index, id, size);
    shared.with_core(|core, _| core.handle_unsent());
}
