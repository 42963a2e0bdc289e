//! Calls: streams of datagrams in one or both directions, for `voice` and other workloads whose datagrams are not answered.
//!
//! The client completes the handshake of the echo first. Its requests carry the cookie, so the server
//! sends only to clients that receive datagrams at their address. A request allows the server to send
//! packets up to a number, at most those of the next two seconds. Without further requests the server
//! stops. A request is also one for the arrival times of the client's packets. The report replaces the request, so it is
//! never longer.
//!
//! In a video call, both ends send frames instead, with feedback in both directions. The request has the limits of
//! the rate. The server's frames are those up to the allowed number, and it sends no more than their target rate.
//!
//! - [`wire`] – encoding of datagrams.
//! - [`media`] – encoding of frames and feedback.
//! - [`video`] – one end of a video call.
//! - [`client`] – the client. [`early`]: its packets that arrive before they are due.
//! - [`offset`] – difference of the clocks of client and server.
//!
//! The server's streams are in `traffic`.

pub mod client;
pub mod early;
mod fields;
pub mod media;
pub mod offset;
pub mod video;
pub mod wire;

pub use client::{CallClient, CallEvent, CallPlan, VideoPlan};
pub use early::{Arrival, EarlyPackets};
pub use video::VideoParameters;
