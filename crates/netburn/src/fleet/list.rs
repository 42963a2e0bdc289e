//! `netburn fleet list`.

use super::{found, runtime};
use crate::args::{FleetListArgs, Format};
use crate::exit::{CliError, ExitStatus};
use crate::terminal::{document, print_stdout};
use netburn_fleet_controller::hub::control::MemberStatus;
use netburn_protocol::messages::standing::Kind;
use netburn_record::Role;
use netburn_report::sanitise::sanitise;
use serde_json::json;

/// `netburn fleet list`.
pub(crate) fn list(args: &FleetListArgs) -> Result<ExitStatus, CliError> {
    let members = runtime()?.block_on(async {
        let mut controller = found().await?;
        controller
            .members()
            .await
            .map_err(|error| CliError::Failed(error.to_string()))
    })?;
    print_stdout(&match args.format {
        Format::Text => text(&members),
        Format::Json => document(&members.iter().map(entry).collect::<Vec<_>>()),
    })?;
    Ok(ExitStatus::Success)
}

/// The members as lines.
pub(crate) fn text(members: &[MemberStatus]) -> String {
    if members.is_empty() {
        return "no members are connected\n".to_owned();
    }
    let rows: Vec<[String; 4]> = members.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let lines = rows.iter().map(|row| {
        let padded = |column: usize| format!("{:<width$}", row[column], width = widths[column]);
        let line = format!("{}  {}  {}  {}", padded(0), padded(1), padded(2), row[3]);
        format!("{}\n", line.trim_end())
    });
    lines.collect()
}

/// Columns: name, kind and system, address, and the rest.
fn row(member: &MemberStatus) -> [String; 4] {
    let about = &member.about;
    let kind = match (about.role, about.kind) {
        (Role::Server, _) => "server",
        (_, Kind::Browser) => "browser",
        (_, Kind::Process) => "agent",
    };
    let labels: Vec<String> = about
        .labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    let mut rest: Vec<String> = Some(shortened(&labels.join(" ")))
        .filter(|labels| !labels.is_empty())
        .into_iter()
        .collect();
    rest.extend(about.interface.iter().map(|name| format!("on {name}")));
    rest.extend(member.run.iter().map(|run| format!("in {run}")));
    if !member.pending_results.is_empty() {
        rest.push(match &member.pending_results[..] {
            [first, more @ ..] if more.len() >= 3 => format!("has results of {first} and {} more", more.len()),
            few => format!("has results of {}", few.join(", ")),
        });
    }
    let from = member
        .address
        .map_or_else(|| "this machine".to_owned(), |ip| ip.to_string());
    [
        member.name.clone(),
        format!(
            "{kind}, {}",
            match about.kind {
                Kind::Browser => browser(&about.system),
                Kind::Process => shortened(&sanitise(&about.system)),
            }
        ),
        from,
        sanitise(&rest.join(" ")),
    ]
}

/// Common name of a browser and its system, from its `User-Agent`. An unknown `User-Agent` is returned shortened.
fn browser(user_agent: &str) -> String {
    // Most `User-Agent` values contain names of other browsers too: the first match in this list counts.
    let names = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung Internet"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrom", "Chrome"),
        ("Safari/", "Safari"),
    ];
    let systems = [
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("CrOS", "ChromeOS"),
        ("Windows", "Windows"),
        ("Mac OS", "macOS"),
        ("Linux", "Linux"),
    ];
    let found = |list: &[(&str, &'static str)]| {
        list.iter()
            .find(|(mark, _)| user_agent.contains(mark))
            .map(|(_, name)| *name)
    };
    match (found(&names), found(&systems)) {
        (Some(name), Some(system)) => format!("{name} on {system}"),
        (Some(name), None) => name.to_owned(),
        (None, _) => shortened(&sanitise(user_agent)),
    }
}

/// Limits a text of a member to 40 characters; `--format json` has all of it.
fn shortened(text: &str) -> String {
    if text.chars().count() > 40 {
        text.chars().take(39).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}

/// A member as JSON.
fn entry(member: &MemberStatus) -> serde_json::Value {
    json!({
        "name": member.name,
        "about": member.about,
        "version": member.version,
        "address": member.address,
        "run": member.run,
        "pending_results": member.pending_results,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line is short for the longest values that a member may send: 16 labels of 129 characters, 64 runs.
    #[test]
    fn long_values_of_a_member_are_shortened() {
        use netburn_protocol::messages::standing::MemberInfo;
        let label = |number: usize| (format!("{number:064}"), "v".repeat(64));
        let member = MemberStatus {
            name: "n".repeat(64),
            about: MemberInfo {
                system: "s".repeat(4096),
                ..MemberInfo::this_process(Role::Agent, Some("wlan0".to_owned()), (0..16).map(label).collect())
            },
            version: String::new(),
            address: Some("192.0.2.1".parse().unwrap()),
            run: Some("r".repeat(128)),
            until: None,
            pending_results: vec!["w".repeat(128); 64],
        };
        let line = text(&[member]);
        assert!(line.chars().count() < 600, "{}: {line}", line.chars().count());
        assert!(line.contains("…") && line.contains(" and 63 more"), "{line}");
        let few = [("room".to_owned(), "kitchen".to_owned())];
        let plain = MemberStatus {
            name: "anna".to_owned(),
            about: MemberInfo::this_process(Role::Agent, None, few.into()),
            version: String::new(),
            address: None,
            run: None,
            until: None,
            pending_results: vec!["a".to_owned(), "b".to_owned()],
        };
        let line = text(&[plain]);
        assert!(
            line.trim_end()
                .ends_with("this machine  room=kitchen has results of a, b"),
            "{line}"
        );
    }

    #[test]
    fn browsers_have_their_common_names() {
        for (user_agent, expected) in [
            (
                "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36",
                "Chrome on Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
                "Firefox on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
                "Safari on macOS",
            ),
            ("a kettle", "a kettle"),
        ] {
            assert_eq!(browser(user_agent), expected);
        }
    }
}
