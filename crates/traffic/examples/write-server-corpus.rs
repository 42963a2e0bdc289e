//! Writes the server's fuzz corpus. Run it after changes to the input format of `server::fuzz` or `datagram::fuzz`.

use netburn_traffic::consent::Consent;
use netburn_traffic::datagram::call::{self, wire::Request};
use netburn_traffic::datagram::wire;
use netburn_units::{ByteSize, Duration, Instant};
use netburn_workload::PacketStream;
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (target, files) in [
        ("request", requests()),
        ("consent", consents()?),
        ("datagram", datagrams()),
        ("exchange", exchanges()),
    ] {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder)?;
        for (name, bytes) in files {
            std::fs::write(folder.join(name), bytes)?;
        }
    }
    Ok(())
}

type Files = Vec<(&'static str, Vec<u8>)>;

fn requests() -> Files {
    let text = |name, text: &str| (name, text.as_bytes().to_vec());
    let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(2100));
    let wide = format!("GET / HTTP/1.1\r\nHost: a\r\nA: {}\r\n\r\n", "b".repeat(2100));
    vec![
        text("get", "GET /bytes/128KiB HTTP/1.1\r\nHost: a\r\n\r\n"),
        text(
            "range",
            "GET /bytes/1000 HTTP/1.1\r\nHost: a\r\nRange: bytes=0-18446744073709551615\r\n\r\n",
        ),
        text(
            "suffix",
            "GET /bytes/16GiB HTTP/1.1\r\nHost: a\r\nRange: bytes=-1\r\nIf-Range: x\r\n\r\n",
        ),
        text("head", "HEAD /bytes/1.5GB HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
        text(
            "post",
            "POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\nhello, world",
        ),
        text(
            "progress",
            "POST /sink?station=3&progress=104 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
        ),
        text(
            "progress-old",
            "POST /sink?progress=104 HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello",
        ),
        text(
            "chunked",
            "POST /sink HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        ),
        text(
            "both",
            "POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        ),
        text(
            "two-lengths",
            "POST /sink HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        ),
        text(
            "folded",
            "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n Content-Length: 5\r\n\r\n",
        ),
        text("bare-lf", "GET / HTTP/1.1\nHost: a\n\n"),
        text("absolute", "\r\nGET http://a/bytes/1?x HTTP/1.1\r\nHost: a\r\n\r\n"),
        text("preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        text("long-target", &long),
        text("wide-field", &wide),
        (
            "not-text",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(),
        ),
        ("empty", Vec::new()),
    ]
}

fn consents() -> Result<Files, Box<dyn Error>> {
    let mut full = Consent::new("an operator, a city", ByteSize::from_gib(16))?;
    full.datagram_port = Some(4480);
    full.rate_bps = Some(1_000_000_000);
    full.per_client.rate_bps = Some(5);
    let text = full.to_json();
    let with = |from: &str, to: &str| text.replace(from, to).into_bytes();
    Ok(vec![
        ("full", text.clone().into_bytes()),
        ("rejecting", with("true", "false")),
        ("later-schema", with("consent/1", "consent/2")),
        ("escape", with("an operator", "\\u001b[2J")),
        ("more-fields", with("\"version\"", "\"new\": {\"a\": [1]}, \"version\"")),
        ("lacking", with("\"operator\"", "\"operators\"")),
        ("wrong-type", with("17179869184", "\"many\"")),
        ("negative", with("17179869184", "-1")),
        ("port-too-large", with("4480", "65536")),
        ("nested", b"[".repeat(2000)),
        ("cut", text.as_bytes()[..text.len() / 2].to_vec()),
        ("empty", Vec::new()),
    ])
}

fn datagrams() -> Files {
    let mut welcome = wire::hello(0);
    wire::make_welcome(&mut welcome, [7; 16], Duration::from_secs(600));
    let probe = wire::probe([7; 16], 5, 200, 0);
    let mut echo = probe.clone();
    wire::make_echo(&mut echo, Instant::from_secs(9));
    let requested = Request {
        call: 0,
        anchor: Instant::from_millis(-100),
        stream: PacketStream::single(Duration::from_millis(20), ByteSize::from_bytes(172)),
        until: u32::MAX,
        from: 0,
        dscp: 48,
        stamp: Instant::ZERO,
        video: None,
    };
    let mut report = call::wire::request([7; 16], &requested, 2);
    call::wire::make_report(&mut report, Instant::from_secs(1), |_| Some(Duration::from_millis(3)));
    let changed = |at: usize, byte: u8| {
        let mut bytes = wire::hello(0);
        bytes[at] = byte;
        bytes
    };
    vec![
        ("hello", wire::hello(0)),
        ("other-token", wire::hello(u64::MAX)),
        ("welcome", welcome),
        ("probe", probe),
        ("largest", wire::probe([0; 16], u64::MAX, 1400, 63)),
        ("too-large", [wire::probe([0; 16], 1, 1400, 0), vec![0]].concat()),
        ("echo", echo),
        ("short", wire::hello(0)[..63].to_vec()),
        ("next-version", changed(4, 2)),
        ("unknown-kind", changed(5, 9)),
        ("reserved", changed(6, 1)),
        ("empty", Vec::new()),
        ("call-request", call::wire::request([7; 16], &requested, 50)),
        ("call-report", report),
        ("call-up", call::wire::up(0, 3, 172)),
        ("call-down", call::wire::down(0, 3, Instant::from_millis(60), 172)),
        (
            "call-fast",
            call::wire::request(
                [7; 16],
                &Request {
                    stream: PacketStream {
                        interval: Duration::from_millis(5),
                        burst: 50,
                        spacing: Duration::from_micros(50),
                        size: ByteSize::from_bytes(1400),
                    },
                    ..requested
                },
                332,
            ),
        ),
        (
            "call-too-fast",
            call::wire::request(
                [7; 16],
                &Request {
                    stream: PacketStream {
                        burst: 201,
                        ..requested.stream
                    },
                    ..requested
                },
                0,
            ),
        ),
        (
            "call-far-anchor",
            call::wire::request(
                [7; 16],
                &Request {
                    anchor: Instant::from_nanos(i64::MIN),
                    ..requested
                },
                1,
            ),
        ),
    ]
}

/// Steps in the format of `check_exchange`: an operation and its argument.
fn exchanges() -> Files {
    let (shake, probe) = ([4, 0], [0, 8]);
    let steps = |steps: &[[u8; 2]], times: usize| steps.concat().repeat(times);
    vec![
        ("plain", steps(&[shake, probe, [1, 3], probe], 20)),
        ("long", steps(&[shake, probe, [2, 100]], 60)),
        (
            "restarted",
            [steps(&[shake, probe], 3), steps(&[[3, 5], probe, [1, 60], shake], 40)].concat(),
        ),
        ("lost", steps(&[shake, probe, [5, 2], probe, [1, 200]], 40)),
        ("damaged", steps(&[shake, probe, [5, 3], [5, 10], [5, 17], [5, 24]], 40)),
        ("doubled", steps(&[shake, [5, 4], probe], 40)),
        ("unverified", steps(&[[5, 1], shake, [5, 8], probe], 40)),
        ("impatient", steps(&[probe], 200)),
        ("silent", steps(&[shake], 200)),
        (
            "asleep",
            steps(&[shake, probe, [2, 255], [2, 255], [2, 255], probe], 20),
        ),
        ("empty", Vec::new()),
        ("half-a-step", vec![0]),
    ]
}
