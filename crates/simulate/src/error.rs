//! Errors of a simulation.

use netburn_network::NetworkError;
use netburn_tcp::UnsupportedCongestionControl;

/// Reason why a plan can't be simulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulateError {
    /// The network is invalid.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A congestion control without a model.
    #[error("{0}")]
    Congestion(UnsupportedCongestionControl),
}
