//! Reports of the progress of uploads: interim responses with the status 104.

use crate::curl::curl;
use crate::util::{Client, Head, PATIENCE, config, content, serve, with_tls};
use netburn_traffic::server::ServerConfig;
use netburn_units::BitRate;
use std::net::TcpStream;
use std::time::Instant;

fn upload(query: &str, length: usize) -> String {
    format!("POST /sink{query} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n")
}

fn limited(rate: BitRate) -> ServerConfig {
    ServerConfig {
        rate: Some(rate),
        ..config()
    }
}

fn offset(head: &Head) -> u64 {
    assert_eq!((head.status, head.fields.len()), (104, 1), "{head:?}");
    head.field("upload-offset").unwrap().parse().unwrap()
}

/// 750 kB at 6 Mbit/s. The law at every report: passed ≤ rate × time. The virtual link compensates 25 ms of lateness and
/// moves pieces of 1500 B. At most one report is sent every 20 ms.
#[test]
fn reports_follow_the_rate() {
    let served = serve(limited(BitRate::from_mbps(6)));
    let mut client = served.connect();
    let begun = Instant::now();
    client.send(upload("?progress=104", 750_000));
    let mut sender = client.stream.get_ref().try_clone().unwrap();
    let sending = std::thread::spawn(move || std::io::Write::write_all(&mut sender, &content(0, 750_000)).unwrap());
    let mut offsets = Vec::new();
    let last = loop {
        let head = client.head().unwrap();
        if head.status != 104 {
            break head;
        }
        let most = (begun.elapsed().as_secs_f64() + 0.025) * 750_000.0 + 1_500.0;
        assert!(offset(&head) as f64 <= most, "{head:?}, at most {most}");
        offsets.push(offset(&head));
    };
    assert_eq!(last.status, 200);
    assert_eq!(client.body(last.length()), b"750000\n");
    let intervals = begun.elapsed().as_millis() / 20;
    sending.join().unwrap();
    assert_eq!(offsets[0], 0);
    assert!(offsets.is_sorted_by(|a, b| a < b), "{offsets:?}");
    assert!(offsets.last().is_some_and(|last| *last <= 750_000));
    assert!(
        (3..=1 + intervals as usize).contains(&offsets.len()),
        "{} in {intervals}",
        offsets.len()
    );
    // The next request on the same connection does not ask.
    client.send(upload("", 3_000));
    assert_eq!(client.ask(content(0, 3_000)).0.status, 200);
}

#[test]
fn chunked_content_is_reported_without_its_framing() {
    let served = serve(limited(BitRate::from_mbps(6)));
    let mut client = served.connect();
    client.send("POST /sink?progress=104 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    for _ in 0..10 {
        client.send("2710\r\n");
        client.send(content(0, 10_000));
        client.send("\r\n");
    }
    client.send("0\r\n\r\n");
    let mut last = 0;
    let end = loop {
        let head = client.head().unwrap();
        if head.status != 104 {
            break head;
        }
        last = offset(&head);
    };
    assert!((1..=100_000).contains(&last), "{last}");
    assert_eq!(client.body(end.length()), b"100000\n");
}

/// Without a rate limit, without the request and for HTTP/1.0 clients, the first response is the final one.
#[test]
fn other_uploads_have_no_reports() {
    for (rate, query, version) in [
        (None, "?progress=104", "1.1"),
        (Some(BitRate::from_mbps(6)), "", "1.1"),
        (Some(BitRate::from_mbps(6)), "?progress=103", "1.1"),
        (Some(BitRate::from_mbps(6)), "?progress=104", "1.0"),
    ] {
        let served = serve(ServerConfig { rate, ..config() });
        let mut client = served.connect();
        client.send(upload(query, 100_000).replace("HTTP/1.1", &format!("HTTP/{version}")));
        let (head, body) = client.ask(content(0, 100_000));
        assert_eq!(
            (head.status, &body[..]),
            (200, &b"100000\n"[..]),
            "{rate:?} {query} {version}"
        );
    }
}

/// A client that reads nothing until all its content has passed. The server does not wait for it, and sends no more
/// reports than to any other client.
#[test]
fn a_client_that_does_not_read_does_not_stall_its_upload() {
    const LENGTH: u64 = 3_000_000;
    let served = serve(limited(BitRate::from_mbps(100)));
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(2_048).unwrap();
    socket.connect(&served.http().into()).unwrap();
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut client = Client {
        stream: std::io::BufReader::new(stream),
    };
    let begun = Instant::now();
    client.send(upload("?progress=104", LENGTH as usize));
    client.send(content(0, LENGTH));
    assert_eq!(served.health_after(1).bytes_up, LENGTH);
    let intervals = begun.elapsed().as_millis() / 20;
    let mut reports = 0;
    let end = loop {
        match client.head().unwrap() {
            head if head.status == 104 => reports += 1,
            head => break head,
        }
    };
    assert_eq!(client.body(end.length()), b"3000000\n");
    assert!((1..=1 + intervals).contains(&reports), "{reports} in {intervals}");
}

/// curl with `--include` prints interim responses too. It uploads as before, whether or not its URL asks for reports.
#[test]
fn curl_uploads_over_every_protocol() {
    let body = vec![b'x'; 200_000];
    for rate in [None, Some(BitRate::from_mbps(20))] {
        let served = serve(ServerConfig { rate, ..with_tls() });
        for (option, base) in [
            ("--http1.1", format!("http://{}", served.http())),
            ("--http2-prior-knowledge", format!("http://{}", served.http())),
            ("--http1.1", format!("https://{}", served.addresses.https[0])),
            ("--http2", format!("https://{}", served.addresses.https[0])),
        ] {
            for (query, asks) in [("", false), ("?progress=104", true)] {
                let url = format!("{base}/sink{query}");
                let arguments = ["--insecure", option, "--include", "--data-binary", "@-", &url];
                let output = String::from_utf8(curl(&arguments, &body)).unwrap();
                let reports = output.lines().filter(|line| line.starts_with("upload-offset: "));
                let case = format!("{option} {url} {rate:?}: {output}");
                assert_eq!(reports.count() > 1, asks && rate.is_some(), "{case}");
                assert!(output.ends_with("\r\n\r\n200000\n"), "{case}");
            }
        }
    }
}
