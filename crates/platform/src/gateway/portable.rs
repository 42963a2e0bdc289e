//! Systems other than Linux and Windows.

use super::*;

pub(super) fn routes() -> io::Result<Vec<Route>> {
    Err(io::ErrorKind::Unsupported.into())
}
