//! Server of calls. Its client, the encoding and the rules of both ends are in [`netburn_driver::datagram::call`].

pub mod server;

pub use netburn_driver::datagram::call::{
    CallClient, CallEvent, CallPlan, EarlyPackets, VideoParameters, VideoPlan, media, video, wire,
};
pub use server::{CallCounters, CallLimits, CallServer};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod video_tests;
