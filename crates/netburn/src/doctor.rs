//! `netburn doctor`: checks of the permissions that netburn needs, with remedies.

#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod permissions;
mod wifi;

use crate::args::{DoctorArgs, Format};
use crate::exit::{CliError, ExitStatus};
use crate::lab_opening;
use crate::terminal::{document, print_stdout};
use netburn_platform::wifi::Station;
use netburn_platform::wifi::nl80211::anonymizer::Anonymizer;
use netburn_scenario::Plan;
use serde_json::json;

/// Result of a check.
struct Finding {
    name: &'static str,
    ok: bool,
    found: String,
    remedy: Option<String>,
}

/// `netburn doctor`.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitStatus, CliError> {
    if let Some(path) = &args.record_wifi {
        return wifi::record(path, args.with_names);
    }
    let findings = findings();
    let text = match args.format {
        Format::Json => {
            let each = findings.iter().map(|finding| {
                json!({ "name": finding.name, "ok": finding.ok, "found": finding.found, "remedy": finding.remedy })
            });
            document(&each.collect::<Vec<_>>())
        }
        Format::Text => findings.iter().map(described).collect(),
    };
    print_stdout(&text)?;
    Ok(ExitStatus::Success)
}

/// The present data of the Wi-Fi drivers: a recording, and the peers of all interfaces.
///
/// # Errors
/// The reason why there are none, as a clause.
pub(crate) fn wifi_snapshot(anonymizer: Option<&mut Anonymizer>) -> Result<(String, Vec<Station>), String> {
    wifi::snapshot(anonymizer)
}

/// All checks: first the requirements of a lab, then the data that an agent reports.
fn findings() -> Vec<Finding> {
    #[cfg(target_os = "linux")]
    {
        let opened = opened();
        let machine = kernel::machine(opened.ok, kernel::in_container());
        vec![
            permissions::namespaces(&machine),
            permissions::tun(&machine),
            opened,
            kernel::priority(),
            kernel::timer(),
            kernel::controls(),
            wifi::interfaces(),
        ]
    }
    // The other checks are about the lab.
    #[cfg(not(target_os = "linux"))]
    vec![opened(), wifi::interfaces()]
}

fn described(finding: &Finding) -> String {
    let mark = if finding.ok { "ok" } else { "--" };
    let mut text = format!("{mark}  {}: {}\n", finding.name, finding.found);
    if let Some(remedy) = &finding.remedy {
        text.push_str(&format!("    to permit it: {remedy}\n"));
    }
    text
}

/// Opens a lab with one station as a test.
fn opened() -> Finding {
    let began = std::time::Instant::now();
    let plan = netburn_scenario::load("anomaly").and_then(|document| document.resolve());
    let opened = plan
        .map_err(|error| CliError::Usage(error.to_string()))
        .and_then(|plan: Plan| lab_opening::open(&plan));
    let took = began.elapsed().as_millis();
    Finding {
        name: "a lab",
        ok: opened.is_ok(),
        found: match opened {
            Ok(lab) => format!("opened in {took} ms; stations use {}", lab_opening::devices(&lab)),
            Err(CliError::Usage(why) | CliError::Failed(why) | CliError::Command(_, why)) => why,
            Err(CliError::BrokenPipe) => String::new(),
        },
        remedy: None,
    }
}
