//! A fleet on several machines: network namespaces that Ethernet pairs connect, one for a desktop and one for a laptop.

use crate::support::fleet::{end, on_fleet, operations, summary};
use crate::support::namespaces::Namespaces;
use crate::support::{Bench, Running, finish, start, station};
use serde_json::Value;
use std::process::Command;

/// Two machines and the connection between them.
struct Machines {
    bench: Bench,
    desk: Namespaces,
    laptop: Namespaces,
    /// Routers between them.
    _between: Vec<Namespaces>,
}

impl Machines {
    /// `wires` runs on the desktop and may use the laptop's name `$laptop`. Then `there` runs on the laptop.
    fn new(wires: &str, there: &str) -> Machines {
        let bench = Bench::new();
        let desk = Namespaces::new(&bench, &["--net"], "ip link set lo up");
        let laptop = desk.within(&bench, &["--net"], "ip link set lo up");
        desk.run(&bench, &format!("laptop={}\n{wires}", laptop.id()));
        laptop.run(&bench, there);
        Machines {
            bench,
            desk,
            laptop,
            _between: Vec::new(),
        }
    }

    /// The laptop is behind a router at home, whose line ends at a router of the provider. The desktop is beyond it.
    fn behind_a_line() -> Machines {
        let bench = Bench::new();
        let lo = "ip link set lo up";
        let desk = Namespaces::new(&bench, &["--net"], lo);
        let [provider, home, laptop] = [(); 3].map(|()| desk.within(&bench, &["--net"], lo));
        let wire = |from: &Namespaces, to: &Namespaces, network: u8| {
            let script = format!(
                "ip link add to{network} type veth peer name from{network} netns {}
                 ip addr add 10.{network}.0.1/24 dev to{network}
                 ip link set to{network} up
                 echo 1 > /proc/sys/net/ipv4/ip_forward",
                to.id()
            );
            from.run(&bench, &script);
            let script = format!(
                "ip addr add 10.{network}.0.2/24 dev from{network}
                 ip link set from{network} up"
            );
            to.run(&bench, &script);
        };
        wire(&desk, &provider, 81);
        wire(&provider, &home, 82);
        wire(&home, &laptop, 83);
        desk.run(&bench, "ip route add default via 10.81.0.2");
        provider.run(&bench, "ip route add 10.83.0.0/24 via 10.82.0.2");
        home.run(&bench, "ip route add default via 10.82.0.1");
        laptop.run(&bench, "ip route add default via 10.83.0.1");
        Machines {
            bench,
            desk,
            laptop,
            _between: vec![provider, home],
        }
    }

    fn at(&self, place: &Namespaces, state: &str, args: &[&str]) -> Command {
        let mut command = place.netburn(&self.bench, args);
        command.env("NETBURN_STATE", self.bench.path(state));
        command
    }

    /// A controller with default settings, and its join URLs.
    fn serve(&self) -> (Running, Vec<String>) {
        let mut serve = start(self.at(&self.desk, "desk", &["fleet", "serve", "--name", "home"]));
        serve.wait_for("the address", |serve| {
            serve.stderr_so_far().contains("runs (keep this address private)") && serve.stdout_so_far().ends_with('\n')
        });
        let urls = serve.stdout_so_far().lines().map(str::to_owned).collect();
        (serve, urls)
    }

    /// An agent on the laptop that has joined.
    fn agent(&self, args: &[&str]) -> Running {
        let join = [&["fleet", "join", "--name", "laptop"], args].concat();
        let mut agent = start(self.at(&self.laptop, "laptop", &join));
        agent.wait_for("the agent to join", |agent| {
            agent.stderr_so_far().contains("is in the fleet `home`")
        });
        agent
    }

    fn run(&self, scenario: &str) -> Value {
        self.bench.write("house.toml", scenario);
        let run = on_fleet("house.toml", "saved");
        summary(&finish(self.at(&self.desk, "desk", &run)))
    }

    /// Summary of a fleet with the laptop, which sends probes to all targets.
    fn probe_targets(&self) -> Value {
        let (serve, urls) = self.serve();
        let agent = self.agent(&[&urls[0]]);
        let found = self.run(TARGETS);
        end(agent);
        end(serve);
        found
    }

    /// Bytes received and sent by an interface of the laptop.
    fn moved(&self, interface: &str) -> u64 {
        let table = self.laptop.run(&self.bench, "cat /proc/net/dev");
        let row = table
            .lines()
            .find_map(|line| line.trim().strip_prefix(interface)?.strip_prefix(':'));
        let counters: Vec<u64> = row
            .unwrap()
            .split_whitespace()
            .map(|counter| counter.parse().unwrap())
            .collect();
        counters[0] + counters[8]
    }
}

/// The desktop is also in another network. The address there comes first, and the laptop can't reach it.
#[test]
fn a_laptop_finds_a_fleet_on_another_machine_by_its_name() {
    let machines = Machines::new(
        "ip link add a0 type veth peer name b0 netns $laptop
         ip link add a1 type veth peer name unused
         ip addr add 10.77.0.1/24 dev a0
         ip addr add 10.5.0.1/24 dev a1
         ip link set a0 up
         ip link set a1 up
         ip link set unused up",
        "ip addr add 10.77.0.2/24 dev b0
         ip link set b0 up",
    );
    let fields = ["ip.src", "dns.qry.name", "dns.srv.port", "dns.a", "dns.txt"];
    let fields: Vec<&str> = fields.iter().flat_map(|field| ["-e", field]).collect();
    let listening = [
        "-i",
        "b0",
        "-l",
        "-f",
        "udp port 5353",
        "-T",
        "fields",
        "-E",
        "separator=|",
    ];
    let mut tshark = machines
        .laptop
        .command(&machines.bench, "tshark", &[&listening[..], &fields].concat());
    tshark.env("TMPDIR", machines.bench.path("."));
    let mut tshark = start(tshark);
    // tshark prints "Capturing on" before the interface is open.
    tshark.wait_for("tshark", |tshark| tshark.stderr_so_far().contains("Capture started"));
    let (serve, urls) = machines.serve();
    let secrets = urls[0].split_once('#').unwrap().1;
    let agent = machines.agent(&["--token", secrets]);
    assert!(
        agent
            .stderr_so_far()
            .contains("looking for a fleet on the local network")
    );
    let found = machines
        .run("duration = \"2 s\"\nbaseline = \"2 s\"\ndrain = \"1 s\"\n[station.laptop]\nworkload = \"voip\"\n");
    // A call every 131 ms.
    assert!((13..=16).contains(&operations(&found, "laptop")), "{found:#}");
    end(agent);
    end(serve);
    // The packets on the wire, decoded by another program.
    let read = |tshark: &Running| -> Vec<Vec<String>> {
        let text = tshark.stdout_so_far();
        text.lines()
            .map(|line| line.split('|').map(str::to_owned).collect())
            .collect()
    };
    let is_question = |row: &Vec<String>| row[0] == "10.77.0.2" && row[1].contains("_netburn._tcp.local");
    let is_answer = |row: &Vec<String>| {
        row[0] == "10.77.0.1" && row[2].contains("4484") && row[3].contains("10.77.0.1") && row[4].contains("v=1")
    };
    tshark.wait_for("question and answer", |tshark| {
        let rows = read(tshark);
        rows.iter().any(is_question) && rows.iter().any(is_answer)
    });
    for secret in secrets.split('.') {
        assert!(!tshark.stdout_so_far().contains(secret), "nothing secret is announced");
    }
    tshark.signal("INT");
    tshark.finish();
    // A controller that printed goodbye over mDNS is not found again.
    let join = ["fleet", "join", "--token", secrets, "--name", "laptop"];
    let printed = finish(machines.at(&machines.laptop, "laptop", &join)).expect(3).stderr;
    assert!(printed.contains("no fleet found on the local network"), "{printed}");
}

/// Phones in IPv6-only Wi-Fi have no IPv4 address. The run's server is on the controller's machine, and then on a member that
/// reaches the controller over IPv4.
#[test]
fn a_device_with_ipv6_only_is_measured() {
    let machines = Machines::new(
        "ip link add br0 type bridge
         ip addr add 10.78.0.1/24 dev br0
         ip addr add fd78::1/64 dev br0 nodad
         ip link add at-laptop type veth peer name eth0 netns $laptop
         ip link set at-laptop master br0
         ip link set at-laptop up
         ip link set br0 up",
        "ip addr add fd78::2/64 dev eth0 nodad
         ip link set eth0 up",
    );
    let nas = machines.desk.within(&machines.bench, &["--net"], "ip link set lo up");
    let wire = format!(
        "ip link add at-nas type veth peer name eth0 netns {}
         ip link set at-nas master br0
         ip link set at-nas up",
        nas.id()
    );
    machines.desk.run(&machines.bench, &wire);
    let address = "ip addr add 10.78.0.3/24 dev eth0
                   ip addr add fd78::3/64 dev eth0 nodad
                   ip link set eth0 up";
    nas.run(&machines.bench, address);
    let (serve, urls) = machines.serve();
    let six = urls.iter().find(|url| url.contains("[fd78::1]")).unwrap().as_str();
    let check = ["fleet", "join", six, "--name", "laptop", "--check"];
    let checked = finish(machines.at(&machines.laptop, "laptop", &check)).expect(0).stderr;
    assert!(
        checked.contains("reachable") && !checked.contains("warning"),
        "{checked}"
    );
    let agent = machines.agent(&[six]);
    let scenario = "duration = \"2 s\"\nbaseline = \"2 s\"\ndrain = \"1 s\"\n\
                    [station.laptop]\nworkload = [\"voip\", \"probe\"]\n";
    let measured = |found: &Value| {
        let laptop = station(found, "laptop");
        // A call every 131 ms, and a probe every 50 ms.
        assert!((13..=16).contains(&operations(found, "laptop")), "{found:#}");
        for workload in laptop["workloads"].as_array().unwrap() {
            assert_eq!(workload["failures"], 0, "{workload:#}");
        }
    };
    measured(&machines.run(scenario));
    let four = urls.iter().find(|url| url.contains("10.78.0.1")).unwrap().as_str();
    let mut server = start(machines.at(&nas, "nas", &["fleet", "join", four, "--name", "nas", "--serve"]));
    server.wait_for("the server to join", |server| {
        server.stderr_so_far().contains("is in the fleet `home`")
    });
    machines.bench.write("served.toml", scenario);
    let run = [&on_fleet("served.toml", "served")[..], &["--server", "nas"]].concat();
    let found = summary(&finish(machines.at(&machines.desk, "desk", &run)));
    measured(&found);
    assert!(
        server.stderr_so_far().contains("taking part in"),
        "{}",
        server.stderr_so_far()
    );
    end(agent);
    end(server);
    end(serve);
}

/// One network: the laptop is connected by a cable and, with a worse route, by an interface that represents its Wi-Fi.
#[test]
fn load_and_control_messages_use_different_interfaces() {
    let machines = Machines::new(
        "ip link add br0 type bridge
         ip addr add 10.78.0.1/24 dev br0
         for end in eth0 wifi0; do
             ip link add at-$end type veth peer name $end netns $laptop
             ip link set at-$end master br0
             ip link set at-$end up
         done
         ip link set br0 up",
        "ip link set eth0 up
         ip link set wifi0 up
         ip addr add 10.78.0.2/24 dev eth0
         ip addr add 10.78.0.3/24 dev wifi0 metric 600",
    );
    let (serve, urls) = machines.serve();
    assert!(urls[0].starts_with("http://10.78.0.1:4484/#"), "{urls:?}");
    let before = (machines.moved("eth0"), machines.moved("wifi0"));
    let agent = machines.agent(&[&urls[0], "--interface", "wifi0"]);
    let joined = (machines.moved("eth0"), machines.moved("wifi0"));
    assert!(joined.0 - before.0 > 2_000, "TLS, and who it is, by the cable");
    assert!(
        joined.1 - before.1 < 2_000,
        "nothing is measured yet: {} B",
        joined.1 - before.1
    );
    let found = machines.run(
        "duration = \"3 s\"\nbaseline = \"2 s\"\ndrain = \"1 s\"\n[server]\nlink = { rate = \"20 Mbit/s\" }\n\
         [station.laptop]\nworkload = [\"download\", \"probe\"]\n",
    );
    let after = (machines.moved("eth0"), machines.moved("wifi0"));
    let (printed, measured) = (after.0 - joined.0, after.1 - joined.1);
    let content = station(&found, "laptop")["throughput_mbps"].as_f64().unwrap() * 3e6 / 8.0;
    assert!(content > 2e6, "{found:#}");
    assert!(
        measured as f64 > content,
        "{measured} B by Wi-Fi, {content} B of content"
    );
    assert!((5_000..500_000).contains(&printed), "{printed} B by the cable");
    end(agent);
    end(serve);
    let texts = machines.bench.events("saved");
    assert!(
        texts.iter().any(|text| text == "measured through wifi0 only"),
        "{texts:?}"
    );
    // The datagrams arrived, too: none was lost.
    let probes = &station(&found, "laptop")["workloads"][1];
    assert_eq!(
        (&probes["name"], &probes["failures"]),
        (&"probe".into(), &0.into()),
        "{found:#}"
    );
}

/// Probes to the router at home, to that of the provider, and to the server.
const TARGETS: &str = "duration = \"3 s\"\nbaseline = \"1 s\"\ndrain = \"1 s\"\n[workload.near]\nkind = \"probe\"\n\
    target = \"near\"\n[workload.line]\nkind = \"probe\"\ntarget = \"line\"\n[station.laptop]\n\
    workload = [\"near\", \"line\", \"probe\"]\n";

/// Kernels answer as routers. They send one time-exceeded message a second after a burst of six (`icmp_ratelimit`), so the
/// probes to the line must go to the router itself: 60 of them are due in 3 s.
#[test]
fn routers_on_the_way_answer_probes() {
    let machines = Machines::behind_a_line();
    machines
        .laptop
        .run(&machines.bench, "echo \"0 0\" > /proc/sys/net/ipv4/ping_group_range");
    let found = machines.probe_targets();
    let laptop = station(&found, "laptop");
    for workload in laptop["workloads"].as_array().unwrap() {
        let (count, lost) = (&workload["operations"], &workload["failures"]);
        assert!((59..=61).contains(&count.as_u64().unwrap()), "{workload:#}");
        assert!(lost.as_u64().unwrap() <= 3, "{workload:#}");
    }
    for part in ["wifi", "line", "server"] {
        assert!(laptop["split"][part]["idle_ms"].is_f64(), "{laptop:#}");
        assert!(laptop["split"][part]["p50_ms"].as_f64().unwrap() < 20.0, "{laptop:#}");
    }
}

/// A new network namespace permits ICMP sockets for no group: `1 0`.
#[test]
fn a_system_that_permits_no_icmp_sockets_has_no_probes_to_routers() {
    let machines = Machines::behind_a_line();
    let found = machines.probe_targets();
    let laptop = station(&found, "laptop");
    let operations: Vec<u64> = laptop["workloads"]
        .as_array()
        .unwrap()
        .iter()
        .map(|workload| workload["operations"].as_u64().unwrap())
        .collect();
    assert_eq!(operations[..2], [0, 0], "{laptop:#}");
    assert!((59..=61).contains(&operations[2]), "{laptop:#}");
    let texts = machines.bench.events("saved");
    for target in ["near", "line"] {
        let expected = format!(
            "the probe to `{target}` is unavailable: this system does not permit ICMP sockets for this group: found \
             net.ipv4.ping_group_range = \"1 0\", expected a range that contains the group; help: sysctl -w \
             net.ipv4.ping_group_range=\"0 2147483647\""
        );
        assert_eq!(texts.iter().filter(|text| **text == expected).count(), 1, "{texts:#?}");
    }
}
