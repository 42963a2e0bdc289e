//! Meshes of access points.

use super::Names;
use super::air::{check_radio, to_u8};
use crate::decode::{Context, Section, Spanned};
use crate::plan::MeshSection;
use crate::plan::{Ap, Mesh, Plan, RadioRef};
use crate::suggest::list;
use netburn_medium::config::{LinkQuality, RadioConfig};

pub(super) fn mesh(
    name: &Spanned<String>,
    section: &Spanned<MeshSection>,
    plan: &Plan,
    names: &Names,
    cx: &mut Context,
) -> Mesh {
    let (aps, before) = (&plan.aps[..], &plan.meshes[..]);
    let mut mesh = Mesh::new(&name.value);
    section.apply(&mut mesh);
    mesh.quality = section.mcs.as_ref().map(|at| LinkQuality::Mcs(to_u8(at.0)));
    let found = cx.problems.len();
    if let Some(radios) = &section.radios {
        if radios.0.len() < 2 {
            let help = "name the radios of at least two access points: `[\"one.5g\", \"two.5g\"]`";
            cx.problem_at(radios, "a mesh needs two radios", help.to_owned());
        }
        for (index, at) in radios.0.iter().enumerate() {
            check_radio(at, &at.value, aps, names, cx);
            let others = radios.0[..index].iter().any(|other| other.value.ap == at.value.ap);
            if others {
                let message = format!("`{}` has two radios in this mesh", at.value.ap);
                cx.problem_at(at, message, "remove one".to_owned());
            }
            if let Some(mesh) = before
                .iter()
                .find(|mesh| mesh.radios.iter().any(|radio| radio.ap == at.value.ap))
            {
                let message = format!("`{}` is also in the mesh `{}`", at.value.ap, mesh.name);
                cx.problem_at(at, message, "remove one".to_owned());
            }
            let Some(ap) = aps.iter().find(|ap| ap.name == at.value.ap) else {
                continue;
            };
            if ap.backhaul.is_wireless() {
                let message = format!("`{}` has a wireless `backhaul`", ap.name);
                cx.problem_at(at, message, "remove it, or the radio".to_owned());
            }
            if mesh.quality.is_none() && ap.position.is_none() {
                let help = format!("add `position` to `[ap.{}]`, or `mcs` to the mesh", ap.name);
                cx.problem_at(at, "the signals of its links are unknown", help);
            }
        }
        if cx.problems.len() == found {
            check_channels(&radios.0, aps, cx);
        }
    }
    if let Some(root) = &section.root {
        mesh.root.clone_from(&root.0);
        if !mesh.radios.iter().any(|radio| radio.ap == root.0) && cx.problems.len() == found {
            let known = mesh.radios.iter().map(|radio| radio.ap.as_str());
            let message = format!("the root `{}` has no radio in this mesh", root.0);
            cx.problem_at(root, message, format!("expected one of {}", list(known)));
        }
    }
    if let (Some(radios), None, true) = (&section.radios, mesh.quality, cx.problems.len() == found) {
        super::reach::check_mesh(&radios.0, &mesh.root, aps, plan.building.as_ref(), cx);
    }
    mesh
}

/// Reports radios on different channels.
fn check_channels(radios: &[Spanned<RadioRef>], aps: &[Ap], cx: &mut Context) {
    let config = |radio: &RadioRef| -> Option<RadioConfig> {
        let ap = aps.iter().find(|ap| ap.name == radio.ap)?;
        // A rating that can't be decoded is reported elsewhere.
        let radios = ap.all_radios().ok()?;
        radios
            .into_iter()
            .find(|(name, _)| *name == radio.radio)
            .map(|(_, config)| config)
    };
    let Some(first) = radios.first().and_then(|at| config(&at.value)) else {
        return;
    };
    for at in &radios[1..] {
        let other = config(&at.value).filter(|other| (other.band, other.channel) != (first.band, first.channel));
        if other.is_some() {
            let message = format!("`{}` is not on the channel of `{}`", at.value, radios[0].value);
            let help = format!(
                "set `channel = {}` in `[ap.{}.radio.{}]`",
                first.channel, at.value.ap, at.value.radio
            );
            cx.problem_at(at, message, help);
        }
    }
}
