//! Meshes of 802.11s: their members, and the links between all that hear each other.

use super::units::{UnitLink, error_of, pair};
use super::{PlacedRadio, node};
use crate::error::NetworkError;
use netburn_medium::packet::NodeId;
use netburn_scenario::Plan;
use netburn_scenario::plan::{self, MeshRoot, MeshTimers};

/// Bytes of the mesh control field without proxied addresses (802.11-2020 clause 9.2.4.7.3).
pub(crate) const MESH_CONTROL: u32 = 6;

/// A mesh.
#[derive(Debug, Clone)]
pub(crate) struct MeshLayout {
    pub(crate) name: String,
    pub(crate) timers: MeshTimers,
    pub(crate) root_mode: MeshRoot,
    /// Place of the root among the members.
    pub(crate) root: usize,
    /// Index of each access point in the plan, and its radio.
    pub(crate) members: Vec<(usize, NodeId)>,
    /// Links: the places of two members, and the link.
    pub(crate) links: Vec<(usize, usize, UnitLink)>,
}

pub(super) fn meshes(plan: &Plan, radios: &[PlacedRadio]) -> Result<Vec<MeshLayout>, NetworkError> {
    plan.meshes.iter().map(|mesh| layout(plan, radios, mesh)).collect()
}

fn layout(plan: &Plan, radios: &[PlacedRadio], mesh: &plan::Mesh) -> Result<MeshLayout, NetworkError> {
    let error = |reason: String| NetworkError::Mesh {
        mesh: mesh.name.clone(),
        reason,
    };
    let mut members = Vec::new();
    for name in &mesh.radios {
        let place = radios.iter().position(|radio| radio.name == *name);
        let place = place.ok_or_else(|| error(format!("unknown radio `{name}`")))?;
        members.push((radios[place].ap, node(place)));
    }
    let root = members.iter().position(|(ap, _)| plan.aps[*ap].name == mesh.root);
    let root = root.ok_or_else(|| error(format!("the root `{}` is not one of its access points", mesh.root)))?;
    let mut links = Vec::new();
    for one in 0..members.len() {
        for other in 0..one {
            let (own, parent) = (members[one].1.index(), members[other].1.index());
            // A pair that is too far apart has no link.
            let link = pair(plan, radios, own, parent, mesh.quality)?;
            if link.is_usable() {
                links.push((one, other, link));
            }
        }
    }
    let mut reached = vec![root];
    let mut next = 0;
    while let Some(at) = reached.get(next).copied() {
        next += 1;
        for (one, other, _) in &links {
            for (from, to) in [(*one, *other), (*other, *one)] {
                if from == at && !reached.contains(&to) {
                    reached.push(to);
                }
            }
        }
    }
    if let Some(lost) = (0..members.len()).find(|place| !reached.contains(place)) {
        let ap = &plan.aps[members[lost].0];
        let reason = format!(
            "`{}` can't be reached from the root: all signals are too weak; place it nearer",
            ap.name
        );
        return Err(error(reason));
    }
    let overlap = |ap: usize| plan.aps[ap].backhaul.is_wireless();
    if let Some((ap, _)) = members.iter().find(|(ap, _)| overlap(*ap)) {
        let reason = "a member of a mesh has no other wireless backhaul; remove one of them";
        return Err(error_of(&plan.aps[*ap], reason));
    }
    Ok(MeshLayout {
        name: mesh.name.clone(),
        timers: mesh.timers,
        root_mode: mesh.root_mode,
        root,
        members,
        links,
    })
}
