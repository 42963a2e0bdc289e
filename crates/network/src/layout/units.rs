//! Access points with a wireless backhaul: their links, and the tree that they form.

use super::link::{Control, Link};
use super::placement::hundredths;
use super::{PlacedRadio, node};
use crate::error::NetworkError;
use netburn_medium::air::LinkConfig;
use netburn_medium::config::{LinkQuality, RateControl};
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Ap, RadioRef};
use netburn_units::Dbm;

/// Bytes of the fourth address in frames between access points (802.11-2020 clause 9.3.2.1).
pub(crate) const FOURTH_ADDRESS: u32 = 6;

/// Link of an access point with a radio of its parent.
#[derive(Debug, Clone)]
pub(crate) struct UnitLink {
    /// Index of the access point in the plan.
    pub(crate) ap: usize,
    /// Its radio.
    pub(crate) own: NodeId,
    /// Radio of the parent.
    pub(crate) parent: NodeId,
    /// Index of the parent in the plan.
    pub(crate) parent_ap: usize,
    /// Quality from the parent to the access point.
    quality: LinkQuality,
    /// Signal at the parent; `None`: the same.
    signal_up: Option<Dbm>,
    /// Path loss in dB, if the signal follows from positions.
    loss_db: Option<f64>,
    control: Control,
    link: Link,
}

/// Links of all access points with a wireless backhaul, in the order of the plan. `selected` has the
/// [parents](super::parents) of those that select one.
pub(super) fn links(
    plan: &Plan,
    radios: &[PlacedRadio],
    selected: &[Option<RadioRef>],
) -> Result<Vec<UnitLink>, NetworkError> {
    let mut links = Vec::new();
    for ((ap, config), selected) in plan.aps.iter().enumerate().zip(selected) {
        if let Some(parent) = config.backhaul.parent().or(selected.as_ref()) {
            links.push(unit_link(plan, radios, (ap, config), parent)?);
        }
    }
    for link in &links {
        // The chain of parents has at most as many links as there are access points.
        let mut at = link;
        for _ in 0..links.len() {
            let Some(next) = links.iter().find(|next| next.ap == at.parent_ap) else {
                break;
            };
            if next.ap == link.ap {
                return Err(error(
                    &plan.aps[link.ap],
                    "the parents form a loop; one of them must be `\"wired\"`",
                ));
            }
            at = next;
        }
    }
    Ok(links)
}

fn unit_link(
    plan: &Plan,
    radios: &[PlacedRadio],
    (ap, config): (usize, &Ap),
    parent: &RadioRef,
) -> Result<UnitLink, NetworkError> {
    let parent = radios
        .iter()
        .position(|radio| radio.name == *parent)
        .ok_or_else(|| error(config, &format!("unknown radio `{parent}`")))?;
    let theirs = &radios[parent];
    let own = radios.iter().position(|radio| {
        let same = (radio.config.band, radio.config.channel) == (theirs.config.band, theirs.config.channel);
        radio.ap == ap && same
    });
    let own = own.ok_or_else(|| {
        let (band, channel) = (theirs.config.band.name(), theirs.config.channel);
        let reason = format!(
            "no own radio on channel {channel} of `{}`; add a {band} radio with `channel = {channel}`",
            theirs.name
        );
        error(config, &reason)
    })?;
    let unit = pair(plan, radios, own, parent, config.backhaul_quality)?;
    let checked = unit.link.check_signal(&unit.quality, unit.signal_up);
    checked.map_err(|reason| error(config, &reason))?;
    Ok(unit)
}

/// Link between two radios of the same channel. Without a quality the signal follows from the
/// positions.
pub(super) fn pair(
    plan: &Plan,
    radios: &[PlacedRadio],
    own: usize,
    parent: usize,
    quality: Option<LinkQuality>,
) -> Result<UnitLink, NetworkError> {
    let (mine, theirs) = (&radios[own], &radios[parent]);
    let config = &plan.aps[mine.ap];
    let link = Link::between_radios(mine, theirs).ok_or_else(|| {
        let reason = format!("`{}` and `{}` have no standard in common", mine.name, theirs.name);
        error(config, &reason)
    })?;
    let mut unit = UnitLink {
        ap: mine.ap,
        own: node(own),
        parent: node(parent),
        parent_ap: theirs.ap,
        quality: LinkQuality::Mcs(0),
        signal_up: None,
        loss_db: None,
        control: Control::By(RateControl::default()),
        link,
    };
    match quality {
        Some(quality) => unit.quality = quality,
        None => {
            let places = config.position.zip(plan.aps[theirs.ap].position);
            let Some((here, there)) = places else {
                let reason =
                    "missing signal; expected `backhaul_signal = \"-55 dBm\"`, or a `position` of both access points";
                return Err(error(config, reason));
            };
            let building = plan.building.clone().unwrap_or_default();
            unit.loss_db = Some(building.model.loss_db(theirs.config.band, there, here));
            unit.set_powers(&theirs.config, &mine.config);
        }
    }
    Ok(unit)
}

pub(super) fn error_of(ap: &Ap, reason: &str) -> NetworkError {
    error(ap, reason)
}

fn error(ap: &Ap, reason: &str) -> NetworkError {
    NetworkError::Backhaul {
        ap: ap.name.clone(),
        reason: reason.to_owned(),
    }
}

impl UnitLink {
    /// Updates the signals after a change of a transmit power.
    pub(crate) fn set_powers(
        &mut self,
        parent: &netburn_medium::config::RadioConfig,
        own: &netburn_medium::config::RadioConfig,
    ) {
        self.link.set_power(parent.power);
        if let Some(loss) = self.loss_db {
            self.quality = LinkQuality::Signal(hundredths(parent.power.as_dbm_f64() - loss));
            self.signal_up = Some(hundredths(own.power.as_dbm_f64() - loss));
        }
    }

    /// True if the signal permits the slowest rate in both directions.
    pub(crate) fn is_usable(&self) -> bool {
        self.link.check_signal(&self.quality, self.signal_up).is_ok()
    }

    /// Expected throughput to the access point, in bit/s.
    pub(crate) fn expected_bps(&self) -> f64 {
        self.link.expected_bps(&self.quality)
    }

    /// Signal at the access point, and at its parent; `None`: nothing is lost to noise.
    pub(crate) fn signals(&self) -> (Option<Dbm>, Option<Dbm>) {
        let down = self.link.signal(&self.quality);
        (down, down.and(self.signal_up).or(down))
    }

    /// SNR at the access point, and at its parent.
    pub(crate) fn snrs(&self) -> (Option<f64>, Option<f64>) {
        (
            self.link.snr_down(&self.quality),
            self.link.snr_up(&self.quality, self.signal_up),
        )
    }

    /// Link from the parent.
    pub(super) fn down(&self) -> LinkConfig {
        self.link
            .directed(self.own.index(), &self.quality, self.control, self.snrs().0)
    }

    /// Link to the parent.
    pub(super) fn up(&self) -> LinkConfig {
        self.link
            .directed(self.parent.index(), &self.quality, self.control, self.snrs().1)
    }
}
