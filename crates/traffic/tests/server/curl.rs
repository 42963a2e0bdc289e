//! curl as an independent client.

use crate::util::{config, content, serve, with_tls};
use std::io::Write;
use std::process::{Command, Stdio};

/// Returns the output of curl with these arguments and this input.
pub(crate) fn curl(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new("curl")
        .args(["--silent", "--show-error", "--noproxy", "*", "--max-time", "60"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("these tests need curl: apt-get install curl");
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // curl closes its input early if it does not need it.
        scope.spawn(move || drop(stdin.write_all(input)));
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "curl {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    })
}

/// The same checks for each protocol.
fn check(options: &[&str], base: &str, version: &str) {
    let run = |more: &[&str], path: &str, input: &[u8]| {
        let url = format!("{base}{path}");
        let all: Vec<&str> = options.iter().chain(more).copied().chain([url.as_str()]).collect();
        curl(&all, input)
    };
    assert!(run(&[], "/bytes/3MiB", b"") == content(0, 3 << 20));
    assert_eq!(run(&["--range", "100-299"], "/bytes/1000", b""), content(100, 200));
    assert_eq!(run(&["--range", "-7"], "/bytes/1000", b""), content(993, 7));
    let report = [
        "--output",
        "/dev/null",
        "--write-out",
        "%{http_version} %{http_code} %{size_download}",
    ];
    assert_eq!(
        run(&report, "/bytes/128KiB", b""),
        format!("{version} 200 131072").as_bytes()
    );
    let head = String::from_utf8(run(&["--head"], "/bytes/16GiB", b""))
        .unwrap()
        .to_ascii_lowercase();
    assert!(
        head.contains("content-length: 17179869184\r\n") && head.contains("accept-ranges: bytes\r\n"),
        "{head}"
    );
    let body = vec![b'x'; 2_500_000];
    assert_eq!(run(&["--data-binary", "@-"], "/sink", &body), b"2500000\n");
    assert_eq!(
        run(&["--request", "POST", "--upload-file", "-"], "/sink", &body),
        b"2500000\n",
        "chunked"
    );
    let status = ["--output", "/dev/null", "--write-out", "%{http_code}"];
    for (more, path, expected) in [
        (&["--request", "PUT"][..], "/sink", "405"),
        (&[], "/no/such/place", "404"),
        (&[], "/bytes/17GiB", "400"),
        (&["--range", "2000-"], "/bytes/1000", "416"),
        (&["--data-binary", "@-"], "/bytes/10", "405"),
    ] {
        let got = run(&[&status[..], more].concat(), path, &body);
        assert_eq!(String::from_utf8_lossy(&got), expected, "{path}");
    }
    // With prior knowledge, curl 7.88 does not reuse connections of any server.
    if options.contains(&"--http2-prior-knowledge") {
        return;
    }
    let base = format!("{base}/bytes/[1-10]KiB");
    let all: Vec<&str> = options.iter().copied().chain(["--parallel", base.as_str()]).collect();
    assert_eq!(curl(&all, b"").len(), 55 << 10);
}

#[test]
fn http_1_1_in_cleartext() {
    let served = serve(config());
    check(&["--http1.1"], &format!("http://{}", served.http()), "1.1");
}

#[test]
fn http_2_by_prior_knowledge() {
    let served = serve(config());
    check(&["--http2-prior-knowledge"], &format!("http://{}", served.http()), "2");
}

#[test]
fn http_1_1_over_tls() {
    let served = serve(with_tls());
    check(
        &["--insecure", "--http1.1"],
        &format!("https://{}", served.addresses.https[0]),
        "1.1",
    );
}

#[test]
fn http_2_over_tls() {
    let served = serve(with_tls());
    check(
        &["--insecure", "--http2"],
        &format!("https://{}", served.addresses.https[0]),
        "2",
    );
    let old = [
        "--insecure",
        "--tls-max",
        "1.2",
        "--output",
        "/dev/null",
        "--write-out",
        "%{http_code}",
    ];
    let url = format!("https://{}/bytes/5", served.addresses.https[0]);
    assert_eq!(curl(&[&old[..], &[url.as_str()]].concat(), b""), b"200");
}

#[test]
fn an_upgrade_to_h2c_is_ignored() {
    let served = serve(config());
    let url = format!("http://{}/bytes/10", served.http());
    // curl requests an upgrade and continues with HTTP/1.1 if the server ignores it.
    assert_eq!(curl(&["--http2", &url], b""), content(0, 10));
}
