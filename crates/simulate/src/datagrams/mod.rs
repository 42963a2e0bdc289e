//! Flows of datagrams over anything that carries packets: at a constant rate, as many as are taken, or probes that come back.
//!
//! [`Driver`] walks the flows through virtual time; [`Carrier`] is what they need of the network below; [`Report`] is what became
//! of a flow, and [`usage`] what it cost.

mod carrier;
mod driver;
mod flow;
mod report;
pub mod usage;

pub use carrier::{Carrier, Fate};
pub use driver::Driver;
pub use flow::{Datagram, Flow, Load};
pub use report::Report;
