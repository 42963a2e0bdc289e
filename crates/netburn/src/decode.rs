//! `netburn decode`: the radios behind a speed rating, and the goodput of a client.

use crate::args::{DecodeArgs, Format};
use crate::exit::{CliError, ExitStatus};
use crate::terminal::{TerminalStyle, document, print_stdout};
use netburn_medium::config::{Band, Rating};
use netburn_medium::rating::{Certainty, Chain, Decoded, Layout, RatedRadio, TwoHops, chain, decode as read};
use netburn_report::decode::{json, relayed};
use netburn_report::sanitise::{sanitise, wrap};
use netburn_units::BitRate;

/// `netburn decode RATING`.
pub(crate) fn decode(args: &DecodeArgs) -> Result<ExitStatus, CliError> {
    let rating: Rating = args
        .rating
        .trim()
        .parse()
        .map_err(|why| CliError::Usage(format!("`{}`: {why}", sanitise(&args.rating))))?;
    let decoded = read(rating, args.nodes).map_err(|why| CliError::Usage(why.to_string()))?;
    let chains: Vec<Chain> = decoded
        .best
        .radios
        .iter()
        .map(|radio| chain(radio, &args.client, args.stations))
        .collect();
    let text = match args.format {
        Format::Json => document(&json(&decoded, &args.client, args.stations)),
        Format::Text => as_text(&decoded, &chains, args, TerminalStyle::for_stdout().width),
    };
    print_stdout(&text)?;
    Ok(ExitStatus::Success)
}

fn as_text(decoded: &Decoded, chains: &[Chain], args: &DecodeArgs, width: usize) -> String {
    let mut text = String::new();
    let mut line = |line: &str, indent: &str| {
        for wrapped in wrap(line, width, indent) {
            text.push_str(&wrapped);
            text.push('\n');
        }
    };
    let rating = decoded.rating;
    let sure = match decoded.certainty {
        Certainty::Likely => "probably",
        Certainty::Guess => "perhaps",
    };
    let boxes = match decoded.nodes {
        1 => String::new(),
        n => format!(", in each of {n} boxes"),
    };
    line(&format!("{rating}: {sure} {}{boxes}", summed_up(&decoded.best)), "  ");
    for radio in &decoded.best.radios {
        line(&format!("  {}", described(radio)), "    ");
    }
    let sum = mbps(decoded.best.sum());
    line(
        &match decoded.nodes {
            1 => format!("  together {sum} Mbit/s, rated {}", rating.number),
            n => format!("  together {sum} Mbit/s, {n} times that is rated {}", rating.number),
        },
        "    ",
    );
    for other in &decoded.alternatives {
        let radios: Vec<String> = other.radios.iter().map(|radio| mbps(radio.rate())).collect();
        line(
            &format!(
                "or: {} ({} = {} Mbit/s)",
                summed_up(other),
                radios.join(" + "),
                mbps(other.sum())
            ),
            "    ",
        );
    }
    line("", "");
    line(
        &format!(
            "A {} client near the access point, alone on the channel{}:",
            args.client,
            match args.stations {
                1 => String::new(),
                n => format!(", and as one of {n} that are busy at once"),
            }
        ),
        "  ",
    );
    for (radio, chain) in decoded.best.radios.iter().zip(chains) {
        line(&chain_line(radio.band, chain, args.stations), "    ");
    }
    if let Some(hops) = relayed(decoded, &args.client) {
        line("", "");
        line("The same client near a second box, two hops from the first:", "  ");
        for hop in two_hop_lines(&hops) {
            line(&format!("  {hop}"), "    ");
        }
    }
    line("", "");
    line(
        "PHY rate: bits per second while a frame's data are on the air. Goodput: packets of 1500 bytes, in full aggregates of up to 4 ms, nothing lost. \
         1 Mbit/s is 1 000 000 bits (125 000 bytes) per second. The rating alone was decoded; no device was measured.",
        "",
    );
    text
}

/// The rates of a client at a radio, from the rating to the goodput of one of `stations`.
fn chain_line(band: Band, chain: &Chain, stations: u32) -> String {
    let share = match stations {
        1 => String::new(),
        n => format!(" → {} Mbit/s for one of {n}", mbps(chain.share)),
    };
    format!(
        "  {}: {} Mbit/s on the box → {} Mbit/s PHY rate ({}, {}-QAM) → {} Mbit/s goodput{share}",
        named(band),
        mbps(chain.rated),
        mbps(chain.phy),
        streams(chain.streams),
        1_u32 << chain.bits,
        mbps(chain.goodput),
    )
}

fn two_hop_lines(hops: &TwoHops) -> Vec<String> {
    let (band, client) = (named(hops.band), mbps(hops.client));
    let (backhaul, both) = hops.shared;
    let shared = format!(
        "backhaul on the radio of the client ({band}): {} and {client} Mbit/s, alternating → {} Mbit/s goodput",
        mbps(backhaul),
        mbps(both)
    );
    let dedicated = hops.dedicated.map(|(other, backhaul, both)| {
        format!(
            "backhaul on another radio ({}): the lower of {} and {client} Mbit/s → {} Mbit/s goodput",
            named(other),
            mbps(backhaul),
            mbps(both)
        )
    });
    let wired = format!("backhaul on a faster wire: {client} Mbit/s goodput");
    let dedicated = dedicated.unwrap_or_else(|| "backhaul on another radio: the box has none above 2.4 GHz".to_owned());
    vec![shared, dedicated, wired]
}

/// Returns a summary such as `3x3:3 dual band`, or the streams of each band if they differ.
fn summed_up(layout: &Layout) -> String {
    let first = layout.radios.first().map_or(0, |radio| radio.streams);
    let five = layout.radios.iter().filter(|radio| radio.band == Band::Ghz5).count();
    let bands = match five {
        0 | 1 => layout.bands().to_owned(),
        _ => format!("{}, two radios in 5 GHz", layout.bands()),
    };
    if layout.radios.iter().all(|radio| radio.streams == first) {
        return format!("{first}x{first}:{first}, {bands}");
    }
    let each: Vec<String> = layout
        .radios
        .iter()
        .map(|radio| format!("{} in {}", streams(radio.streams), named(radio.band)))
        .collect();
    format!("{bands}: {}", each.join(", "))
}

fn described(radio: &RatedRadio) -> String {
    let beyond = if radio.beyond_standard() {
        ", which the standard doesn't have: only with clients of the same kind"
    } else {
        ""
    };
    format!(
        "{}: {} × {} = {} Mbit/s ({} in {} MHz, {}-QAM{beyond})",
        named(radio.band),
        streams(radio.streams),
        mbps(radio.per_stream()),
        mbps(radio.rate()),
        radio.standard.name(),
        radio.rated_mhz,
        1_u32 << radio.bits,
    )
}

fn streams(count: u8) -> String {
    format!("{count} stream{}", if count == 1 { "" } else { "s" })
}

const fn named(band: Band) -> &'static str {
    match band {
        Band::Ghz2_4 => "2.4 GHz",
        Band::Ghz5 => "5 GHz",
        Band::Ghz6 => "6 GHz",
    }
}

/// Formats a rate in whole Mbit/s, as vendors do.
fn mbps(rate: BitRate) -> String {
    ((rate.as_bps() + 500_000) / 1_000_000).to_string()
}
