//! Bodies of the frames on the air: packets of endpoints, and the frames of each feature.

use crate::broadcast::BroadcastFrame;
use crate::mesh::MeshFrame;
use crate::multicast::MulticastFrame;
use crate::output::{Envelope, NetPacket};
use crate::power_save::PowerSaveFrame;
use crate::roaming::ClientFrame;
use netburn_medium::packet::Packet;

/// Body of a frame on the air.
#[derive(Debug)]
pub(crate) enum FrameBody<P> {
    /// A packet from one endpoint to another.
    Data(Envelope<P>),
    /// A frame that stays inside the network.
    Feature(FeatureFrame),
}

/// A frame of a feature.
#[derive(Debug)]
pub(crate) enum FeatureFrame {
    PowerSave(PowerSaveFrame),
    Client(ClientFrame),
    Mesh(MeshFrame),
    Broadcast(BroadcastFrame),
    Multicast(MulticastFrame),
}

impl<P> FrameBody<P> {
    /// The packet of an endpoint that a frame carries, or the frame of a feature.
    #[inline]
    pub(crate) fn open(frame: Packet<Self>) -> Result<NetPacket<P>, FeatureFrame> {
        match frame.payload {
            FrameBody::Data(payload) => Ok(Packet {
                length: frame.length,
                flow: frame.flow,
                tid: frame.tid,
                ecn: frame.ecn,
                payload,
            }),
            FrameBody::Feature(frame) => Err(frame),
        }
    }
}

impl<P> From<PowerSaveFrame> for FrameBody<P> {
    fn from(frame: PowerSaveFrame) -> Self {
        FrameBody::Feature(FeatureFrame::PowerSave(frame))
    }
}

impl<P> From<ClientFrame> for FrameBody<P> {
    fn from(frame: ClientFrame) -> Self {
        FrameBody::Feature(FeatureFrame::Client(frame))
    }
}

impl<P> From<MeshFrame> for FrameBody<P> {
    fn from(frame: MeshFrame) -> Self {
        FrameBody::Feature(FeatureFrame::Mesh(frame))
    }
}

impl<P> From<BroadcastFrame> for FrameBody<P> {
    fn from(frame: BroadcastFrame) -> Self {
        FrameBody::Feature(FeatureFrame::Broadcast(frame))
    }
}

impl<P> From<MulticastFrame> for FrameBody<P> {
    fn from(frame: MulticastFrame) -> Self {
        FrameBody::Feature(FeatureFrame::Multicast(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every queue on the air holds frames. An [`Envelope`] has 16 bytes beside the payload.
    #[test]
    fn a_frame_is_not_larger_than_a_packet() {
        assert_eq!(size_of::<Envelope<u32>>(), 20);
        assert_eq!(size_of::<FrameBody<u32>>(), 20);
    }
}
