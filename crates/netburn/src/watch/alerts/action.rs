//! Actions of an alert: a command, and a request to a URL. Each is repeated a few times, and never stops the watch.

use crate::terminal::eprint_message;
use netburn_report::sanitise::sanitise;
use netburn_traffic::client::{Target, Trust, post};
use netburn_traffic::fetch::Url;
use netburn_watch::retry;
use serde_json::json;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::LocalSet;

/// Time limit of one attempt.
const LIMIT: Duration = Duration::from_secs(30);
/// Maximum number of notices that wait. Further ones are dropped, which is printed.
const MAX_WAITING: usize = 100;

/// Start or end of an alert, as actions describe it.
#[derive(Debug, Clone)]
pub(super) struct Notice {
    /// `start` or `end`.
    pub(super) state: &'static str,
    /// Text of the rule.
    pub(super) rule: String,
    /// Value with its unit; `None` for a cause.
    pub(super) value: Option<String>,
    /// Part of the way; `None` for a cause.
    pub(super) part: Option<&'static str>,
    /// Time in UTC (RFC 3339).
    pub(super) at: String,
    /// Folder of the hour whose analysis named the cause.
    pub(super) hour: Option<String>,
}

impl Notice {
    /// One line.
    pub(super) fn line(&self) -> String {
        let value = self
            .value
            .as_ref()
            .map(|value| format!(", value {value}"))
            .unwrap_or_default();
        format!("alert {}: {}{value}", self.state, self.rule)
    }

    fn variables(&self) -> [(&'static str, &str); 6] {
        [
            ("NETBURN_ALERT_STATE", self.state),
            ("NETBURN_ALERT_RULE", &self.rule),
            ("NETBURN_ALERT_VALUE", self.value.as_deref().unwrap_or_default()),
            ("NETBURN_ALERT_PART", self.part.unwrap_or_default()),
            ("NETBURN_ALERT_TIME", &self.at),
            ("NETBURN_ALERT_HOUR", self.hour.as_deref().unwrap_or_default()),
        ]
    }

    /// The document for a URL. `text` is what chat systems show.
    fn document(&self) -> String {
        let document = json!({
            "schema": "netburn.alert/1",
            "text": format!("netburn: {}", self.line()),
            "state": self.state,
            "rule": self.rule,
            "value": self.value,
            "part": self.part,
            "time": self.at,
            "hour": self.hour,
        });
        document.to_string()
    }
}

/// The actions of all rules. Those of one kind are performed in order, one at a time.
pub(super) struct Action {
    queues: Vec<(&'static str, Sender<Arc<Notice>>)>,
}

impl Action {
    /// Actions of this command and this URL.
    pub(super) fn new(exec: Option<String>, webhook: Option<Url>) -> Action {
        let mut queues = Vec::new();
        if let Some(command) = exec {
            queues.push((
                "--exec",
                start("--exec", move |notice| execute(command.clone(), notice)),
            ));
        }
        if let Some(url) = webhook {
            let url = Arc::new(url);
            queues.push((
                "--webhook",
                start("--webhook", move |notice| send(Arc::clone(&url), notice)),
            ));
        }
        Action { queues }
    }

    /// Performs the actions in the background.
    pub(super) fn perform(&self, notice: Notice) {
        let notice = Arc::new(notice);
        for (name, queue) in &self.queues {
            if queue.try_send(Arc::clone(&notice)).is_err() {
                eprint_message(&format!("{name}: too many alerts wait; this one is dropped"));
            }
        }
    }
}

/// Starts the task of one kind of action.
fn start<F>(name: &'static str, attempt: impl Fn(Arc<Notice>) -> F + Send + 'static) -> Sender<Arc<Notice>>
where
    F: Future<Output = Result<(), String>> + Send,
{
    let (queue, mut notices) = channel::<Arc<Notice>>(MAX_WAITING);
    tokio::spawn(async move {
        while let Some(notice) = notices.recv().await {
            let mut failed = 0;
            while let Err(why) = attempt(Arc::clone(&notice)).await {
                failed += 1;
                let pause = retry::pause(failed);
                let then = match pause {
                    Some(pause) => format!("again in {pause}"),
                    None => "given up".to_owned(),
                };
                eprint_message(&format!("{name} failed: {}; {then}", sanitise(&why)));
                match pause {
                    Some(pause) => tokio::time::sleep(Duration::from_nanos(pause.as_nanos())).await,
                    None => break,
                }
            }
        }
    });
    queue
}

/// Runs the command. The values are in its environment only, so that a shell can't interpret them.
async fn execute(command: String, notice: Arc<Notice>) -> Result<(), String> {
    let mut child = tokio::process::Command::new("sh");
    child.args(["-c", &command]).envs(notice.variables());
    child.stdin(Stdio::null()).kill_on_drop(true);
    match tokio::time::timeout(LIMIT, child.status()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(status.to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("the command did not end within {} s", LIMIT.as_secs())),
    }
}

/// Sends the document. Connections stay on one thread, so that each attempt has a thread of its own.
async fn send(url: Arc<Url>, notice: Arc<Notice>) -> Result<(), String> {
    send_within(url, notice, LIMIT).await
}

async fn send_within(url: Arc<Url>, notice: Arc<Notice>, limit: Duration) -> Result<(), String> {
    let sent = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let ended = LocalSet::new().block_on(&runtime, tokio::time::timeout(limit, request(&url, &notice)));
        runtime.shutdown_background();
        ended.unwrap_or_else(|_| Err(format!("no answer within {limit:?}")))
    });
    sent.await.map_err(|error| error.to_string())?
}

async fn request(url: &Url, notice: &Notice) -> Result<(), String> {
    let host = url.host.trim_start_matches('[').trim_end_matches(']');
    let found = tokio::net::lookup_host((host, url.port)).await;
    let mut found = found.map_err(|error| format!("can't resolve `{host}`: {error}"))?;
    let address = found
        .next()
        .ok_or_else(|| format!("can't resolve `{host}`: no address"))?;
    let target = Target {
        host: url.host.clone(),
        tls: url.secure.then_some(Trust::SystemRoots),
        ..Target::new(address)
    };
    let status = post(&target, &url.path, "application/json", notice.document().as_bytes()).await;
    match status.map_err(|error| error.to_string())? {
        200..=299 => Ok(()),
        status => Err(format!("found the status {status}, expected 200 to 299")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    fn notice() -> Arc<Notice> {
        Arc::new(Notice {
            state: "start",
            rule: "server p95 > 100 ms for 5 min".to_owned(),
            value: Some("$(false) \"; exit 9".to_owned()),
            part: Some("server"),
            at: "2026-12-01T14:00:00Z".to_owned(),
            hour: None,
        })
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap()
    }

    /// Sends a notice to a server that sends `answer` and then does nothing. Returns the result and the request.
    fn sent(answer: &[u8], closes: bool) -> (Result<(), String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url: Url = format!("http://{}/hook?a=b", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let answer = answer.to_vec();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            while !request.ends_with(b"}") {
                match stream.read(&mut piece) {
                    Ok(0) | Err(_) => break,
                    Ok(count) => request.extend_from_slice(&piece[..count]),
                }
            }
            // The client may be gone before it has read a long answer.
            let _ = stream.write_all(&answer);
            if !closes {
                // Until the client closes.
                let _ = stream.read(&mut piece);
            }
            String::from_utf8(request).unwrap()
        });
        let limit = Duration::from_millis(500);
        let result = runtime().block_on(send_within(Arc::new(url), notice(), limit));
        (result, server.join().unwrap())
    }

    #[test]
    fn a_document_is_sent_to_the_url() {
        let (result, request) = sent(b"HTTP/1.1 204 No Content\r\n\r\n", true);
        assert_eq!(result, Ok(()));
        let (head, content) = request.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with("POST /hook?a=b HTTP/1.1\r\nHost: 127.0.0.1:"),
            "{head}"
        );
        assert!(
            head.contains(&format!("\r\nContent-Length: {}\r\n", content.len())),
            "{head}"
        );
        let document: serde_json::Value = serde_json::from_str(content).unwrap();
        assert_eq!(document["state"], "start");
        assert_eq!(document["value"], "$(false) \"; exit 9");
    }

    #[test]
    fn a_hostile_server_is_an_error() {
        let long = vec![b'x'; 1 << 20];
        let cases: [(&[u8], bool, &str); 6] = [
            (b"", false, "no answer within"),
            (b"", true, "closed before a status line"),
            (
                b"HTTP/1.1 500 Internal Server Error\r\n\r\n",
                true,
                "found the status 500",
            ),
            (
                b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n",
                true,
                "found the status 302",
            ),
            (b"\x00\xff garbage\n", false, "no status line"),
            (&long, false, "no status line"),
        ];
        for (answer, closes, expected) in cases {
            let (result, _) = sent(answer, closes);
            let why = result.unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }

    /// The shell expands the variable once, and runs nothing in it.
    #[test]
    fn a_value_is_not_a_command() {
        let run = |command: &str| runtime().block_on(execute(command.to_owned(), notice()));
        assert_eq!(run("test \"$NETBURN_ALERT_VALUE\" = '$(false) \"; exit 9'"), Ok(()));
        assert_eq!(
            run("test \"$NETBURN_ALERT_STATE\" = start && test -z \"$NETBURN_ALERT_HOUR\""),
            Ok(())
        );
        assert!(run("exit 3").unwrap_err().contains('3'));
    }
}
