//! The cases: scenarios, changes to them for the comparison, and known differences.

use crate::experiment::changed_scenario;
use crate::flows::Flows;
use netburn_medium::queue::{Place, QueueKind, Sharing};
use netburn_scenario::{Environment, Plan, ScenarioError};
use netburn_units::Duration;
use std::borrow::Cow;

/// A scenario that runs in both environments.
#[derive(Debug, Clone)]
pub struct Case {
    /// Name, which is unique.
    pub name: String,
    /// Title of the table that lists the case.
    pub group: &'static str,
    /// Name of a built-in scenario, or the text of a scenario.
    pub scenario: Cow<'static, str>,
    /// Changed keys and values, as for `--set`.
    pub set: Vec<(String, String)>,
    /// `None` runs the workloads of the scenario.
    pub flows: Option<Flows>,
    /// Number of runs in each environment: several if the results are chaotic.
    pub runs: u32,
    /// Part of `--quick`: takes a few seconds.
    pub quick: bool,
    /// Point of the grid of TCP over a wire: only goodput is compared, with the tolerance of that grid.
    pub over_a_wire: bool,
    /// Prefixes of the names of metrics that are known to differ, with the reason.
    pub known: &'static [(&'static str, &'static str)],
}

impl Case {
    fn new(name: impl Into<String>, group: &'static str, scenario: &'static str) -> Case {
        Case {
            name: name.into(),
            group,
            scenario: Cow::Borrowed(scenario),
            set: Vec::new(),
            flows: None,
            runs: 1,
            quick: false,
            over_a_wire: false,
            known: &[],
        }
    }

    /// A case with the text of a scenario.
    #[must_use]
    pub fn from_text(name: String, group: &'static str, scenario: String) -> Case {
        Case {
            scenario: Cow::Owned(scenario),
            ..Case::new(name, group, "")
        }
    }

    /// Makes the case a point of the grid of TCP over a wire.
    #[must_use]
    pub fn over_a_wire(mut self) -> Case {
        self.over_a_wire = true;
        self
    }

    fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Case {
        self.set.push((key.into(), value.into()));
        self
    }

    /// Sets the number of runs in each environment.
    #[must_use]
    pub fn runs(mut self, runs: u32) -> Case {
        self.runs = runs;
        self
    }

    /// Makes the case a part of `--quick`.
    #[must_use]
    pub fn quick(mut self) -> Case {
        self.quick = true;
        self
    }

    fn known(mut self, known: &'static [(&'static str, &'static str)]) -> Case {
        self.known = known;
        self
    }

    /// Appends to the text of the scenario.
    fn and(mut self, text: &str) -> Case {
        self.scenario.to_mut().push_str(text);
        self
    }

    /// Adds a station that uploads. `tsq` is the setting of TCP Small Queues in its kernel.
    fn uplink(self, tsq: &str, station: &str, streams: u8, mcs: u8) -> Case {
        self.and(&format!(
            r#"[station.{station}]
joins = "home.5g"
standard = "802.11n"
streams = {streams}
mcs = {mcs}
queue = "fifo"
tsq = "{tsq}"
workload = ["upload", "probe"]
"#
        ))
    }

    /// Reduces the case to one run of a few seconds, for `--quick`.
    pub fn shorten(&mut self) {
        self.runs = 1;
        if self.flows.is_none() {
            self.set.push(("duration".to_owned(), "8 s".to_owned()));
        }
    }

    /// The plan of the case for an environment.
    ///
    /// # Errors
    /// The scenario or a key is invalid.
    pub fn plan(&self, environment: Environment) -> Result<Plan, ScenarioError> {
        let (plan, _) = changed_scenario(&self.scenario, &self.set)?.resolve_for(environment)?;
        Ok(Plan {
            repeat: self.runs,
            ..plan
        })
    }

    /// Datagrams to or from all stations at once, with `rate` packets of 1500 bytes per second for each station.
    fn datagrams(mut self, up: bool, rate: u64) -> Case {
        let span = Duration::from_secs(4);
        self.flows = Some(Flows { up, rate, span });
        self
    }
}

/// One station in a BSS of the 5 GHz band, 5 ms from the server. `streams` are those of both radios.
fn one_station(standard: &str, width: &str, streams: u8, mcs: u8, workload: &str) -> String {
    format!(
        r#"
duration = "20 s"
warmup = "3 s"
baseline = "1 s"
[server]
link = {{ rate = "1 Gbit/s", delay = "5 ms" }}
[ap.home]
queue = "fifo"
[ap.home.radio.5g]
standard = "{standard}"
width = "{width}"
streams = {streams}
[station.a]
joins = "home.5g"
standard = "{standard}"
streams = {streams}
mcs = {mcs}
workload = {workload}
"#
    )
}

/// One station at 144.4 Mbit/s of 802.11n.
fn link(name: String, group: &'static str) -> Case {
    let text = one_station("802.11n", "20 MHz", 2, 7, r#"["download", "probe"]"#);
    Case::from_text(name, group, text).set("ap.home.queue_limit", "200 packets")
}

/// An access point for [uplinks](Case::uplink), 5 ms from the server.
const UPLINKS: &str = r#"
duration = "15 s"
warmup = "3 s"
baseline = "1 s"
[server]
link = { rate = "1 Gbit/s", delay = "5 ms" }
[ap.home]
[ap.home.radio.5g]
standard = "802.11n"
streams = 2
"#;

/// TCP Small Queues without a request of the driver: shift 10.
const WIRED: &str = "2013";
/// TCP Small Queues that Wi-Fi drivers request: shift 7.
const WIFI: &str = "2025";

/// All cases, in the page's order.
#[must_use]
pub fn all() -> Vec<Case> {
    let mut cases = datagrams();
    cases.extend(connections());
    cases.extend(anomaly());
    cases.extend(uplinks());
    cases.extend(questions());
    cases.extend(roaming());
    cases.extend(lines());
    cases
}

fn datagrams() -> Vec<Case> {
    const GROUP: &str = "Saturating datagrams";
    let one = |name: &str, streams: &str, mcs: &str| {
        let text = one_station("802.11ac", "80 MHz", 3, 3, "\"probe\"");
        Case::from_text(format!("datagrams-{name}"), GROUP, text)
            .set("station.a.streams", streams)
            .set("station.a.mcs", mcs)
            .set("server.link.delay", "0 s")
    };
    let mut cases = vec![
        // 1.5 times the capacity: a sender that a busy machine delays still saturates the link.
        one("100", "1", "3").datagrams(false, 15_000).quick(),
        one("300", "2", "4").datagrams(false, 32_000),
        one("800", "3", "7").datagrams(false, 75_000),
        one("up", "1", "3").datagrams(true, 11_000).quick(),
    ];
    for queue in QueueKind::all_on(Place::Radio) {
        let case = Case::new(format!("datagrams-anomaly-{}", queue.name()), GROUP, "anomaly");
        let case = case.set("ap.home.queue", queue.name()).datagrams(false, 9_000);
        // All flows share one queue that is always full. Microseconds decide which packet takes a free place.
        cases.push(match queue.properties().sharing {
            Sharing::All => case.known(&[("", "chance decides which sender finds a place in a full queue")]),
            _ => case,
        });
    }
    cases
}

fn connections() -> Vec<Case> {
    let mut cases = Vec::new();
    for cc in ["cubic", "reno", "bbr"] {
        let one = link(format!("tcp-one-{cc}"), "One TCP connection");
        let one = one.set("server.cc", cc).runs(5);
        cases.push(if cc == "cubic" { one.quick() } else { one });
    }
    for cc in ["cubic", "reno", "bbr"] {
        let four = link(format!("tcp-four-{cc}"), "Four TCP connections of one station");
        let names = ["one", "two", "three", "four"];
        let download = |case: Case, name| case.and(&format!("[workload.{name}]\nkind = \"download\"\n"));
        let four = names
            .into_iter()
            .fold(four, download)
            .set("station.a.workload", r#"["one", "two", "three", "four", "probe"]"#);
        cases.push(four.set("server.cc", cc).runs(5));
    }
    cases
}

fn anomaly() -> Vec<Case> {
    let case = |queue: &str| {
        Case::new(format!("anomaly-{queue}"), "The anomaly, with TCP (CUBIC)", "anomaly")
            .set("ap.home.queue", queue)
            .set("duration", "20 s")
            .set("warmup", "5 s")
            .runs(5)
    };
    let queues = QueueKind::all_on(Place::Radio).into_iter();
    queues.map(|queue| case(queue.name())).collect()
}

fn uplinks() -> Vec<Case> {
    const GROUP: &str = "Uplinks with TCP Small Queues";
    let on = |name: &str, width: &str| Case::new(name, GROUP, UPLINKS).set("ap.home.radio.5g.width", width);
    let four = |name: &str, tsq: &str| {
        on(name, "40 MHz")
            .set("ap.home.queue", "fq-codel")
            .uplink(tsq, "a", 2, 7)
            .uplink(tsq, "b", 1, 7)
            .uplink(tsq, "c", 1, 3)
            .uplink(tsq, "d", 1, 1)
            .runs(5)
    };
    vec![
        on("uplink-144", "20 MHz").uplink(WIRED, "a", 2, 7).runs(3),
        on("uplink-20", "20 MHz").uplink(WIRED, "a", 1, 2).runs(3),
        four("uplinks-four", WIFI),
        four("uplinks-four-2013", WIRED),
    ]
}

fn questions() -> Vec<Case> {
    const WORKLOADS: &str = "The four workloads";
    const GROUP: &str = "The case studies";
    let minute = |name: &'static str, scenario: &'static str| Case::new(name, GROUP, scenario).set("duration", "60 s");
    let mut cases = vec![
        Case::new("four-uses", WORKLOADS, "four-uses"),
        minute("archer-c7-one-ssid", "archer-c7-one-ssid"),
        minute("archer-c7-split", "archer-c7-split"),
    ];
    for queue in ["fifo", "station-rr", "fq-codel", "airtime"] {
        let case = Case::new(format!("slow-neighbour-{queue}"), GROUP, "slow-neighbour");
        cases.push(case.set("ap.home.queue", queue));
    }
    for queue in ["pfifo-fast", "airtime"] {
        cases.push(Case::new(format!("boost-{queue}"), GROUP, "boost").set("ap.home.queue", queue));
    }
    cases.push(minute("penalty-box", "penalty-box"));
    cases.push(
        minute("one-radio", "penalty-box")
            .set("station.slow-1.joins", "home.5g")
            .set("station.slow-2.joins", "home.5g"),
    );
    cases
}

/// Walks, absences, and access points with a wireless backhaul. Assumption: a roam, a scan and a hop are the same state
/// machine in both environments, so only TCP and the time of the packets can differ.
fn roaming() -> Vec<Case> {
    const GROUP: &str = "Roaming, power save and mesh";
    let walk = |name: &'static str, k: &str| Case::new(name, GROUP, "walk-with-a-call").set("network.home.k", k);
    let house = |name: &'static str, backhaul: &str| {
        let case = Case::new(name, GROUP, "three-unit-house").set("duration", "20 s");
        case.set("kit.home.backhaul", backhaul)
    };
    vec![
        walk("walk", "false"),
        walk("walk-k", "true"),
        walk("walk-never", "false").set("station.phone.roaming", "never"),
        Case::new("absence", GROUP, "scan-during-call").set("duration", "45 s"),
        Case::new("sleeping-phone", GROUP, "sleeping-phone").set("duration", "20 s"),
        Case::new("chain", GROUP, "relay-chain").set("duration", "20 s"),
        house("house-shared", "shared"),
        house("house-dedicated", "dedicated"),
        house("house-wired", "wired"),
    ]
}

/// A line of 30 and 10 Mbit/s, which a wired station shares with stations at one or two access points. The air is never full.
const LINE: &str = r#"
duration = "10 s"
warmup = "3 s"
baseline = "1 s"
[server]
link = { rate = "1 Gbit/s" }
[router]
wan = { down = "30 Mbit/s", up = "10 Mbit/s", delay = "5 ms" }
[ap.home.radio.5g]
standard = "802.11n"
streams = 2
[station.pc]
wired = true
[station.laptop]
joins = "home.5g"
standard = "802.11n"
mcs = 7
workload = ["download", "probe"]
"#;

/// One line for wired and wireless stations. The lab has no servers in the house.
fn lines() -> Vec<Case> {
    const GROUP: &str = "One line for several devices";
    const OFFICE: &str = r#"
[ap.office.radio.5g]
standard = "802.11n"
streams = 2
channel = 149
[station.tablet]
joins = "office.5g"
standard = "802.11n"
mcs = 7
"#;
    let line = |name: &str, discipline: &str| {
        Case::from_text(format!("line-{name}"), GROUP, LINE.to_owned())
            .set("router.wan.discipline", discipline)
            .runs(5)
    };
    let pc = |case: Case, workload: &str| case.set("station.pc.workload", format!("[\"{workload}\", \"probe\"]"));
    let tablet = |case: Case, workload: &str| {
        let case = case.and(OFFICE);
        case.set("station.tablet.workload", format!("[\"{workload}\", \"probe\"]"))
    };
    vec![
        pc(line("wired-and-wireless-fifo", "fifo"), "download"),
        pc(line("wired-and-wireless-fq-codel", "fq-codel"), "download"),
        tablet(pc(line("two-access-points-fifo", "fifo"), "upload"), "download"),
        tablet(pc(line("two-access-points-fq-codel", "fq-codel"), "upload"), "download"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_case_has_a_plan_in_both_environments_and_a_unique_name() {
        let cases: Vec<Case> = all().into_iter().chain(super::super::grid::all()).collect();
        let names: BTreeSet<_> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        for case in &cases {
            let lab = case.plan(Environment::Lab).unwrap();
            let simulated = case.plan(Environment::Simulate).unwrap();
            assert_eq!(lab, simulated, "{}: the same plan", case.name);
        }
        assert!(cases.iter().any(|case| case.quick));
    }
}
