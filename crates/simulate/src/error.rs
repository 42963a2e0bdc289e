//! Why a plan can't be simulated.

use netburn_network::NetworkError;
use netburn_tcp::Unmodelled;

/// Why a plan can't be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// Its network can't be.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A congestion control that only a system has.
    #[error("{0}")]
    Congestion(Unmodelled),
}
