//! All figures of one stream.

use crate::codec::Codec;
use crate::e_model::{Impairment, rating};
use crate::gaps::{Gaps, gaps};
use crate::jitter::{Jitter, jitter, mean_delay_variation};
use crate::loss::LossRuns;
use crate::packet::Packet;
use crate::playout::{Playout, best_fixed_buffer};
use netburn_units::Duration;

/// Quality of one stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StreamQuality {
    /// Packets sent, packets that never arrived, and their runs.
    pub loss: LossRuns,
    /// Jitter; `None` with fewer than two arrivals.
    pub jitter: Option<Jitter>,
    /// Best fixed buffer; `None` if no packet arrived.
    pub playout: Option<Playout>,
    /// Rating by flent's formula ([`flent_rating`]).
    pub flent_rating: Option<f64>,
    /// Gaps with that buffer.
    pub gaps: Gaps,
}

impl StreamQuality {
    /// Figures of `packets`, which are in sending order and carry `packetisation` of speech each.
    #[must_use]
    pub fn from_packets(packets: &[Packet], packetisation: Duration, codec: &Codec) -> Self {
        let playout = best_fixed_buffer(packets, codec.added_delay(packetisation), codec);
        StreamQuality {
            loss: LossRuns::from_sequence(packets.iter().map(|packet| packet.delay.is_none())),
            jitter: jitter(packets),
            playout,
            flent_rating: flent_rating(packets),
            gaps: gaps(packets, playout.map(|playout| playout.delay)),
        }
    }
}

/// Rating by the formula of flent (util.py): the E-model for G.711 without concealment, at the mean
/// one-way delay plus twice the mean |IPDV|, with the loss rate as random loss. It has no playout
/// buffer and no delay of a codec. `None` if no packet arrived.
#[must_use]
pub fn flent_rating(packets: &[Packet]) -> Option<f64> {
    let arrived: Vec<u64> = packets.iter().filter_map(|p| p.delay).map(Duration::as_nanos).collect();
    let count = std::num::NonZeroU128::new(arrived.len() as u128)?;
    let mean = arrived.iter().map(|nanos| u128::from(*nanos)).sum::<u128>() / count;
    let variation = 2e6 * mean_delay_variation(packets).unwrap_or(0.0);
    let delay = u64::try_from(mean).unwrap_or(u64::MAX).saturating_add(variation as u64);
    let loss = LossRuns::from_sequence(packets.iter().map(|packet| packet.delay.is_none()));
    Some(rating(
        &Impairment {
            delay: Duration::from_nanos(delay),
            loss: loss.share(),
            burst_ratio: 1.0,
        },
        &Codec::G711,
    ))
}
