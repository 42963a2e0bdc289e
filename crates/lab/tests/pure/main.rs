//! Tests of the switch and of frames, without clock and I/O.

mod corpus;
mod frames;
mod hops;
mod injected;
mod pacing;
mod sockets;
