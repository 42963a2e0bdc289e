//! A-MPDU, A-MSDU and BlockAck (802.11-2020 clauses 9.7, 9.3.2.2, 10.25).
//!
//! [`mpdu`] says how long frames are and what an aggregate may hold; [`sender`] keeps a BlockAck agreement's sending side
//! (sequence numbers, window, what must be sent again); [`reorder`] its receiving side, which releases in order.

pub mod mpdu;
pub mod reorder;
pub mod sender;
pub mod sending;

pub use mpdu::{Aggregate, Framing, Limits, Mpdu};
pub use reorder::Reorder;
pub use sender::Sender;
pub use sending::Sending;
