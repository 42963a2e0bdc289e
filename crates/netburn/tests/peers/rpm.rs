//! Responsiveness tests: `serve` with curl and a certificate of openssl. goresponsiveness is not in the package registries
//! from which the tests install programs.

use crate::support::{Bench, start};
use serde_json::Value;
use std::process::Command;

fn output(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// curl checks that the name in each URL is one of the certificate. `--proto` rejects URLs without TLS.
#[test]
fn curl_follows_the_configuration_and_checks_the_certificate() {
    let bench = Bench::new();
    let mut openssl = Command::new("openssl");
    openssl
        .current_dir(bench.path(""))
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
        ])
        .args([
            "-days",
            "2",
            "-subj",
            "/CN=nb.test",
            "-addext",
            "subjectAltName=DNS:nb.test",
        ])
        .args(["-keyout", "key.pem", "-out", "cert.pem"]);
    output(openssl);
    let mut server = start(bench.netburn([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--listen-tls",
        "127.0.0.1:0",
        "--cert",
        "cert.pem",
        "--key",
        "key.pem",
    ]));
    server.wait_for("its addresses", |server| {
        server.stderr_so_far().contains("responsiveness tests of local clients")
    });
    let printed = server.stdout_so_far();
    let address = printed
        .lines()
        .find_map(|line| line.strip_prefix("https://")?.strip_suffix('/'))
        .unwrap();
    let curl = |args: &[&str], url: &str| {
        let mut curl = Command::new("curl");
        curl.current_dir(bench.path(""))
            .args(["--silent", "--show-error", "--noproxy", "*", "--max-time", "60"])
            .args(["--http2", "--cacert", "cert.pem", "--proto", "=https"])
            .args(["--connect-to", &format!("nb.test::{address}")])
            .args(args)
            .arg(url);
        output(curl)
    };
    let port = address.rsplit(':').next().unwrap();
    let config = curl(&[], &format!("https://nb.test:{port}/.well-known/nq"));
    let config: Value = serde_json::from_str(&config).unwrap();
    let url = |name: &str| config["urls"][name].as_str().unwrap().to_owned();
    let report = [
        "--output",
        "/dev/null",
        "--write-out",
        "%{http_version} %{http_code} %{size_download} %{size_upload}",
    ];
    let body = bench.write("body", vec![b'x'; 3_000_000]);
    let body = format!("@{}", body.display());
    for (small, large, upload) in [
        ("small_download_url", "large_download_url", "upload_url"),
        (
            "small_https_download_url",
            "large_https_download_url",
            "https_upload_url",
        ),
    ] {
        assert_eq!(curl(&report, &url(small)), "2 200 1 0");
        let head = curl(&["--head"], &url(large)).to_ascii_lowercase();
        assert!(head.contains("content-length: 17179869184\r\n"), "{head}");
        let post: Vec<&str> = report.iter().copied().chain(["--data-binary", &body]).collect();
        assert_eq!(curl(&post, &url(upload)), "2 200 8 3000000");
    }
    server.signal("TERM");
    server.finish().expect(0);
}
