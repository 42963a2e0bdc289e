//! Systems other than Linux.

pub(super) fn observe() {}

pub(super) fn is_from_process() -> bool {
    false
}
