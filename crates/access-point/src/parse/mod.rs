//! The output of each program and file. A line that is not understood is ignored, because versions differ.

pub(crate) mod debugfs;
pub(crate) mod iw;
pub(crate) mod log;
pub(crate) mod procfs;
pub(crate) mod shell;
pub(crate) mod tc;
#[cfg(test)]
mod tests;
