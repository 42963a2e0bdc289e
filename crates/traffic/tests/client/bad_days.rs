//! Servers that fail, lie or vanish.

use crate::util::{Scripted, Talk, asked, calls, drive_one, new_calls};
use netburn_traffic::client::Target;
use netburn_units::{ByteSize, Duration};
use netburn_workload::{Config, Failure, Outcome};
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Drives small requests at a server with this script, which answers none of them well.
fn all_fail(why: Failure, script: impl Fn(&mut Talk) -> std::io::Result<()> + Send + Sync + 'static) {
    let server = Scripted::start(move |talk, _| {
        while talk.request()?.is_some() {
            script(talk)?;
        }
        Ok(())
    });
    for config in [calls(1000, 20), new_calls(1000, 20)] {
        let left = drive_one(&server.target(), config, 200, 3000);
        assert_eq!(left.operations.len(), 10);
        assert_eq!(left.count(|o| o == Outcome::Failed(why)), 10, "{:?}", left.operations);
    }
}

#[test]
fn nobody_listens() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let left = drive_one(&Target::new(gone), calls(1000, 20), 200, 1000);
    assert_eq!(left.count(|o| o == Outcome::Failed(Failure::Dial)), 10);
    let left = drive_one(&Target::new(gone), Config::download(), 200, 1000);
    assert_eq!(
        left.count(|o| o == Outcome::Failed(Failure::Dial)),
        1,
        "it waits before it tries again"
    );
}

#[test]
fn options_that_the_kernel_refuses_fail_the_dial() {
    let server = Scripted::start(|_, _| Ok(()));
    let mut target = server.target();
    target.interface = Some("no-such-device".into());
    let left = drive_one(&target, calls(1000, 20), 100, 1000);
    assert_eq!(left.count(|o| o == Outcome::Failed(Failure::Dial)), 5);
    let mut target = server.target();
    target.cc = Some("no-such-thing".into());
    let left = drive_one(&target, calls(1000, 20), 100, 1000);
    assert_eq!(left.count(|o| o == Outcome::Failed(Failure::Dial)), 5);
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
fn heads_without_end() {
    all_fail(Failure::Answer, |talk| {
        talk.say(b"HTTP/1.1 200 OK\r\n")?;
        (0..10_000).try_for_each(|_| talk.say(b"X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"))
    });
    all_fail(Failure::Answer, |talk| {
        talk.say(b"HTTP/1.1 200 OK\r\nX: ")?;
        talk.say(&vec![b'a'; 100_000])
    });
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
fn a_new_connection_closed_without_a_word() {
    let server = Scripted::start(|talk, _| talk.request().map(drop));
    let left = drive_one(&server.target(), calls(1000, 20), 200, 3000);
    assert_eq!(left.count(|o| o == Outcome::Failed(Failure::Connection)), 10);
}

#[test]
fn more_than_was_asked_for_spoils_the_connection_alone() {
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
    let left = drive_one(&server.target(), calls(1000, 20), 200, 3000);
    assert_eq!(left.finished(), 10);
    assert_eq!(
        server.accepted.load(Ordering::SeqCst),
        10,
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
        timeout: Duration::from_secs(2),
        ..calls(40, 50)
    };
    let left = drive_one(&server.target(), config, 400, 5000);
    assert_eq!(left.finished(), 8);
    assert_eq!(left.bytes(), 320);
    assert!(left.operations.iter().all(|o| o.first_byte < o.finished));
}

#[test]
fn a_server_that_answers_no_more_is_timed_out() {
    let server = Scripted::start(|talk, _| {
        talk.request()?;
        talk.say(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")?;
        // Until the client hangs up.
        talk.request().map(drop)
    });
    let config = Config {
        timeout: Duration::from_secs(1),
        ..calls(1000, 50)
    };
    let left = drive_one(&server.target(), config, 400, 4000);
    assert_eq!(left.count(|o| o == Outcome::TimedOut), 8, "{:?}", left.operations);
    assert!(left.operations.iter().all(|o| o.bytes == 1));
    assert_eq!(
        server.accepted.load(Ordering::SeqCst),
        8,
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
    let driving = std::thread::spawn(move || drive_one(&target, calls(1000, 10), 2000, 500));
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
fn an_upload_that_the_server_refuses_fails_before_all_is_sent() {
    let over = std::sync::Arc::new(AtomicBool::new(false));
    let ending = std::sync::Arc::clone(&over);
    let server = Scripted::start(move |talk, _| {
        use std::io::Read;
        let mut piece = [0; 1000];
        talk.stream.read_exact(&mut piece[..100])?;
        talk.say(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")?;
        // Reads no more; closing now would take the answer back.
        while !ending.load(Ordering::SeqCst) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Ok(())
    });
    let config = Config {
        object_size: ByteSize::from_gib(1),
        ..Config::upload()
    };
    let left = drive_one(&server.target(), config, 200, 3000);
    over.store(true, Ordering::SeqCst);
    assert_eq!(
        left.count(|o| o == Outcome::Failed(Failure::Answer)),
        1,
        "{:?}",
        left.operations
    );
    assert!(left.bytes() < 1 << 30);
}
