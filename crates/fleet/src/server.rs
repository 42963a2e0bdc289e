//! The server of one run, as a participant.

use crate::join::Join;
use crate::local::FleetError;
use crate::transport::Channel;

/// The server's whole part, over a channel to the controller.
///
/// # Errors
/// When it is refused, can't serve, or loses the controller.
pub async fn run(channel: Channel, join: &Join) -> Result<(), FleetError> {
    let _ = (channel, join);
    todo!()
}
