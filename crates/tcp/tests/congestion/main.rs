//! Congestion control on a path: against closed forms, against the kernel, against each other.

mod corpus;
mod curves;
mod kernel;
mod model;
mod path;
mod sender;
mod sharing;
mod whole;
