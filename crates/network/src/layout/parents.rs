//! Selection of the parent by access points with a wireless backhaul that name only their own radio.
//!
//! The parent is the access point over which a bit needs the shortest airtime up to the wire: the sum of
//! 1/rate over the hops (the airtime metric of 802.11-2020 §14.9 without its constant overhead). This is
//! exact for hops on one channel, which share its airtime. Of two equal paths, the one with fewer hops is
//! selected, then the access point that the scenario names first.

use super::PlacedRadio;
use super::units::{self, error_of};
use crate::error::NetworkError;
use netburn_scenario::Plan;
use netburn_scenario::plan::{Backhaul, RadioRef};

/// Airtime of a bit up to the wire, in seconds, and the number of wireless hops.
type Cost = (f64, usize);

/// Radio of the selected parent of each access point of the plan; `None`: it does not select one.
pub(super) fn select(plan: &Plan, radios: &[PlacedRadio]) -> Result<Vec<Option<RadioRef>>, NetworkError> {
    let mut selected = vec![None; plan.aps.len()];
    let selects = |ap: usize| matches!(plan.aps[ap].backhaul, Backhaul::Best(_));
    if !(0..plan.aps.len()).any(selects) {
        return Ok(selected);
    }
    let hops = hops(plan, radios)?;
    let mut cost: Vec<Option<Cost>> = plan
        .aps
        .iter()
        .map(|ap| (!ap.backhaul.is_wireless()).then_some((0.0, 0)))
        .collect();
    // Each round settles the access point with the least cost (Dijkstra). Costs are finite and positive.
    let mut settled = vec![false; plan.aps.len()];
    loop {
        let open = (0..plan.aps.len()).filter(|ap| !settled[*ap]);
        let next = open
            .filter_map(|ap| Some((cost[ap]?, ap)))
            .min_by(|(one, _), (other, _)| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        let Some(((airtime, count), at)) = next else { break };
        settled[at] = true;
        for hop in hops.iter().filter(|hop| hop.parent == at) {
            let through = (airtime + 1.0 / hop.bps, count + 1);
            let better = cost[hop.child].is_none_or(|known| through < known);
            if better && !settled[hop.child] {
                cost[hop.child] = Some(through);
                selected[hop.child] = selects(hop.child).then(|| hop.radio.clone());
            }
        }
    }
    if let Some(lost) = (0..plan.aps.len()).find(|ap| selects(*ap) && selected[*ap].is_none()) {
        let reason = "no access point with a path to the server can be reached: all signals are too weak; place it nearer, or use `\"wired\"`";
        return Err(error_of(&plan.aps[lost], reason));
    }
    Ok(selected)
}

/// A possible hop.
struct Hop {
    child: usize,
    parent: usize,
    radio: RadioRef,
    bps: f64,
}

/// All hops that the signals permit.
fn hops(plan: &Plan, radios: &[PlacedRadio]) -> Result<Vec<Hop>, NetworkError> {
    let mut hops = Vec::new();
    for (child, config) in plan.aps.iter().enumerate() {
        for (index, theirs) in radios.iter().enumerate().filter(|(_, radio)| radio.ap != child) {
            let own = match &config.backhaul {
                Backhaul::Wired | Backhaul::Port(_) => continue,
                Backhaul::Radio(parent) if *parent != theirs.name => continue,
                Backhaul::Best(own) if *own != theirs.name.radio => continue,
                Backhaul::Radio(_) => None,
                Backhaul::Best(own) => Some(*own),
            };
            let own = radios.iter().position(|radio| {
                let same = (radio.config.band, radio.config.channel) == (theirs.config.band, theirs.config.channel);
                radio.ap == child && same && own.is_none_or(|own| own == radio.name.radio)
            });
            // Radios on different channels have no link.
            let Some(own) = own else { continue };
            let link = units::pair(plan, radios, own, index, config.backhaul_quality)?;
            let bps = link.expected_bps();
            if link.is_usable() && bps > 0.0 {
                hops.push(Hop {
                    child,
                    parent: theirs.ap,
                    radio: theirs.name.clone(),
                    bps,
                });
            }
        }
    }
    Ok(hops)
}

#[cfg(test)]
mod tests {
    use crate::layout::Layout;
    use netburn_scenario::Document;

    /// Parents of the units of a kit by name, each after its unit.
    fn parents(units: &str, walls: &str, set: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        let text = format!(
            "[building]\nwalls = [{walls}]\n[kit.home]\nunits = {{ {units} }}\n[kit.home.ap.radio.5g]\n\
             [station.s]\njoins = \"home\"\nposition = \"0 m, 1 m\"\n"
        );
        let mut document = Document::from_toml("kit.toml", &text).unwrap();
        for (key, value) in set {
            document.set(key, value).unwrap();
        }
        let plan = document.resolve().unwrap();
        let layout = Layout::from_plan(&plan).map_err(|error| error.to_string())?;
        let name = |ap: usize| plan.aps[ap].name.clone();
        let units = layout.units.iter();
        Ok(units.map(|unit| (name(unit.ap), name(unit.parent_ap))).collect())
    }

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter()
            .map(|(unit, parent)| ((*unit).to_owned(), (*parent).to_owned()))
            .collect()
    }

    /// TGax residential at 5.18 GHz, 20 dBm: 10 m and no wall have 71.2 dB, so −51.2 dBm, the best rate (64 is enough for MCS 9
    /// at 80 MHz). 20 m have 81.7 dB (−61.7 dBm). The two hops of 10 m together need twice the airtime of the best rate.
    #[test]
    fn a_strong_direct_link_is_better_than_two_hops() {
        let units = "main = \"0 m, 0 m\", near = \"4 m, 0 m\", far = \"8 m, 0 m\"";
        let direct = pairs(&[("near", "main"), ("far", "main")]);
        assert_eq!(parents(units, "", &[]), Ok(direct));
    }

    /// Six walls of 5 dB on the direct way leave the lowest rates or none. Around them, over the third unit, is no wall.
    #[test]
    fn a_unit_behind_walls_uses_the_unit_between() {
        let units = "main = \"0 m, 0 m\", far = \"16 m, 0 m\", near = \"8 m, 9 m\"";
        let wall = |x: &str| format!("\"{x} m, -5 m to {x} m, 2 m\"");
        let walls: Vec<String> = ["5", "6", "7", "8", "9", "10"].iter().map(|x| wall(x)).collect();
        let around = pairs(&[("far", "near"), ("near", "main")]);
        assert_eq!(parents(units, &walls.join(", "), &[]), Ok(around));
        // A wire at the far unit: the near one selects the shorter hop, and both have 12.04 m. The first one wins.
        let wired = pairs(&[("near", "main")]);
        assert_eq!(
            parents(units, &walls.join(", "), &[("ap.far.backhaul", "wired")]),
            Ok(wired)
        );
    }

    #[test]
    fn a_unit_that_no_other_hears_is_an_error() {
        let units = "main = \"0 m, 0 m\", far = \"2000 m, 0 m\"";
        let error = parents(units, "", &[]).unwrap_err();
        let expected = "ap.far.backhaul: no access point with a path to the server can be reached: all signals are too weak; place it nearer, or use `\"wired\"`";
        assert_eq!(error, expected);
    }

    /// Without radios in common, `dedicated` uses the second radio.
    #[test]
    fn a_dedicated_backhaul_uses_the_radio_without_stations() {
        let text = "[kit.home]\nunits = { main = \"0 m, 0 m\", far = \"8 m, 0 m\" }\nbackhaul = \"dedicated\"\n\
                    [kit.home.ap.radio.5g]\n[kit.home.ap.radio.5g-2]\nchannel = 149\n\
                    [station.s]\njoins = \"home\"\nposition = \"0 m, 1 m\"\n";
        let plan = Document::from_toml("kit.toml", text).unwrap().resolve().unwrap();
        let network: Vec<String> = plan.networks[0].radios.iter().map(ToString::to_string).collect();
        assert_eq!(network, ["main.5g", "far.5g"]);
        let layout = Layout::from_plan(&plan).unwrap();
        let radios = [layout.units[0].own, layout.units[0].parent];
        let names = radios.map(|node| layout.radios[node.index()].name.to_string());
        assert_eq!(names, ["far.5g-2", "main.5g-2"]);
    }
}
