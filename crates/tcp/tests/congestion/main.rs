//! Congestion control on a path: compared with closed forms and with the kernel. The algorithms are
//! compared with each other, too.

mod corpus;
mod curves;
mod kernel;
mod model;
mod path;
mod sender;
mod sharing;
mod whole;
