//! The DSCP of packets, captured on the loopback device, and the congestion control of connections, as `ss` prints it.

use crate::support::{Bench, LOOPBACK_UP, finish};
use serde_json::Value;
use std::collections::BTreeMap;

/// Captures the loopback device until SIGTERM and an idle period. Then it prints packets and payload bytes of each
/// flow, for each value of IPv4's TOS field or IPv6's traffic class.
const CAPTURE: &str = r#"
import json, signal, socket, struct
flows = {}
ended = False
def end(*_):
    global ended
    ended = True
signal.signal(signal.SIGTERM, end)
line = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
try:
    line.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
except OSError:
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
line.setsockopt(263, 23, 1)  # SOL_PACKET, PACKET_IGNORE_OUTGOING: each packet once
line.bind(("lo", 3))
line.settimeout(0.05)
open("up", "w").close()
while True:
    try:
        packet, address = line.recvfrom(1 << 17)
    except socket.timeout:
        if ended:
            break
        continue
    if address[2] != 0:
        continue
    if packet[0] >> 4 == 4:
        field, protocol, head, whole = packet[1], packet[9], (packet[0] & 15) * 4, struct.unpack("!H", packet[2:4])[0]
    else:
        field, protocol, head = (packet[0] & 15) << 4 | packet[1] >> 4, packet[6], 40
        whole = 40 + struct.unpack("!H", packet[4:6])[0]
    if protocol not in (6, 17):
        continue
    source, to = struct.unpack("!HH", packet[head:head + 4])
    inner = (packet[head + 12] >> 4) * 4 if protocol == 6 else 8
    asked = (protocol, to, source) in flows
    flow = flows.setdefault((protocol, source, to), {"asks": not asked, "fields": {}})
    count = flow["fields"].setdefault(field, [0, 0])
    count[0] += 1
    count[1] += whole - head - inner
json.dump([{"protocol": p, "from": f, "to": t, **flow} for (p, f, t), flow in flows.items()], open("flows", "w"))
"#;

/// Packets and payload bytes by the field's value.
type Counts = BTreeMap<u8, (u64, u64)>;

/// One direction of a connection or of a pair of UDP ports.
#[derive(Debug)]
struct Flow {
    /// IP protocol number.
    protocol: u64,
    ports: (u64, u64),
    /// True if its sender sent first.
    asks: bool,
    counts: Counts,
}

const TCP: u64 = 6;
const UDP: u64 = 17;

/// The flows on the loopback device of a new network namespace while `script` runs there. `"$@"` is netburn with these
/// arguments. Also returns whether the script's status is 0: of a run, it is 3 if the machine was too busy.
fn captured(script: &str, files: &[(&str, &str)], args: &[&str]) -> (bool, Vec<Flow>) {
    let bench = Bench::new();
    bench.write("capture.py", CAPTURE);
    for (name, content) in files {
        bench.write(name, content);
    }
    let script = format!(
        "{LOOPBACK_UP} true || exit\npython3 capture.py & capture=$!\n\
         while [ ! -e up ]; do kill -0 $capture || exit; sleep 0.02; done\n{script}\ncode=$?\n\
         kill $capture; wait $capture; exit $code"
    );
    let ended = finish(bench.inside(&["--net"], &script, args));
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    let flows: Vec<Value> = serde_json::from_slice(&std::fs::read(bench.path("flows")).unwrap()).unwrap();
    let number = |flow: &Value, key: &str| flow[key].as_u64().unwrap();
    let flow = |flow: &Value| Flow {
        protocol: number(flow, "protocol"),
        ports: (number(flow, "from"), number(flow, "to")),
        asks: flow["asks"] == true,
        counts: serde_json::from_value(flow["fields"].clone()).unwrap(),
    };
    (ended.code() == 0, flows.iter().map(flow).collect())
}

/// The answers to requests with the value `field`: the number of flows, and the values of their answers.
fn answers(flows: &[Flow], protocol: u64, field: u8) -> (u64, Counts) {
    let (mut count, mut answered) = (0, Counts::new());
    let asking = |flow: &&Flow| flow.protocol == protocol && flow.asks && flow.counts.contains_key(&field);
    for asking in flows.iter().filter(asking) {
        count += 1;
        let back = (asking.ports.1, asking.ports.0);
        let answers = flows
            .iter()
            .filter(|flow| flow.protocol == protocol && flow.ports == back);
        for (field, (packets, bytes)) in answers.flat_map(|flow| &flow.counts) {
            let sum = answered.entry(*field).or_default();
            *sum = (sum.0 + packets, sum.1 + bytes);
        }
    }
    (count, answered)
}

const WORKLOADS: &str = r#"
duration = "2 s"
baseline = "2 s"
drain = "1 s"
[server]
link = { rate = "20 Mbit/s" }
[station.marked]
workload = ["call", "film", "gift", "ping"]
[station.plain]
workload = ["voip", "probe"]
[workload.call]
kind = "calls"
priority = "voice"
[workload.film]
kind = "pages"
interval = "500 ms"
object_size = "20 KiB"
priority = "video"
[workload.gift]
kind = "upload"
object_size = "1 MiB"
priority = "background"
[workload.ping]
kind = "probe"
dscp = "EF"
"#;

/// RFC 2474: the DSCP is the upper six bits of the field. The lower two are ECN.
const BACKGROUND: u8 = 8 << 2;
const VIDEO: u8 = 40 << 2;
const VOICE: u8 = 48 << 2;
const EF: u8 = 46 << 2;

#[test]
fn answers_of_a_server_have_the_priority_of_the_request() {
    for server in ["http = \"1.1\"", "http = \"2\"", "http = \"2\"\ntls = true"] {
        let workloads = WORKLOADS.replace("[server]", &format!("[server]\n{server}"));
        let run = ["run", "workloads.toml", "--on", "local", "--seed", "1"];
        let (reliable, flows) = captured("\"$@\"", &[("workloads.toml", &workloads)], &run);
        // For each value, the minimum of content bytes. A busy machine moves less, and the self-check reports it.
        for (field, content) in [(VOICE, 10 * 16_384), (VIDEO, 2 * 10 * 20_480), (BACKGROUND, 0)] {
            let (count, got) = answers(&flows, TCP, field);
            let (packets, bytes) = got.get(&field).copied().unwrap_or_default();
            let enough = packets >= 10 && bytes >= content;
            assert!(
                count > 0 && packets > 0 && (enough || !reliable),
                "{server} {field}: {got:?}"
            );
            // The first request contains the priority. Before it the server sends the handshake (with content in TLS)
            // and the settings of HTTP/2. Acknowledgements without content don't count: an upload determines how many
            // of them the server sends before it has parsed the request's head.
            for (other, (_, bytes)) in got.iter().filter(|(other, _)| **other != field) {
                let ahead = if server.contains("tls") { 2_000 } else { 100 };
                assert!(*other == 0 && *bytes <= ahead * count, "{server} {field}: {got:?}");
            }
            // At most one receive window arrives before the head is parsed. Each upload is several windows long.
            let early = got.get(&0).map_or(0, |(packets, _)| *packets);
            assert!(
                field != BACKGROUND || packets > early,
                "{server}: the answers' mark comes after the upload: {got:?}"
            );
        }
        let (count, got) = answers(&flows, UDP, EF);
        // One of 64 bytes every 50 ms. All except the welcome are echoes of requests with a DSCP.
        assert!(
            count == 1 && (got[&EF].0 >= 20 || !reliable) && got[&0].0 <= 2 && got.len() == 2,
            "{got:?}"
        );
        // Other flows are not marked, and requests without a priority get answers without one.
        let plain: u64 = flows.iter().filter_map(|flow| Some(flow.counts.get(&0)?.1)).sum();
        assert!(plain > if reliable { 10 * 16_384 } else { 0 }, "{flows:?}");
        let marks: Vec<u8> = flows.iter().flat_map(|flow| flow.counts.keys().copied()).collect();
        assert!(
            marks
                .iter()
                .all(|mark| [0, BACKGROUND, VIDEO, VOICE, EF].contains(mark)),
            "{marks:?}"
        );
    }
}

#[test]
fn a_requested_dscp_applies_to_its_request_and_has_six_bits() {
    // Over IPv6 if the system has it.
    let has_v6 = std::fs::exists("/proc/net/if_inet6").unwrap_or(false);
    let address = if has_v6 { "[::1]:4480" } else { "127.0.0.1:4480" };
    // One connection: a request with a DSCP, one without, and one with an invalid DSCP.
    let script = "\"$@\" & serving=$!
ask() { curl --silent --fail --noproxy '*' --output /dev/null \"$@\"; }
until ask 'http://ADDRESS/'; do kill -0 $serving || exit 1; sleep 0.05; done
base='http://ADDRESS/bytes'
curl --silent --noproxy '*' --write-out '%{http_code} %{local_port} ' \"$base/50000?dscp=63\" --output /dev/null \\
    \"$base/70000\" --output /dev/null \"$base/9?dscp=64\" --output /dev/null >codes
cat codes >&2
kill $serving; wait $serving; true";
    let (_, flows) = captured(
        &script.replace("ADDRESS", address),
        &[],
        &["serve", "--listen", address],
    );
    let marked = |flow: &&Flow| flow.ports.0 == 4480 && flow.counts.contains_key(&(63 << 2));
    let got = &flows.iter().find(marked).unwrap_or_else(|| panic!("{flows:?}")).counts;
    let (marked, plain) = (got[&(63 << 2)].1, got[&0].1);
    // Response headers have about 200 bytes.
    assert!(
        (50_000..51_000).contains(&marked) && (70_000..71_500).contains(&plain),
        "{got:?}"
    );
    assert_eq!(got.len(), 2, "{got:?}");
}

/// Both ends of a workload's connections use its congestion control. Other connections use the system's default.
#[test]
fn both_ends_use_the_congestion_control_of_the_workload() {
    // The connections last as long as the load, so that `ss` sees them however long each call of it takes.
    const WORKLOADS: &str = r#"
duration = "10 s"
baseline = "2 s"
drain = "1 s"
[server]
link = { rate = "20 Mbit/s" }
[station.one]
workload = ["film", "gift"]
[workload.film]
kind = "stream"
object_size = "100 KiB"
interval = "100 ms"
cc = "reno"
[workload.gift]
kind = "upload"
object_size = "1 MiB"
priority = "background"
cc = "reno"
"#;
    for server in ["http = \"1.1\"", "http = \"2\"\ntls = true"] {
        let bench = Bench::new();
        bench.write(
            "workloads.toml",
            WORKLOADS.replace("[server]", &format!("[server]\n{server}")),
        );
        let script = format!(
            "{LOOPBACK_UP} true || exit\n\"$@\" & running=$!\n\
             while kill -0 $running 2>/dev/null; do echo look; ss -HtinO state established; sleep 0.05; done >looks\n\
             wait $running"
        );
        let run = ["run", "workloads.toml", "--on", "local", "--seed", "1"];
        let ended = finish(bench.inside(&["--net"], &script, run));
        assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
        let looks = std::fs::read_to_string(bench.path("looks")).unwrap();
        let both = looks.split("look\n").map(|look| {
            let lines = look
                .lines()
                .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
            // Columns: receive queue, send queue, local and remote address, then other values, including the congestion
            // control.
            let reno = lines.filter(|words| words.contains(&"reno"));
            let ends: Vec<(String, String)> = reno.map(|words| (words[2].to_owned(), words[3].to_owned())).collect();
            ends.iter()
                .filter(|(here, there)| ends.contains(&(there.clone(), here.clone())))
                .count()
        });
        // Two workloads with one connection each, seen from both ends.
        assert_eq!(both.max(), Some(4), "{server}: {looks}");
        let usual = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap();
        // Connections of the controller.
        assert!(
            looks.split_ascii_whitespace().any(|word| word == usual.trim()),
            "{usual}: {looks}"
        );
    }
}

/// In the lab the route sets a congestion control. The workload's setting has precedence at both ends.
#[test]
fn the_congestion_control_of_a_workload_overrides_that_of_the_route() {
    const WORKLOADS: &str = r#"
duration = "10 s"
baseline = "2 s"
drain = "1 s"
[ap.ap.radio.5g]
standard = "802.11n"
width = "20 MHz"
streams = 2
[station.one]
joins = "ap.5g"
signal = "-45 dBm"
workload = "film"
[workload.film]
kind = "stream"
object_size = "100 KiB"
interval = "100 ms"
cc = "reno"
"#;
    let bench = Bench::new();
    bench.write("workloads.toml", WORKLOADS);
    // `ss` runs in the network namespaces of the run's descendant processes.
    let script = "\"$@\" & running=$!
while kill -0 $running 2>/dev/null; do
    for pid in $(ps -eo pid=,ppid= | awk -v top=$running '
        { parent[$1] = $2 }
        END { for (pid in parent) { at = pid; while (at in parent && at != top) at = parent[at]; if (at == top) print pid } }'); do
        nsenter -t $pid -n ss -HtinO state established 2>/dev/null ||
            nsenter -t $pid -U --preserve-credentials -n ss -HtinO state established 2>/dev/null
    done
    sleep 0.1
done >looks
wait $running";
    let run = ["run", "workloads.toml", "--on", "lab", "--seed", "1"];
    let ended = finish(bench.inside(&["--ipc"], script, run));
    assert!(matches!(ended.code(), 0 | 3), "{}", ended.stderr);
    let looks = std::fs::read_to_string(bench.path("looks")).unwrap();
    // Columns: receive queue, send queue, local and remote address, then other values.
    let lines = looks
        .lines()
        .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    let mut ends: BTreeMap<(&str, &str), Vec<bool>> = BTreeMap::new();
    for words in lines.filter(|words| words.len() > 4) {
        let connection = (words[2], words[3]);
        ends.entry(connection).or_default().push(words.contains(&"reno"));
    }
    // The station has it after connecting, the server after it has read a request. Then it stays.
    for end in ["198.18.1.0:", "198.18.0.1:"] {
        let mut of_end = ends.iter().filter(|((here, _), _)| here.starts_with(end));
        let kept = of_end.any(|(_, reno)| reno.contains(&true) && reno.is_sorted());
        assert!(kept, "{end}: {ends:?}: {looks}");
    }
}
