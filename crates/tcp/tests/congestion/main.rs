//! Congestion control on a path: compared with closed forms, with the kernel, and among each other.

mod corpus;
mod curves;
mod kernel;
mod model;
mod path;
mod sender;
mod sharing;
mod whole;
