//! Servers that fail, send invalid responses or disappear.

use crate::util::{SETTLE, Scripted, Talk, asked, calls, drive_one, new_calls, runtime, upload};
use netburn_scenario::plan::Http;
use netburn_test_support::unused_address;
use netburn_traffic::client::{Method, Target, Total, request};
use netburn_units::{ByteSize, Duration};
use netburn_workload::{Config, Failure, Outcome};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Sends small requests to a server with this script, which answers none of them correctly.
fn all_fail(why: Failure, script: impl Fn(&mut Talk) -> std::io::Result<()> + Send + Sync + 'static) {
    let server = Scripted::start(move |talk, _| {
        while talk.request()?.is_some() {
            script(talk)?;
        }
        Ok(())
    });
    for config in [calls(1000, 20), new_calls(1000, 20)] {
        let left = drive_one(&server.target(), config, 200, SETTLE);
        left.expect_all(10, Outcome::Failed(why));
    }
}

#[test]
fn connection_refused() {
    let gone = unused_address();
    let left = drive_one(&Target::new(gone), calls(1000, 20), 200, SETTLE);
    left.expect_all(10, Outcome::Failed(Failure::Dial));
    let left = drive_one(&Target::new(gone), Config::download(), 200, SETTLE);
    assert_eq!(
        left.count(|o| o == Outcome::Failed(Failure::Dial)),
        1,
        "it waits before it tries again"
    );
}

#[test]
fn options_that_the_kernel_rejects_fail_the_connection() {
    let server = Scripted::start(|_, _| Ok(()));
    let mut target = server.target();
    target.interface = Some("no-such-device".into());
    let left = drive_one(&target, calls(1000, 20), 100, SETTLE);
    left.expect_all(5, Outcome::Failed(Failure::Dial));
}

#[test]
fn a_congestion_control_that_the_kernel_rejects_is_recorded() {
    let server = Scripted::start(|talk, _| {
        while let Some(head) = talk.request()? {
            talk.answer(asked(&head))?;
        }
        Ok(())
    });
    let mut target = server.target();
    target.cc = Some("no-such-thing".into());
    let left = drive_one(&target, calls(1000, 20), 100, SETTLE);
    left.expect_all(5, Outcome::Finished);
    let texts: Vec<String> = left
        .events
        .iter()
        .map(|event| event.detail.text().into_owned())
        .collect();
    assert!(
        matches!(&texts[..], [text] if text.contains("`no-such-thing`")),
        "{texts:?}"
    );
    target.cc = Some("reno".into());
    assert!(drive_one(&target, calls(1000, 20), 100, SETTLE).events.is_empty());
}

#[test]
fn errors_of_the_server() {
    all_fail(Failure::Answer, |talk| {
        talk.say(b"HTTP/1.1 503 Busy\r\nContent-Length: 5\r\n\r\nsorry")
    });
    all_fail(Failure::Answer, |talk| {
        talk.say(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")
    });
}

#[test]
fn garbage() {
    all_fail(Failure::Answer, |talk| talk.say(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"));
    all_fail(Failure::Answer, |talk| talk.say(&[0xff; 300]));
    all_fail(Failure::Answer, |talk| {
        talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 1000x\r\n\r\n")
    });
    all_fail(Failure::Answer, |talk| {
        talk.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n")?;
        talk.say(&[b'x'; 1000])?;
        talk.say(b"no end")
    });
}

#[test]
fn endless_heads_are_cut_off() {
    all_fail(Failure::Answer, |talk| {
        talk.say(b"HTTP/1.1 200 OK\r\n")?;
        (0..10_000).try_for_each(|_| talk.say(b"X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"))
    });
    all_fail(Failure::Answer, |talk| {
        talk.say(b"HTTP/1.1 200 OK\r\nX: ")?;
        talk.say(&vec![b'a'; 100_000])
    });
}

/// Sends `piece` until the client has closed the connection, or 64 MiB have been sent.
fn send_forever(talk: &mut Talk, piece: &[u8]) -> std::io::Result<()> {
    let batch = piece.repeat(4096 / piece.len() + 1);
    (0..64 << 20).step_by(batch.len()).try_for_each(|_| talk.say(&batch))
}

/// Upper bound of the bytes that a client may receive from these servers. These are heads of 64 KiB for each of ten
/// requests, and the same in unread socket buffers.
const LITTLE: u64 = 4 << 20;

/// Returns the bytes that one operation receives.
fn received(server: &Scripted, http: Http, size: u64) -> u64 {
    let total = Total::default();
    let target = Target {
        http,
        total: Some(total.clone()),
        ..server.target()
    };
    let left = drive_one(&target, calls(size, 20), 200, SETTLE);
    assert_eq!(left.finished(), 0);
    // The connection ends: each operation fails with an invalid response or a closed connection.
    assert!(
        left.started() > 0 && left.operations.len() == 10,
        "{:?}",
        left.operations
    );
    assert_eq!(
        left.count(|o| matches!(o, Outcome::Failed(_))),
        left.started(),
        "{:?}",
        left.operations
    );
    let (down, up) = total.bytes();
    assert!(down > 0 && up > 0);
    down
}

/// Returns the error of a single request.
fn ask_once(target: &Target, limit: usize) -> String {
    let patience = std::time::Duration::from_secs(60);
    let asked = request(target, Method::Get, "/", limit, patience);
    runtime().block_on(asked).unwrap_err().to_string()
}

#[test]
fn endless_interim_responses_are_cut_off() {
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    let server = Scripted::start(move |talk, _| {
        talk.request()?;
        send_forever(talk, interim)
    });
    let down = received(&server, Http::H1, 1000);
    assert!(down < LITTLE, "{down}");
    // The same before the server is trusted.
    let error = ask_once(&server.target(), 1000);
    assert!(error.contains("interim"), "{error}");
}

/// Frames as in RFC 9113 §4.1; `:status: 100` as in RFC 7541 §6.2.2: index 8, three characters.
#[test]
fn endless_interim_responses_over_http_2_are_cut_off() {
    let server = Scripted::start(|talk, _| {
        use std::io::Read;
        talk.say(&[0, 0, 0, 4, 0, 0, 0, 0, 0])?;
        // Preface, SETTINGS, possibly WINDOW_UPDATE, and a request: HEADERS on stream 1.
        let mut came = Vec::<u8>::new();
        while !came
            .windows(6)
            .any(|w| w == [1, 5, 0, 0, 0, 1] || w == [1, 4, 0, 0, 0, 1])
        {
            let mut piece = [0; 4096];
            match talk.stream.read(&mut piece)? {
                0 => return Ok(()),
                count => came.extend(&piece[..count]),
            }
        }
        send_forever(talk, b"\x00\x00\x05\x01\x04\x00\x00\x00\x01\x08\x03100")
    });
    let down = received(&server, Http::H2, 1000);
    assert!(down < LITTLE, "{down}");
}

#[test]
fn a_response_of_another_length_is_rejected_at_its_head() {
    let heads = [
        "Content-Length: 17179869184\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n3fffffff\r\n",
        "Connection: close\r\n\r\n",
    ];
    for head in heads {
        let server = Scripted::start(move |talk, _| {
            talk.request()?;
            talk.say(format!("HTTP/1.1 200 OK\r\n{head}").as_bytes())?;
            send_forever(talk, &[0; 4096])
        });
        let down = received(&server, Http::H1, 1000);
        assert!(down < LITTLE, "{head}: {down}");
    }
}

#[test]
fn framing_without_content_is_counted_and_ends() {
    let server = Scripted::start(|talk, _| {
        talk.request()?;
        talk.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        let chunk = format!("1;{}\r\nx\r\n", "a".repeat(4000));
        send_forever(talk, chunk.as_bytes())
    });
    // 1,000 chunks of 4,000 bytes are counted, although 1,000 bytes were requested.
    let total = Total::default();
    let target = Target {
        total: Some(total.clone()),
        ..server.target()
    };
    let left = drive_one(&target, calls(1000, 200), 200, SETTLE);
    assert_eq!(left.operations.len(), 1);
    assert!(total.bytes().0 > 3_000_000, "{:?}", total.bytes());
    // The request for consent limits all received bytes.
    let error = ask_once(&server.target(), 64 * 1024);
    assert!(error.contains("too long"), "{error}");
}

#[test]
fn content_of_another_size() {
    all_fail(Failure::Answer, |talk| talk.answer(999));
    all_fail(Failure::Answer, |talk| talk.answer(1001));
    all_fail(Failure::Connection, |talk| {
        talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")?;
        talk.say(&[b'x'; 500])?;
        talk.stream.shutdown(std::net::Shutdown::Both)
    });
}

#[test]
fn a_new_connection_closed_without_a_response() {
    let server = Scripted::start(|talk, _| talk.request().map(drop));
    let left = drive_one(&server.target(), calls(1000, 20), 200, SETTLE);
    left.expect_all(10, Outcome::Failed(Failure::Connection));
}

#[test]
fn excess_data_only_makes_the_connection_unusable() {
    let server = Scripted::start(|talk, _| {
        while let Some(head) = talk.request()? {
            let size = asked(&head);
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n{}HTTP/1.1 999 ?",
                "x".repeat(size)
            );
            talk.say(answer.as_bytes())?;
        }
        Ok(())
    });
    let left = drive_one(&server.target(), calls(1000, 20), 200, SETTLE);
    left.expect_all(10, Outcome::Finished);
    assert_eq!(
        server.accepted.load(Ordering::SeqCst),
        left.started() as u64,
        "no connection is trusted twice"
    );
}

#[test]
fn a_slow_drip_arrives_and_is_not_timed_out() {
    let server = Scripted::start(|talk, _| {
        while talk.request()?.is_some() {
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n" {
                talk.say(&[*byte])?;
            }
            for _ in 0..40 {
                std::thread::sleep(std::time::Duration::from_millis(5));
                talk.say(b"x")?;
            }
        }
        Ok(())
    });
    let config = Config {
        timeout: Duration::from_secs(60),
        ..calls(40, 50)
    };
    let left = drive_one(&server.target(), config, 400, SETTLE);
    left.expect_all(8, Outcome::Finished);
    assert_eq!(left.bytes(), left.started() as u64 * 40);
    let mut finished = left.operations.iter().filter(|o| o.outcome == Outcome::Finished);
    assert!(finished.all(|o| o.first_byte < o.finished));
}

#[test]
fn an_unresponsive_server_causes_timeouts() {
    let server = Scripted::start(|talk, _| {
        talk.request()?;
        talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")?;
        // Until the client closes the connection.
        talk.request().map(drop)
    });
    let config = Config {
        // The first byte arrives in this time.
        timeout: Duration::from_secs(5),
        ..calls(1000, 50)
    };
    let left = drive_one(&server.target(), config, 400, SETTLE);
    left.expect_all(8, Outcome::TimedOut);
    assert_eq!(left.bytes(), left.started() as u64);
    assert_eq!(
        server.accepted.load(Ordering::SeqCst),
        left.started() as u64,
        "each was given up with its connection"
    );
}

#[test]
fn a_server_that_dies_in_the_middle_leaves_failures_and_the_run_ends() {
    let served = std::sync::Arc::new(AtomicU64::new(0));
    let count = std::sync::Arc::clone(&served);
    let server = Scripted::start(move |talk, _| {
        while let Some(head) = talk.request()? {
            if count.fetch_add(1, Ordering::SeqCst) >= 10 {
                talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")?;
                return Ok(());
            }
            talk.answer(asked(&head))?;
        }
        Ok(())
    });
    let target = server.target();
    let driving = std::thread::spawn(move || drive_one(&target, calls(1000, 25), 5_000, SETTLE));
    while served.load(Ordering::SeqCst) < 20 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    drop(server);
    let left = driving.join().unwrap();
    assert_eq!(left.operations.len(), 200, "every operation that fell due is there");
    assert_eq!(left.finished(), 10);
    assert!(left.count(|o| o == Outcome::Failed(Failure::Connection)) >= 10);
    assert!(left.count(|o| o == Outcome::Failed(Failure::Dial)) >= 1);
}

#[test]
fn a_rejected_upload_fails_before_it_is_complete() {
    let over = std::sync::Arc::new(AtomicBool::new(false));
    let ending = std::sync::Arc::clone(&over);
    let server = Scripted::start(move |talk, _| {
        use std::io::Read;
        let mut piece = [0; 1000];
        talk.stream.read_exact(&mut piece[..100])?;
        talk.say(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")?;
        // Reads no more; closing the connection now would discard the response.
        while !ending.load(Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Ok(())
    });
    let config = upload(ByteSize::from_gib(1));
    let left = drive_one(&server.target(), config, 200, SETTLE);
    over.store(true, Ordering::SeqCst);
    assert_eq!(
        left.count(|o| o == Outcome::Failed(Failure::Answer)),
        1,
        "{:?}",
        left.operations
    );
    assert!(left.bytes() < 1 << 30);
}
