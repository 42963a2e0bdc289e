//! Congestion control on a path: against closed forms, against the kernel, against each other.

mod curves;
mod path;
