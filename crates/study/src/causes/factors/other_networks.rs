//! Networks that are not modelled, by radio.

use super::Family;
use crate::causes::factor::{Class, Factor, Part, Rank};
use crate::causes::scene::Scene;
use netburn_analysis::explain::Kind;
use netburn_analysis::format::percent;
use netburn_scenario::plan::{RadioRef, RadioSetting, Setting};
use netburn_units::Probability;

pub(super) const FAMILY: Family = Family {
    without: "`channel_busy` of 0 % on one radio",
    find,
};

fn find(scene: &Scene<'_>) -> Vec<Factor> {
    let radios = scene.plan.aps.iter().flat_map(|ap| {
        ap.radios.iter().map(|radio| {
            let name = RadioRef {
                ap: ap.name.clone(),
                radio: radio.name,
            };
            (name, radio.channel_busy)
        })
    });
    radios.filter_map(|(radio, busy)| factor(scene, radio, busy)).collect()
}

fn factor(scene: &Scene<'_>, radio: RadioRef, busy: Probability) -> Option<Factor> {
    let changed = scene
        .plan
        .changes
        .iter()
        .flat_map(|change| &change.settings)
        .filter_map(|setting| match setting {
            Setting::Radio(of, RadioSetting::ChannelBusy(busy)) if *of == radio => Some(*busy),
            _ => None,
        });
    let most = changed.chain([busy]).max_by_key(|busy| busy.as_ppb())?;
    if most.as_ppb() == 0 {
        return None;
    }
    // Networks on a channel disturb all radios on it.
    let channel = scene.channel(&radio);
    let of: Vec<bool> = scene
        .joined
        .iter()
        .map(|joined| joined.as_ref().is_some_and(|own| scene.channel(own) == channel))
        .collect();
    let class = Class {
        kind: Kind::FullBand,
        rank: Rank::Place,
    };
    let (edited, name) = (radio.clone(), radio.to_string());
    let factor = Factor::builder(Part::Air, Kind::FullBand, Rank::Place)
        .class(move |station| of.get(station).copied().unwrap_or(false).then_some(class))
        .edit(move |plan| {
            for change in &mut plan.changes {
                change.settings.retain(
                    |setting| !matches!(setting, Setting::Radio(of, RadioSetting::ChannelBusy(_)) if *of == edited),
                );
            }
            let ap = plan.aps.iter_mut().find(|ap| ap.name == edited.ap);
            for radio in ap
                .into_iter()
                .flat_map(|ap| &mut ap.radios)
                .filter(|radio| radio.name == edited.radio)
            {
                radio.channel_busy = Probability::ZERO;
            }
        });
    Some(factor.words(
        {
            let name = name.clone();
            move |names| format!("Other networks use too much of the channel of {name} for {names}")
        },
        format!("without other networks on the channel of {name}"),
        format!(
            "Other networks use up to {} of the channel. Use another channel or band, or move the most demanding stations to another \
             radio.",
            percent(most.as_f64())
        ),
    ))
}
