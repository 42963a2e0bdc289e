//! The home of a run as nested boxes: devices, and the stations that joined them with their verdicts.

use super::{badge, cell_text, escaped};
use crate::table::Badge;
use netburn_analysis::format::mbps;
use netburn_analysis::view::{HomeView, View};
use netburn_scenario::HomeNode;
use std::fmt::Write as _;

/// Maximum depth of the boxes: each takes some of the width of a phone.
const MAX_DEPTH: usize = 12;

/// The home with its stations; empty if it is unknown.
pub(super) fn home(view: &View) -> String {
    let Some(home) = &view.home else {
        return String::new();
    };
    let mut out = String::from("<ul class=\"house\">\n");
    node(&mut out, view, home, &home.root, 0);
    out.push_str("</ul>\n<p class=\"note\">Each device is inside the one through which it reaches the server. ");
    out.push_str("Signals are those at the start of a modelled run, and the weakest ones of real devices.</p>\n");
    out
}

fn node(out: &mut String, view: &View, home: &HomeView, of: &HomeNode, depth: usize) {
    let _ = writeln!(
        out,
        "<li><span class=\"device\">{}</span>",
        cell_text(&capital(&of.text))
    );
    let below = if depth < MAX_DEPTH { of.below.as_slice() } else { &[] };
    if !of.stations.is_empty() || !below.is_empty() {
        out.push_str("<ul>\n");
        for station in &of.stations {
            out.push_str(&self::station(view, home, *station));
        }
        for one in below {
            node(out, view, home, one, depth + 1);
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</li>\n");
}

/// A station: verdict, uses, signal, roams.
fn station(view: &View, home: &HomeView, number: usize) -> String {
    let Some(of) = view.summary.stations.get(number) else {
        return String::new();
    };
    let uses: Vec<&str> = of.workloads.iter().map(|workload| workload.name.as_str()).collect();
    let mut facts = vec![uses.join(", "), format!("{} Mbit/s", mbps(of.throughput_mbps))];
    if let Some(signal) = home.signals_dbm.get(number).copied().flatten() {
        facts.push(format!("signal {signal:.0} dBm"));
    }
    match home.roams.get(number) {
        None | Some(0) => {}
        Some(1) => facts.push("1 roam".to_owned()),
        Some(roams) => facts.push(format!("{roams} roams")),
    }
    format!(
        "<li class=\"station\"><strong>{}</strong> {} <span class=\"quiet\">{}</span></li>\n",
        escaped(&of.name),
        badge(&Badge::of_verdict(of.verdict, of.provisional)),
        cell_text(&facts.join(", "))
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
