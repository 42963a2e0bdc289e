//! Assignment of members to stations.

use crate::hub::control::MemberStatus;
use netburn_protocol::messages::standing::{Kind, MemberInfo};
use netburn_record::Role;
use netburn_scenario::Plan;
use netburn_scenario::plan::Station;
use netburn_workload::ProbeTarget;
use std::collections::{BTreeMap, BTreeSet};

/// Assignment of members to stations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Assignment {
    /// Member of each station, in the order of the plan; `None` if no member fits yet.
    pub members: Vec<Option<String>>,
}

/// A station without a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Name of the station.
    pub station: String,
    /// Human-readable description of the required member.
    pub waits_for: String,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} waits for {}", self.station, self.waits_for)
    }
}

/// Selects a member for each station of `plan` from the connected members:
///
/// 1. A station with `agent` gets the member of that name, which may have several stations.
/// 2. A station with `label` gets a member with that label: `key=value`, or the value of any key.
/// 3. A station with neither gets the member of its own name.
/// 4. Otherwise it gets any free member. Stations are in the order of the plan, members in the order of
///    their names. A station that sends datagrams gets a browser only if no other member is free.
///
/// A station gets no browser in steps 2 to 4 if it has a workload that a browser can't run (`browser_can_run`).
///
/// The number of stations with labels that have members is as large as possible. Members that are in no
/// other run have priority.
#[must_use]
pub fn assign(plan: &Plan, members: &[MemberStatus]) -> Assignment {
    let mut agents: Vec<&MemberStatus> = members.iter().filter(|m| m.about.role == Role::Agent).collect();
    // Members in another run come last.
    agents.sort_by_key(|member| member.run.is_some());
    let named = |name: &str| agents.iter().position(|member| member.name == name);
    let mut chosen: Vec<Option<usize>> = vec![None; plan.stations.len()];
    let mut taken = BTreeSet::new();
    for (station, place) in plan.stations.iter().zip(&mut chosen) {
        if let Some(agent) = &station.agent {
            *place = named(agent);
            taken.extend(*place);
        }
    }
    // A member with a station's own name is reserved for that station, unless another station names it.
    let mut own = BTreeMap::new();
    for (number, station) in plan.stations.iter().enumerate() {
        if is_open(station)
            && let Some(member) = named(&station.name).filter(|member| !taken.contains(member))
            && fits(station, agents[member])
        {
            own.insert(number, member);
        }
    }
    let reserved: BTreeSet<usize> = own.values().copied().collect();
    let labelled = plan
        .stations
        .iter()
        .enumerate()
        .filter(|(_, s)| s.agent.is_none() && s.label.is_some());
    let candidates: BTreeMap<usize, Vec<usize>> = labelled
        .map(|(number, station)| {
            let label = station.label.as_deref().unwrap_or_default();
            let free = |member: &usize| !taken.contains(member) && !reserved.contains(member);
            let will_do = |member: &usize| carries(agents[*member], label) && fits(station, agents[*member]);
            (number, (0..agents.len()).filter(free).filter(will_do).collect())
        })
        .collect();
    for (member, number) in matched(&candidates) {
        chosen[number] = Some(member);
        taken.insert(member);
    }
    for (number, member) in own {
        chosen[number] = Some(member);
        taken.insert(member);
    }
    for (number, station) in plan.stations.iter().enumerate() {
        if is_open(station) && chosen[number].is_none() {
            let prefers_others = needs_datagrams(station);
            let is_free = |member: &usize| !taken.contains(member) && fits(station, agents[*member]);
            let is_second = |member: &usize| prefers_others && agents[*member].about.kind == Kind::Browser;
            let free = (0..agents.len()).filter(is_free).min_by_key(is_second);
            chosen[number] = free;
            taken.extend(free);
        }
    }
    let names = chosen.into_iter().map(|member| Some(agents[member?].name.clone()));
    Assignment {
        members: names.collect(),
    }
}

impl Assignment {
    /// Stations of `plan` without a member.
    #[must_use]
    pub fn missing(&self, plan: &Plan) -> Vec<Missing> {
        let without = plan
            .stations
            .iter()
            .zip(&self.members)
            .filter(|(_, member)| member.is_none());
        let missing = without.map(|(station, _)| Missing {
            station: station.name.clone(),
            waits_for: match (&station.agent, &station.label) {
                (Some(agent), _) => format!("the agent {agent}"),
                (None, Some(label)) => format!("an agent with the label {label}"),
                (None, None) if !browser_can_run(station) => "any agent other than a browser".to_owned(),
                (None, None) => "any agent".to_owned(),
            },
        });
        missing.collect()
    }

    /// Each member with its stations by their numbers in the plan, in the order of its first station.
    #[must_use]
    pub fn parts(&self) -> Vec<(String, Vec<u16>)> {
        let mut parts: Vec<(String, Vec<u16>)> = Vec::new();
        for (member, number) in self.members.iter().zip(0u16..) {
            let Some(member) = member else { continue };
            match parts.iter_mut().find(|(name, _)| name == member) {
                Some((_, stations)) => stations.push(number),
                None => parts.push((member.clone(), vec![number])),
            }
        }
        parts
    }
}

/// Returns whether the station has neither a name nor a label of a member.
fn is_open(station: &Station) -> bool {
    station.agent.is_none() && station.label.is_none()
}

fn carries(member: &MemberStatus, label: &str) -> bool {
    match label.split_once('=') {
        Some((key, value)) => member.about.labels.get(key.trim()).is_some_and(|v| v == value.trim()),
        None => member.about.labels.values().any(|value| value == label),
    }
}

fn fits(station: &Station, member: &MemberStatus) -> bool {
    member.about.kind != Kind::Browser || browser_can_run(station)
}

/// Returns whether a workload of the station sends datagrams. A browser needs a data channel for them.
pub(crate) fn needs_datagrams(station: &Station) -> bool {
    let mut workloads = station.workloads.iter();
    workloads.any(|workload| workload.config.kind().is_datagram())
}

/// Hosts to which a member can send probes. A browser has no ICMP sockets, and netburn opens them on Linux only. A system can
/// also forbid them, which is known only when a run starts.
#[must_use]
pub fn probe_targets(member: &MemberInfo) -> &'static [ProbeTarget] {
    match member.kind {
        Kind::Process if member.system.starts_with("linux") => ProbeTarget::ALL,
        Kind::Process | Kind::Browser => &BEYOND_HOPS,
    }
}

/// Targets of probes without ICMP.
const BEYOND_HOPS: [ProbeTarget; 1] = [ProbeTarget::Server];

/// Returns whether a browser can run the workloads of the station. A browser does not measure handshakes.
fn browser_can_run(station: &Station) -> bool {
    station.workloads.iter().all(|workload| {
        let mut targets = workload.config.target().into_iter();
        targets.all(|target| BEYOND_HOPS.contains(&target)) && !workload.config.kind().has_handshake_times
    })
}

/// Maximum matching of members to stations, by augmenting paths in the order of the stations.
fn matched(candidates: &BTreeMap<usize, Vec<usize>>) -> BTreeMap<usize, usize> {
    let mut station_of = BTreeMap::new();
    for &station in candidates.keys() {
        let mut seen = BTreeSet::new();
        augment(station, candidates, &mut station_of, &mut seen);
    }
    station_of
}

fn augment(
    station: usize,
    candidates: &BTreeMap<usize, Vec<usize>>,
    station_of: &mut BTreeMap<usize, usize>,
    seen: &mut BTreeSet<usize>,
) -> bool {
    for &member in &candidates[&station] {
        if seen.insert(member) {
            let other = station_of.get(&member).copied();
            if other.is_none_or(|other| augment(other, candidates, station_of, seen)) {
                station_of.insert(member, station);
                return true;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::{Document, Environment};

    fn plan(stations: &str) -> Plan {
        let text = format!("duration = \"10 s\"\n{stations}");
        let document = Document::from_toml("t.toml", &text).unwrap();
        document.resolve_for(Environment::Fleet).unwrap().0
    }

    fn station(name: &str, more: &str) -> String {
        format!("[station.{name}]\nworkload = \"voip\"\n{more}\n")
    }

    fn member(name: &str, labels: &[(&str, &str)]) -> MemberStatus {
        let labels = labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        MemberStatus {
            name: name.to_owned(),
            about: MemberInfo::this_process(Role::Agent, None, labels.collect()),
            version: String::new(),
            address: None,
            run: None,
            until: None,
            pending_results: Vec::new(),
        }
    }

    fn chosen(plan: &Plan, members: &[MemberStatus]) -> Vec<String> {
        let assignment = assign(plan, members);
        let names = assignment.members.into_iter();
        names.map(|name| name.unwrap_or_else(|| "-".to_owned())).collect()
    }

    #[test]
    fn names_go_first_and_the_rest_is_filled_up() {
        let plan = plan(&[station("tv", ""), station("a", "agent = \"box\""), station("b", "")].concat());
        let all = [member("box", &[]), member("phone", &[]), member("tv", &[])];
        assert_eq!(chosen(&plan, &all), ["tv", "box", "phone"]);
        assert_eq!(chosen(&plan, &all[..2]), ["phone", "box", "-"]);
        let missing = assign(&plan, &all[2..]).missing(&plan);
        let said: Vec<_> = missing.iter().map(ToString::to_string).collect();
        assert_eq!(said, ["a waits for the agent box", "b waits for any agent"]);
    }

    #[test]
    fn one_agent_may_be_several_stations_by_its_name() {
        let plan = plan(&[station("a", "agent = \"box\""), station("b", "agent = \"box\"")].concat());
        let assignment = assign(&plan, &[member("box", &[])]);
        assert_eq!(assignment.parts(), [("box".to_owned(), vec![0, 1])]);
    }

    #[test]
    fn labels_are_shared_out_so_that_all_are_served() {
        // Both members fit `a`, only one fits `b`: the first choice for `a` must be changed.
        let plan = plan(
            &[
                station("a", "label = \"phone\""),
                station("b", "label = \"room=kitchen\""),
            ]
            .concat(),
        );
        let members = [
            member("p1", &[("kind", "phone"), ("room", "kitchen")]),
            member("p2", &[("kind", "phone")]),
        ];
        assert_eq!(chosen(&plan, &members), ["p2", "p1"]);
        assert_eq!(chosen(&plan, &members[..1]), ["p1", "-"]);
        let said = assign(&plan, &[]).missing(&plan)[1].to_string();
        assert_eq!(said, "b waits for an agent with the label room=kitchen");
    }

    #[test]
    fn a_server_is_no_station_and_a_browser_probes_no_hop() {
        let near = plan("[station.a]\nworkload = \"near\"\n[workload.near]\nkind = \"probe\"\ntarget = \"near\"\n");
        let mut server = member("server", &[]);
        server.about.role = Role::Server;
        let mut browser = member("phone", &[]);
        browser.about.kind = Kind::Browser;
        assert_eq!(chosen(&near, &[server.clone(), browser.clone()]), ["-"]);
        assert_eq!(
            assign(&near, &[]).missing(&near)[0].waits_for,
            "any agent other than a browser"
        );
        // Other datagrams pass a data channel, but any other agent has priority.
        let voice = plan("[station.a]\nworkload = \"voice\"\n");
        assert_eq!(chosen(&voice, &[server, browser.clone()]), ["phone"]);
        assert_eq!(chosen(&voice, &[browser, member("tablet", &[])]), ["tablet"]);
    }

    #[test]
    fn a_member_fits_a_station_with_its_own_probes() {
        let mut browser = member("phone", &[]);
        browser.about.kind = Kind::Browser;
        // The `User-Agent` of a browser names its system too.
        browser.about.system = "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0".to_owned();
        let mut mac = member("mac", &[]);
        mac.about.system = "macos aarch64".to_owned();
        let mut board = member("board", &[]);
        board.about.system = "linux arm".to_owned();
        for (one, count) in [(&browser, 1), (&mac, 1), (&board, 3)] {
            let targets = probe_targets(&one.about);
            assert_eq!(targets.len(), count, "{}", one.name);
            assert!(targets.contains(&ProbeTarget::Server));
            for target in targets {
                let text =
                    format!("[station.a]\nworkload = \"x\"\n[workload.x]\nkind = \"probe\"\ntarget = \"{target}\"\n");
                assert_eq!(chosen(&plan(&text), std::slice::from_ref(one)), [one.name.as_str()]);
            }
        }
    }

    #[test]
    fn members_in_another_run_are_assigned_last() {
        let plan = plan(&[station("x", ""), station("y", "label = \"phone\""), station("c", "")].concat());
        let labels = [("kind", "phone")];
        let mut all = [
            member("a", &labels),
            member("b", &labels),
            member("c", &[]),
            member("d", &[]),
        ];
        all[0].run = Some("other".to_owned());
        assert_eq!(chosen(&plan, &all), ["d", "b", "c"]);
        assert_eq!(chosen(&plan, &all[..3]), ["a", "b", "c"]);
        // A station that names a member does not get another one.
        all[2].run = Some("other".to_owned());
        assert_eq!(chosen(&plan, &all)[2], "c");
    }

    proptest::proptest! {
        #[test]
        fn members_have_one_part_unless_named(
            kinds in proptest::collection::vec(0u8..4, 1..8),
            here in proptest::collection::vec(0u8..3, 0..8),
        ) {
            let stations: String = kinds.iter().enumerate().map(|(n, kind)| station(&format!("s{n}"), match kind {
                0 => "label = \"x\"",
                1 => "label = \"room=y\"",
                _ => "",
            })).collect();
            let plan = plan(&stations);
            let members: Vec<MemberStatus> = here.iter().enumerate().map(|(n, kind)| member(&format!("s{}", n * 2), match kind {
                0 => &[("room", "x")],
                1 => &[("room", "y")],
                _ => &[],
            })).collect();
            let served = |members: &[MemberStatus]| {
                let assignment = assign(&plan, members);
                let names: Vec<_> = assignment.members.iter().flatten().cloned().collect();
                let unique: BTreeSet<_> = names.iter().cloned().collect();
                assert_eq!(unique.len(), names.len());
                assert_eq!(names.len() + assignment.missing(&plan).len(), plan.stations.len());
                names.len()
            };
            let all = served(&members);
            proptest::prop_assert!(all <= members.len());
        }
    }
}
