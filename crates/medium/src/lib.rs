//! The air and the transmit queues.
