//! Settings that several kinds of workload have.
//!
//! - `activity`: times in which a workload runs.
//! - `error`: the error of an invalid value.
//! - `goal`: goals.
//! - `marking`: traffic class, DSCP and TID of the packets.
//! - `names`: text form of the types with a fixed set of values.
//! - `requests`: operations over HTTP, and the grid of their due times.
//! - `stream`: streams of datagrams in one direction.

mod activity;
mod error;
mod goal;
mod marking;
mod names;
mod requests;
mod stream;

pub use activity::{Activity, MIN_REPEAT, MIN_WINDOW, Window, Windows};
pub use error::ConfigError;
pub(crate) use error::{within, wrong};
pub use goal::{BIN, GAP, Goal, MAX_RATING, MAX_RPM};
pub use marking::{Marking, Priority};
pub use names::UnknownName;
pub(crate) use names::named;
pub use requests::{Connections, Grid, MIN_PERIOD, PlayerConfig, Requests, Volume};
pub use stream::{
    MAX_BURST, MAX_BURST_INTERVAL, MAX_PACKET_SIZE, MIN_PACKET_PERIOD, MIN_PACKET_SIZE, PacketStream, Streams,
    frame_size,
};
