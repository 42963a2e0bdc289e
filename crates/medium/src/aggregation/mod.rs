//! A-MPDU, A-MSDU and BlockAck (802.11-2020 clauses 9.7, 9.3.2.2, 10.25).
//!
//! [`mpdu`] computes lengths of frames and the limits of an aggregate. [`sender`] is the originator
//! of a BlockAck agreement (sequence numbers, window, retransmissions). [`reorder`] is its
//! recipient, which releases packets in order.

pub mod mpdu;
pub mod reorder;
pub mod sender;
pub mod sending;

pub use mpdu::{Aggregate, Framing, Limits, Mpdu};
pub use reorder::Reorder;
pub use sender::{Fit, Sender};
pub use sending::Sending;
