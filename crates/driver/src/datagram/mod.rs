//! Client side of datagrams: probes and calls. The server is in `traffic`.
//!
//! - [`wire`] – encoding of datagrams.
//! - [`machine`] – the interface of the clients to their socket.
//! - [`prober`] – handshake and probes.
//! - [`call`] – streams in both directions.
//! - [`arrivals`] – the DSCP with which packets arrived at both ends.

pub mod arrivals;
pub mod call;
pub mod machine;
pub mod prober;
pub mod wire;

pub use arrivals::{Arrivals, DscpCounts};
pub use machine::DatagramMachine;
pub use prober::{Event, Prober, Wake};
pub use wire::{MAX_DSCP, MAX_SIZE, MIN_SIZE};

#[cfg(test)]
mod tests {
    /// Bytes of hexadecimal digits. Spaces separate the fields of a datagram.
    pub(super) fn hex(text: &str) -> Vec<u8> {
        let fields = text.split(' ').flat_map(|field| {
            let pairs = (0..field.len()).step_by(2).map(|at| &field[at..at + 2]);
            pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap())
        });
        fields.collect()
    }
}
