//! Configuration of an [`Air`](super::Air).

use crate::aggregation::{Framing, Limits};
use crate::config::{AdapterRate, Band, Composition, HardwareQueue, Standard};
use crate::edca::{EdcaParameters, Timing};
use crate::phy::{Modulation, TxVector, dsss, ofdm, response};
use crate::rate::RateChoice;
use netburn_units::{Duration, Seed};
use std::collections::BTreeSet;

/// Channels and nodes.
#[derive(Debug, Clone)]
pub struct AirConfig {
    /// Channels. Transmissions on different channels don't interfere.
    pub channels: Vec<ChannelConfig>,
    /// Stations and access point radios; a [`NodeId`](crate::packet::NodeId) is an index of this
    /// list.
    pub nodes: Vec<NodeConfig>,
    /// Pairs of nodes of one channel that can't hear each other.
    pub hidden: Vec<(usize, usize)>,
    /// Seed of all random numbers.
    pub seed: Seed,
}

impl AirConfig {
    /// Maximum number of hearing groups on one channel.
    pub const MAX_HEARING_GROUPS: usize = 64;

    /// Hearing groups of a channel: nodes that hear the same nodes, including themselves, sense the
    /// medium alike. Returns the nodes heard by each group, and the group of each node; nodes of
    /// other channels have none.
    #[must_use]
    pub fn hearing_groups(&self, channel: usize) -> (Vec<Vec<usize>>, Vec<Option<usize>>) {
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
    /// Interframe spaces.
    pub timing: Timing,
    /// Modulation of the ACK for EIFS: the lowest basic rate. `None`: no EIFS after undecodable
    /// frames.
    pub eifs: Option<Modulation>,
    /// Share of the airtime that other networks use, 0 to 0.95.
    pub busy: f64,
    /// True if senders without a response know it at the end of their frame. From there they wait
    /// like all others, for EIFS if it applies. Models of saturation assume this. By the standard
    /// they wait for the end of their ACK timeout and AIFS.
    pub failures_known_at_once: bool,
    /// True if a node uses 802.11b, which can't decode OFDM (Use_Protection in the ERP element, clause 9.4.2.11). The others
    /// then precede their OFDM frames by a CTS-to-self, and send RTS and CTS, with DSSS (clause 10.27.2).
    pub protection: bool,
}

/// A station or an access point's radio.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    /// Index of its channel.
    pub channel: usize,
    /// EDCA parameters by category.
    pub edca: [EdcaParameters; 4],
    /// Limit of its hardware queue.
    pub hardware: HardwareQueue,
    /// When its aggregates are composed.
    pub composition: Composition,
    /// PSDUs of at least this many bytes are preceded by RTS and CTS.
    pub rts_threshold: Option<u64>,
    /// Rate of RTS and CTS.
    pub rts_rate: Modulation,
    /// Frame headers.
    pub framing: Framing,
    /// Throughput limits of its adapter.
    pub limit: AdapterRate,
    /// Links to other nodes.
    pub links: Vec<LinkConfig>,
}

/// A link from one node to another.
#[derive(Debug, Clone)]
pub struct LinkConfig {
    /// Index of the receiver.
    pub to: usize,
    /// Vector of its PPDUs; with rate control, the fastest vector that both ends have.
    pub vector: TxVector,
    /// Rate control.
    pub rate: RateChoice,
    /// SNR at the receiver in dB, for the width of `vector` and with the power shared by its
    /// streams; `None`: no losses due to noise.
    pub snr_db: Option<f64>,
    /// Limits of its aggregates.
    pub limits: Limits,
}

impl NodeConfig {
    /// A node of a channel with the usual EDCA parameters, RTS rate and CCMP, without RTS threshold and throughput limits. RTS
    /// and CTS use a basic rate that all nodes of the standard support.
    #[must_use]
    pub fn for_standard(channel: usize, standard: Standard, links: Vec<LinkConfig>) -> Self {
        NodeConfig {
            channel,
            edca: EdcaParameters::default_set(standard.cw_min()),
            hardware: HardwareQueue::default(),
            composition: Composition::default(),
            rts_threshold: None,
            rts_rate: match standard {
                Standard::B => Modulation::Dsss(dsss::Rate::M2),
                _ => Modulation::Ofdm(ofdm::Rate::M24),
            },
            framing: Framing::CCMP,
            limit: AdapterRate::default(),
            links,
        }
    }
}

impl ChannelConfig {
    /// A channel in 5 or 6 GHz, with EIFS and without other networks.
    #[must_use]
    pub fn ofdm() -> Self {
        ChannelConfig::for_band(Band::Ghz5, false)
    }

    /// A channel of a band, with EIFS and without other networks. `dsss`: a node uses 802.11b.
    #[must_use]
    pub fn for_band(band: Band, dsss: bool) -> Self {
        ChannelConfig {
            timing: match band {
                Band::Ghz2_4 if dsss => Timing::DSSS,
                Band::Ghz2_4 => Timing::OFDM_2G,
                _ => Timing::OFDM,
            },
            eifs: Some(response::lowest(dsss)),
            busy: 0.0,
            failures_known_at_once: false,
            protection: band == Band::Ghz2_4 && dsss,
        }
    }
}

/// Duration of a transmission of other networks.
pub(super) const OBSS_FRAME: Duration = Duration::from_micros(1_500);
