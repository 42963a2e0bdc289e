//! Header of a run: information that exists before its first row.

use crate::utc::UnixTime;
pub use netburn_scenario::Environment;
use netburn_scenario::Plan;
use netburn_units::Seed;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Information about a run that exists before its first row.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The resolved scenario.
    pub plan: Plan,
    /// Environment of the run.
    pub environment: Environment,
    /// Seed of all random numbers: that of the plan, or of this run of a run set.
    pub seed: Seed,
    /// The controller's machine.
    pub host: Host,
    /// netburn's version.
    pub version: String,
    /// Time at which the folder was created, by the controller's wall clock; `None` on simulate.
    pub started: Option<UnixTime>,
    /// Origin of an imported run; `None` for runs of netburn.
    pub source: Option<Source>,
}

/// The file of another program from which a run was imported.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Source {
    /// Program that wrote it: `flent`.
    pub program: String,
    /// Version; empty if the file has none.
    pub version: String,
    /// The test that it ran, by its own name: `rtt_fair_up`.
    pub test: String,
    /// The file's name.
    pub file: String,
    /// Title in the file.
    pub title: String,
    /// Contents of the file that the run does not include, one message each.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// Workloads that the program measured in another way than netburn does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<WorkloadMethod>,
}

/// Method of a workload of an imported run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadMethod {
    /// The station's number in the plan.
    pub station: u16,
    /// The workload's number within the station.
    pub workload: u16,
    /// The method.
    pub method: Method,
}

/// Protocol by which a workload was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Bytes over TCP connections.
    Tcp,
    /// Datagrams of UDP.
    Udp,
    /// Echo requests of ICMP (RFC 792, RFC 4443).
    Icmp,
    /// Requests of HTTP.
    Http,
}

impl Method {
    /// Name of the protocol.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Method::Tcp => "TCP",
            Method::Udp => "UDP",
            Method::Icmp => "ICMP",
            Method::Http => "HTTP",
        }
    }
}

/// Information about a machine, for readers of the record. Unknown values are empty or 0.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Host {
    /// Name.
    pub name: String,
    /// Operating system and version.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Processor model.
    pub cpu: String,
    /// Processors that this process may use.
    pub cores: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

/// Header of a spool.
#[derive(Debug, Serialize, Deserialize)]
struct SpoolHeader {
    environment: Environment,
    seed: u64,
    netburn: String,
    host: Host,
    started: Option<UnixTime>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<Source>,
    plan: Value,
}

impl Header {
    /// The header of a spool: see [`SpoolReader::header`](crate::spool::SpoolReader::header).
    ///
    /// # Errors
    /// When it is none, with the reason.
    pub fn from_spool(text: &str) -> Result<Self, String> {
        let header: SpoolHeader = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(Header {
            plan: plan_from_value(&header.plan)?,
            environment: header.environment,
            seed: Seed(header.seed),
            host: header.host,
            version: header.netburn,
            started: header.started,
            source: header.source,
        })
    }

    /// The header as JSON for a spool.
    pub(crate) fn to_spool(&self) -> String {
        let header = SpoolHeader {
            environment: self.environment,
            seed: self.seed.0,
            netburn: self.version.clone(),
            host: self.host.clone(),
            started: self.started,
            source: self.source.clone(),
            plan: self.plan.to_json(),
        };
        serde_json::to_string(&header).expect("a header has only text for keys")
    }

    /// Header of a simulated run by this version. It has no host or time, because the results do
    /// not depend on them.
    #[must_use]
    pub fn simulated(plan: Plan) -> Self {
        Header {
            environment: Environment::Simulate,
            seed: plan.seed,
            plan,
            host: Host::default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: None,
            source: None,
        }
    }
}

/// The plan, from the scenario document that resolves into it.
pub(crate) fn plan_from_value(value: &Value) -> Result<Plan, String> {
    Plan::from_json(value).map_err(|error| format!("its plan makes no sense: {error}"))
}

impl Host {
    /// Information about this machine, as far as the system provides it.
    #[must_use]
    pub fn here() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let os_release = read("/etc/os-release");
        Host {
            name: read("/proc/sys/kernel/hostname").trim().to_owned(),
            os: field(&os_release, "PRETTY_NAME", '=').map_or_else(
                || std::env::consts::OS.to_owned(),
                |name| name.trim_matches('"').to_owned(),
            ),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            cpu: field(&read("/proc/cpuinfo"), "model name", ':')
                .unwrap_or_default()
                .to_owned(),
            cores: std::thread::available_parallelism().map_or(0, |n| n.get() as u32),
            memory_bytes: field(&read("/proc/meminfo"), "MemTotal", ':')
                .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
                .map_or(0, |kib| kib * 1024),
        }
    }
}

/// The value of the first line `name SEPARATOR value`.
fn field<'a>(text: &'a str, name: &str, separator: char) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name).then_some(value.trim())
    })
}

/// Status of a run at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state", content = "reason")]
pub enum RunStatus {
    /// The run ended as planned.
    Complete,
    /// A user or a signal stopped the run.
    Interrupted,
    /// The run failed; the text is the reason.
    Failed(String),
}

impl RunStatus {
    /// Status of a run whose controller left only a spool, with this number of bytes in an
    /// incomplete frame at its end.
    pub(crate) fn killed(dropped: u64) -> Self {
        let torn = match dropped {
            0 => String::new(),
            1 => "; the last byte of its spool is incomplete".to_owned(),
            more => format!("; the last {more} bytes of its spool are incomplete"),
        };
        RunStatus::Failed(format!("netburn was killed before it could finish the record{torn}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let text = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 13\"\n";
        assert_eq!(field(text, "PRETTY_NAME", '='), Some("\"Debian GNU/Linux 13\""));
        assert_eq!(field("MemTotal:       24684 kB\n", "MemTotal", ':'), Some("24684 kB"));
        assert_eq!(field(text, "ID", '='), None);
    }

    #[test]
    fn this_machine_has_a_processor() {
        assert!(Host::here().cores >= 1);
    }
}
