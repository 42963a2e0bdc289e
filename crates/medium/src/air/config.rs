//! How an [`Air`](super::Air) is laid out.

use crate::aggregation::{Framing, Limits};
use crate::config::{AdapterRate, HardwareQueue};
use crate::edca::{EdcaParameters, Timing};
use crate::phy::{Modulation, TxVector};
use crate::rate::RateChoice;
use netburn_units::{Duration, Seed};
use std::collections::BTreeSet;

/// The channels and who is on them.
#[derive(Debug, Clone)]
pub struct AirConfig {
    /// The channels. Transmissions on different ones don't meet.
    pub channels: Vec<ChannelConfig>,
    /// The stations and access point radios; a [`NodeId`](crate::packet::NodeId) is a place in this list.
    pub nodes: Vec<NodeConfig>,
    /// Pairs of nodes of one channel that can't hear each other.
    pub hidden: Vec<(usize, usize)>,
    /// What all chance comes from.
    pub seed: Seed,
}

impl AirConfig {
    /// The most ways of hearing on one channel.
    pub const MOST_WAYS_OF_HEARING: usize = 64;

    /// The ways of hearing on a channel: nodes that hear the same others, themselves included, sense the medium alike. For each way the nodes that
    /// are heard, and for each node its way; nodes of other channels have none.
    #[must_use]
    pub fn ways_of_hearing(&self, channel: usize) -> (Vec<Vec<usize>>, Vec<Option<usize>>) {
        let members: Vec<usize> = (0..self.nodes.len())
            .filter(|node| self.nodes[*node].channel == channel)
            .collect();
        let deaf: BTreeSet<(usize, usize)> = self.hidden.iter().flat_map(|(a, b)| [(*a, *b), (*b, *a)]).collect();
        let mut ways: Vec<Vec<usize>> = Vec::new();
        let mut way_of = vec![None; self.nodes.len()];
        for node in &members {
            let heard: Vec<usize> = members
                .iter()
                .copied()
                .filter(|other| !deaf.contains(&(*node, *other)))
                .collect();
            way_of[*node] = Some(ways.iter().position(|way| *way == heard).unwrap_or_else(|| {
                ways.push(heard);
                ways.len() - 1
            }));
        }
        (ways, way_of)
    }
}

/// One channel.
#[derive(Debug, Clone)]
pub struct ChannelConfig {
    /// Its interframe spaces.
    pub timing: Timing,
    /// What EIFS is reckoned with: the lowest basic rate. `None`: broken frames cost no more than others.
    pub eifs: Option<Modulation>,
    /// Share of the air that others take, 0 to 0.95.
    pub busy: f64,
    /// Whether those whose frame goes unanswered know it at its end and wait from there like everybody else, for EIFS where that is: what models
    /// of saturation assume. By the standard they wait for the end of their ACK time-out and AIFS.
    pub failures_known_at_once: bool,
}

/// A station or an access point's radio.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    /// Its channel's place in the list.
    pub channel: usize,
    /// Its EDCA parameters by category.
    pub edca: [EdcaParameters; 4],
    /// What its hardware holds.
    pub hardware: HardwareQueue,
    /// PSDUs of this many bytes and more are preceded by RTS and CTS.
    pub rts_threshold: Option<u64>,
    /// RTS and CTS rate.
    pub rts_rate: Modulation,
    /// Frame headers.
    pub framing: Framing,
    /// What its adapter can move, whatever the air permits.
    pub limit: AdapterRate,
    /// Where it can send to.
    pub links: Vec<LinkConfig>,
}

/// A link from one node to another.
#[derive(Debug, Clone)]
pub struct LinkConfig {
    /// The receiver's place in the list.
    pub to: usize,
    /// How it sends, or, where the rate is chosen, the fastest that both sides have.
    pub vector: TxVector,
    /// How its rate is chosen.
    pub rate: RateChoice,
    /// The signal at the receiver over the noise in the width of `vector`, in decibels, where the power is shared by as many streams as
    /// `vector` has; `None`: nothing is lost to noise.
    pub snr_db: Option<f64>,
    /// What its aggregates may hold.
    pub limits: Limits,
}

impl ChannelConfig {
    /// A channel in 5 or 6 GHz, with EIFS, of which others take nothing.
    #[must_use]
    pub fn ofdm() -> Self {
        ChannelConfig {
            timing: Timing::OFDM,
            eifs: Some(Modulation::Ofdm(crate::phy::ofdm::Rate::M6)),
            busy: 0.0,
            failures_known_at_once: false,
        }
    }
}

/// How long others' transmissions last on a channel of which they take a share.
pub(super) const OTHERS_FRAME: Duration = Duration::from_micros(1_500);
