//! Measured values agree with the actual events.

use crate::util::{
    Process, SETTLE, Scripted, asked, calls, drive_at, drive_one, drive_until, new_calls, runtime, upload, wait_until,
};
use netburn_record::EventKind;
use netburn_traffic::client::{Resource, Target};
use netburn_traffic::clock::RunClock;
use netburn_traffic::drive::{CancelHandle, CancelToken, Load, drive};
use netburn_units::{BitRate, ByteSize, Duration, Instant, Seed};
use netburn_workload::config::{Grid, Requests};
use netburn_workload::kinds::{Pages, Stream};
use netburn_workload::{Config, Operation, Outcome, PlayerConfig, Workload};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// No operation is due during the standstill, so it does not appear as lateness.
#[test]
fn a_standstill_is_detected_without_due_operations() {
    let nginx = Process::nginx();
    nginx.object("bytes/20000", 20_000);
    let end = Instant::from_millis(1_000);
    let load = Load {
        station: 0,
        workload: 0,
        machine: Workload::new(calls(20_000, 10_000), Instant::ZERO, end, end, Seed(5), 0),
        target: Arc::new(Target::new(nginx.address)),
    };
    let (rows, _received) = tokio::sync::mpsc::unbounded_channel();
    let (report, ()) = runtime().block_on(async {
        tokio::join!(
            drive(vec![load], RunClock::starting_now(), rows, CancelToken::never()),
            async {
                tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                std::thread::sleep(std::time::Duration::from_millis(250));
            }
        )
    });
    // The driver checks every 20 ms.
    assert!(report.standstill_us_max >= 230_000.0, "{report:?}");
}

/// A station without a workload ends at once. The start of its thread is no load: its share of such a short time would be
/// that of a busy processor.
#[test]
fn a_driver_without_work_is_not_busy() {
    for _ in 0..20 {
        let (rows, _received) = tokio::sync::mpsc::unbounded_channel();
        let drive = drive(Vec::new(), RunClock::starting_now(), rows, CancelToken::never());
        let report = runtime().block_on(drive);
        assert_eq!(report.cpu, 0.0, "{report:?}");
    }
}

#[test]
fn operations_and_bytes_are_those_of_nginx_s_log() {
    let nginx = Process::nginx();
    nginx.object("bytes/20000", 20_000);
    let target = Target::new(nginx.address);
    let left = drive_one(&target, calls(20_000, 10), 1000, SETTLE);
    left.expect_all(100, Outcome::Finished);
    let log = nginx.log();
    assert_eq!(log.len(), left.finished());
    assert!(
        log.iter()
            .all(|line| (line.0.as_str(), line.2, line.3) == ("GET", 200, 20_000)),
        "{log:?}"
    );
    let moved: u64 = log.iter().map(|line| line.3).sum();
    assert_eq!(left.bytes(), moved);
    assert_eq!(left.intervals.iter().map(|row| row.bytes_down).sum::<u64>(), moved);
    assert_eq!(left.report.bytes_down, moved);
    assert!(left.intervals.iter().all(|row| (row.station, row.workload) == (3, 1)));
    let is_finished = |o: &&Operation| o.outcome == Outcome::Finished;
    for operation in left.operations.iter().filter(is_finished) {
        assert!(operation.due <= operation.started.unwrap());
        assert!(operation.started < operation.first_byte && operation.first_byte <= operation.finished);
    }
    // The first request opens the connection, later ones reuse it. More than one is open only if requests run at once.
    let first = left.operations.iter().filter(is_finished).min_by_key(|o| o.started);
    assert!(first.unwrap().connected.is_some());
    let mut received = BTreeMap::new();
    for row in &left.connections {
        let most = received.entry(row.port).or_insert(0);
        *most = row.bytes_received.max(*most);
    }
    assert!(received.len() <= left.most_at_once(), "{received:?}");
    assert!(received.values().sum::<u64>() >= moved / 2, "{:?}", left.connections);
}

#[test]
fn a_page_of_ten_objects_uses_ten_connections() {
    let nginx = Process::nginx();
    nginx.object("bytes/131072", 131_072);
    let target = Target::new(nginx.address);
    let config = Config::with(|pages: &mut Pages| pages.grid = Grid::regular(Duration::from_millis(300)));
    let left = drive_one(&target, config, 1500, SETTLE);
    // A page that waits for the previous one too long is not started.
    assert_eq!(left.operations.len(), 5);
    assert!(left.started() > 0);
    assert_eq!(left.finished(), left.started());
    assert!(
        left.operations
            .iter()
            .filter(|o| o.outcome == Outcome::Finished)
            .all(|o| o.bytes == 1_310_720 && o.connected.is_some())
    );
    assert_eq!(nginx.log().len(), 10 * left.finished());
    // At most ten samples of closing connections per second.
    assert!((1..=30).contains(&left.connections.len()), "{}", left.connections.len());
}

#[test]
fn python_s_server_closes_every_connection_and_nothing_is_lost() {
    let python = Process::python();
    python.object("bytes/3000", 3000);
    let left = drive_one(&Target::new(python.address), calls(3000, 20), 400, SETTLE);
    left.expect_all(20, Outcome::Finished);
    let dialled = left.operations.iter().filter(|o| o.connected.is_some()).count();
    assert_eq!(dialled, left.started());
}

#[test]
fn a_closed_idle_connection_is_replaced_silently() {
    let server = Scripted::start(|talk, _| {
        let head = talk.request()?.unwrap();
        talk.answer(asked(&head))
    });
    let left = drive_one(&server.target(), calls(100, 20), 400, SETTLE);
    left.expect_all(20, Outcome::Finished);
    assert_eq!(server.accepted.load(Ordering::SeqCst), left.started() as u64);
}

#[test]
fn chunked_and_close_delimited_content_is_counted() {
    for case in ["chunked", "close", "interim"] {
        let server = Scripted::start(move |talk, _| {
            while talk.request()?.is_some() {
                match case {
                    "chunked" => {
                        talk.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n")?;
                        let chunk = [b"8000\r\n".as_slice(), &[b'x'; 0x8000], b"\r\n0\r\nTrailer: t\r\n\r\n"].concat();
                        chunk.chunks(5000).try_for_each(|piece| talk.say(piece))?;
                    }
                    "close" => {
                        talk.say(b"HTTP/1.0 200 OK\r\n\r\n")?;
                        return talk.say(&[b'x'; 0x8005]);
                    }
                    _ => {
                        talk.say(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")?;
                        talk.answer(0x8005)?;
                    }
                }
            }
            Ok(())
        });
        let left = drive_one(&server.target(), calls(0x8005, 50), 500, SETTLE);
        left.expect_all(10, Outcome::Finished);
        assert_eq!(left.bytes(), left.started() as u64 * 0x8005, "{case}");
        let accepted = server.accepted.load(Ordering::SeqCst) as usize;
        // Simultaneous requests need one connection each.
        let closes = case == "close";
        let most = if closes { left.started() } else { left.most_at_once() };
        assert!(
            accepted <= most && (!closes || accepted == most),
            "{case}: {accepted} connections, at most {most}"
        );
    }
}

#[test]
fn an_upload_is_counted_as_it_arrives() {
    let server = Scripted::start(|talk, _| {
        while let Some(head) = talk.request()? {
            assert!(head.starts_with("POST /sink?progress=104 HTTP/1.1\r\n"));
            talk.answer(2)?;
        }
        Ok(())
    });
    let config = upload(ByteSize::from_mib(3));
    let left = drive_one(&server.target(), config, 1500, SETTLE);
    // Another one begins, unless the driver stood still until the end.
    assert!(left.finished() >= 2 || left.report.standstill_us_max > 500_000.0);
    let finished = left.operations.iter().filter(|o| o.outcome == Outcome::Finished);
    assert!(finished.clone().all(|o| o.bytes == 3 << 20));
    assert!(finished.clone().all(|o| o.first_byte.is_some()));
    assert_eq!(left.intervals.iter().map(|row| row.bytes_up).sum::<u64>(), left.bytes());
    assert_eq!(left.report.bytes_up, left.bytes());
    assert_eq!(server.accepted.load(Ordering::SeqCst), 1);
}

/// The server pauses for 2 s from the eighth request on. Eight requests may be outstanding.
#[test]
fn a_stall_is_in_the_tail_at_its_full_length_and_in_all_that_was_due_during_it() {
    const PAUSE: std::time::Duration = std::time::Duration::from_secs(2);
    let pause = Arc::new(OnceLock::new());
    let (count, pausing) = (AtomicU64::new(0), Arc::clone(&pause));
    let server = Scripted::start(move |talk, _| {
        while let Some(head) = talk.request()? {
            if count.fetch_add(1, Ordering::SeqCst) >= 7 {
                let end = *pausing.get_or_init(std::time::Instant::now) + PAUSE;
                std::thread::sleep(end.saturating_duration_since(std::time::Instant::now()));
            }
            talk.answer(asked(&head))?;
        }
        Ok(())
    });
    let clock = RunClock::starting_now();
    let left = drive_at(
        &server.target(),
        Config::voip(),
        6_000,
        SETTLE,
        clock,
        CancelToken::never(),
    );
    let begun = *pause.get().unwrap();
    let (from, until) = (clock.at(begun), clock.at(begun + PAUSE));
    // Each counts from its due time to at least the end of the pause.
    let during: Vec<_> = left
        .operations
        .iter()
        .filter(|o| (from..until).contains(&o.due))
        .collect();
    let (finished, missed): (Vec<&Operation>, Vec<&Operation>) =
        during.iter().partition(|o| o.outcome == Outcome::Finished);
    for operation in &finished {
        assert!(operation.finished.unwrap() >= until, "{operation:?}");
    }
    assert!(missed.iter().all(|o| o.outcome == Outcome::NotStarted), "{missed:?}");
    // After a standstill, requests that were due earlier start in the pause, and it may last longer than the load.
    if left.report.standstill_us_max < 100_000.0 {
        // 2 s contain 15 periods of 131 ms. A few of the eight may have been due before the pause.
        assert!(finished.len() >= 5 && missed.len() >= 5, "{during:?}");
        // The first affected request was due within one period of the start of the pause.
        let worst = left.operations.iter().filter_map(|o| o.latency()).max().unwrap();
        assert!(worst >= Duration::from_millis(2000 - 132), "{worst}");
    }
    // If the driver was on time, it missed none of them.
    if left.report.lateness_us_max < 10_000.0 {
        assert_eq!(left.report.missed_sends, 0, "the network was not in time");
    }
}

#[test]
fn a_player_that_runs_dry_leaves_an_event() {
    let server = Scripted::start(|talk, _| {
        let mut count = 0;
        while let Some(head) = talk.request()? {
            count += 1;
            if count == 4 {
                std::thread::sleep(std::time::Duration::from_millis(600));
            }
            talk.answer(asked(&head))?;
        }
        Ok(())
    });
    let config = Config::from(Stream {
        requests: Requests::kept(ByteSize::from_bytes(12_500)),
        grid: Grid::regular(Duration::from_millis(50)),
        player: Some(PlayerConfig {
            start: Duration::from_millis(100),
            rate: BitRate::from_mbps(1),
            max_buffer: Duration::from_secs(10),
        }),
    });
    let left = drive_one(&server.target(), config, 1500, SETTLE);
    let stalls: Vec<_> = left
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Stall)
        .collect();
    assert!(!stalls.is_empty(), "{:?}", left.events);
    assert!(stalls.iter().all(|stall| stall.length > 0 && stall.at > Instant::ZERO));
}

#[test]
fn cancelling_settles_everything_at_once() {
    let server = Scripted::start(|talk, _| {
        talk.request()?;
        // Never answered: the client closes the connection on cancellation.
        talk.request().map(drop)
    });
    let (stopper, stop) = CancelHandle::new();
    let config = Config {
        timeout: Duration::from_secs(300),
        ..new_calls(100, 10)
    };
    let accepted = std::sync::Arc::clone(&server.accepted);
    let stopping = std::thread::spawn(move || {
        // Until a request is running.
        wait_until(|| accepted.load(Ordering::SeqCst) > 0);
        stopper.stop();
    });
    let left = drive_until(&server.target(), config, 300_000, 300_000, stop);
    stopping.join().unwrap();
    assert_eq!(left.finished(), 0);
    assert!(left.count(|o| matches!(o, Outcome::Cut | Outcome::Unfinished)) >= 1);
    assert_eq!(left.count(|o| matches!(o, Outcome::Failed(_))), 0);
    assert_eq!(left.report.operations, left.operations.len() as u64);
}

#[test]
fn any_url_is_fetched_as_it_is() {
    let nginx = Process::nginx();
    nginx.object("object", 777);
    let mut target = Target::new(nginx.address);
    target.resource = Resource::Get("/object?x".into());
    let left = drive_one(&target, calls(1, 20), 200, SETTLE);
    left.expect_all(10, Outcome::Finished);
    assert_eq!(left.bytes(), left.started() as u64 * 777);
    target.resource = Resource::Head("/object".into());
    let left = drive_one(&target, calls(1, 20), 200, SETTLE);
    left.expect_all(10, Outcome::Finished);
    assert_eq!(left.bytes(), 0);
    let answered = left.operations.iter().filter(|o| o.first_byte.is_some());
    assert_eq!(answered.count(), left.started());
}
