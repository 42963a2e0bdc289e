//! Bytes in, bytes out: split, joined, marked, refused.

mod beside;
mod corpus;
mod frames;
mod pace;
mod sockets;
