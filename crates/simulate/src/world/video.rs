//! Video calls: both ends, and their packets in the network.

use super::World;
use super::payload::{End, Payload};
use netburn_network::Endpoint as Place;
use netburn_units::{Instant, earlier};
use netburn_workload::kinds::video_call::video::{Feedback, MediaPacket, VideoConfig, VideoEnd, VideoTransmit};
use netburn_workload::{Config, Direction, RequestId};
use std::collections::BTreeMap;

/// Both ends of a video call.
#[derive(Debug)]
pub(super) struct VideoCall {
    /// The station's end and the server's.
    ends: [VideoEnd; 2],
    /// By sending end: feedbacks in the network, by their number, and the number of the next one.
    feedbacks: [BTreeMap<u32, Feedback>; 2],
    next: [u32; 2],
}

impl VideoCall {
    /// Call of a workload; `None` for other kinds.
    pub(super) fn new(config: &Config) -> Option<Self> {
        let call = config.video()?;
        let end = |direction| {
            Some(VideoEnd::new(VideoConfig {
                stream: call.streams.get(direction)?,
                adaptation: call.adaptation,
                timeout: config.timeout,
            }))
        };
        Some(VideoCall {
            ends: [end(Direction::Up)?, end(Direction::Down)?],
            feedbacks: Default::default(),
            next: [0; 2],
        })
    }

    /// Time of the next timeout of both ends.
    pub(super) fn next(&self) -> Option<Instant> {
        let [one, other] = [&self.ends[0], &self.ends[1]].map(|end| end.poll_timeout().map(|(at, _)| at));
        earlier(one, other)
    }
}

/// The end that sends in this direction.
fn sender(direction: Direction) -> End {
    match direction {
        Direction::Up => End::Client,
        Direction::Down => End::Server,
    }
}

impl World {
    /// Sends a frame of a video call.
    pub(super) fn send_frame(&mut self, client: usize, id: RequestId, direction: Direction) {
        let end = sender(direction);
        let number = u32::try_from(id.operation / 2).unwrap_or(u32::MAX);
        let now = self.now;
        if let Some(video) = &mut self.clients[client].video {
            video.ends[end.index()].send_frame(now, number);
            self.send_video(client, end);
        }
    }

    /// Handles the timeouts of a video call.
    pub(super) fn wake_video(&mut self, client: usize) {
        let now = self.now;
        for end in End::BOTH {
            if let Some(video) = &mut self.clients[client].video {
                video.ends[end.index()].handle_timeout(now);
                self.send_video(client, end);
            }
        }
    }

    /// A packet of a frame arrived at an end.
    pub(super) fn handle_media(&mut self, client: usize, to: End, packet: &MediaPacket) {
        let now = self.now;
        let direction = match to {
            End::Client => Direction::Down,
            End::Server => Direction::Up,
        };
        let of = &mut self.clients[client];
        let Some(video) = &mut of.video else { return };
        let end = &mut video.ends[to.index()];
        end.handle_media(now, packet);
        while let Some(frame) = end.poll_frame() {
            let id = RequestId {
                operation: direction.operation(frame.number.into()),
                object: 0,
            };
            let rows = &mut self.rows;
            of.recorded.handle_frame(now, id, direction, now, frame.size, rows);
        }
        self.send_video(client, to);
        self.take_actions(client);
    }

    /// A feedback arrived at an end. Earlier ones that did not arrive are deleted.
    pub(super) fn handle_feedback(&mut self, client: usize, to: End, number: u32) {
        let now = self.now;
        let from = to.other().index();
        let Some(video) = &mut self.clients[client].video else {
            return;
        };
        let later = video.feedbacks[from].split_off(&number.saturating_add(1));
        let until = std::mem::replace(&mut video.feedbacks[from], later);
        if let Some(feedback) = until.get(&number) {
            video.ends[to.index()].handle_feedback(now, feedback);
        }
        self.send_video(client, to);
        self.take_actions(client);
    }

    /// Sends the datagrams of an end.
    fn send_video(&mut self, client: usize, end: End) {
        let station = Place::Station(self.clients[client].recorded.station());
        let peer = self.clients[client].peer;
        let places = match end {
            End::Client => (station, peer),
            End::Server => (peer, station),
        };
        while let Some(video) = &mut self.clients[client].video
            && let Some(transmit) = video.ends[end.index()].poll_transmit()
        {
            let (client_number, to) = (client as u32, end.other());
            let (size, payload) = match transmit {
                VideoTransmit::Media(packet) => (
                    packet.size,
                    Payload::Media {
                        client: client_number,
                        to,
                        packet,
                    },
                ),
                VideoTransmit::Feedback(feedback) => {
                    let number = video.next[end.index()];
                    video.next[end.index()] = number.wrapping_add(1);
                    let size = feedback.size();
                    video.feedbacks[end.index()].insert(number, feedback);
                    let payload = Payload::Feedback {
                        client: client_number,
                        to,
                        number,
                    };
                    (size, payload)
                }
            };
            self.send_datagram(client, size, payload, places, None);
        }
    }
}
