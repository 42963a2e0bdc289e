//! Quality of a stream of packets, as a user perceives it: of voice as a listener, of updates and frames as a player. Also
//! grades of a path.
//!
//! - [`packet`] – one packet of a stream: its due time and its one-way delay.
//! - [`codec`] – codecs by name, with their sensitivity to loss and their own delay.
//! - [`e_model`] – the rating R of ITU-T G.107 from delay and loss, and MOS from R.
//! - [`loss`] – runs of lost packets and the burst ratio.
//! - [`mod@jitter`] – jitter of RFC 3550, and the delay variation between neighbours.
//! - [`playout`] – the fixed playout buffer that gives the highest R.
//! - [`mod@gaps`] – parts of a stream in which too many packets are late or lost.
//! - [`mod@silences`] – times without an arrival.
//! - [`mod@freezes`] – freezes of a video.
//! - [`mod@bursts`] – frames of packets, and round trips of inputs and their answers.
//! - [`stream`] – all of this for one stream, beside flent's MOS.
//! - [`grade`] – bufferbloat letters, Quality of Outcome and Cloudflare's classes, with their scales.
//!
//! Pure: no clock, no platform float functions. The same input yields the same result on every
//! platform.

#![deny(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a pure crate: clippy.toml lists what it may not use"
)]

pub mod bursts;
pub mod codec;
pub mod e_model;
pub mod freezes;
pub mod gaps;
pub mod grade;
pub mod jitter;
pub mod loss;
pub mod packet;
pub mod playout;
pub mod silences;
pub mod stream;

pub use bursts::{Burst, Frames, bursts, round_trips};
pub use codec::Codec;
pub use e_model::{Impairment, mos, rating};
pub use freezes::{Freezes, freezes};
pub use gaps::{GAP_WINDOW, Gaps, gaps};
pub use jitter::{Jitter, jitter, mean_delay_variation};
pub use loss::LossRuns;
pub use packet::Packet;
pub use playout::{Playout, best_fixed_buffer};
pub use silences::{Silences, silences};
pub use stream::{StreamQuality, flent_rating};
