//! Actions of an alert: a command, and a request to a URL. Each is repeated a few times, and never stops the watch.

use crate::terminal::eprint_message;
use netburn_report::sanitise::sanitise;
use netburn_traffic::client::{Target, Trust, post};
use netburn_traffic::fetch::Url;
use netburn_watch::retry;
use serde_json::json;
use std::collections::VecDeque;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::LocalSet;

/// Time limit of one attempt.
const LIMIT: Duration = Duration::from_secs(30);
/// Maximum number of notices that wait. Further ones are dropped, which is printed.
const MAX_WAITING: usize = 100;
/// Maximum number of notices that are kept after their attempts failed. The oldest ones are dropped.
const MAX_KEPT: usize = 20;

/// State of a notice of the start of an alert.
pub(super) const START: &str = "start";

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
fn start<F>(name: &'static str, attempt: impl Fn(Arc<Notice>) -> F + Send + Sync + 'static) -> Sender<Arc<Notice>>
where
    F: Future<Output = Result<(), String>> + Send,
{
    let (queue, mut notices) = channel::<Arc<Notice>>(MAX_WAITING);
    tokio::spawn(async move {
        let mut kept = Kept::default();
        while let Some(notice) = notices.recv().await {
            let mut failed = 0;
            while let Err(why) = kept.attempt(&notice, &attempt).await {
                failed += 1;
                let pause = retry::pause(failed);
                let then = match pause {
                    Some(pause) => format!("again in {pause}"),
                    None => "again before the next alert".to_owned(),
                };
                eprint_message(&format!("{name} failed: {}; {then}", sanitise(&why)));
                match pause {
                    Some(pause) => tokio::time::sleep(Duration::from_nanos(pause.as_nanos())).await,
                    None => {
                        kept.keep(notice);
                        break;
                    }
                }
            }
        }
    });
    queue
}

/// Notices whose attempts all failed, the oldest first: those of an outage that the network itself had. They are delivered
/// before the next notice, so that the end of an alert does not arrive without its start.
#[derive(Default)]
struct Kept(VecDeque<Arc<Notice>>);

impl Kept {
    /// Keeps a notice. A later start of the same rule replaces the notices before it.
    fn keep(&mut self, notice: Arc<Notice>) {
        if notice.state == START {
            self.0.retain(|kept| kept.rule != notice.rule);
        }
        self.0.push_back(notice);
        while self.0.len() > MAX_KEPT {
            self.0.pop_front();
        }
    }

    /// Attempts the kept notices until one fails, and then `notice`, whose result this is. A command can fail at each start
    /// of an alert, and this must not prevent the end.
    async fn attempt<F>(&mut self, notice: &Arc<Notice>, attempt: &impl Fn(Arc<Notice>) -> F) -> Result<(), String>
    where
        F: Future<Output = Result<(), String>> + Send,
    {
        while let Some(first) = self.0.front() {
            if attempt(Arc::clone(first)).await.is_err() {
                break;
            }
            self.0.pop_front();
        }
        attempt(Arc::clone(notice)).await?;
        // What came before is out of date.
        self.0.retain(|kept| kept.rule != notice.rule);
        Ok(())
    }
}

/// Runs the command. The values are in its environment only, so that a shell can't interpret them.
async fn execute(command: String, notice: Arc<Notice>) -> Result<(), String> {
    execute_within(&command, &notice, LIMIT).await
}

async fn execute_within(command: &str, notice: &Notice, limit: Duration) -> Result<(), String> {
    let mut shell = super::shell::shell(command);
    shell.envs(notice.variables());
    for secret in [super::EXEC, super::WEBHOOK] {
        shell.env_remove(secret);
    }
    // A time-out ends the shell and all that it started.
    shell.stdin(Stdio::null()).kill_on_drop(true);
    let mut child = shell.spawn().map_err(|error| error.to_string())?;
    let group = Group(child.id());
    match tokio::time::timeout(limit, child.wait()).await {
        Ok(Ok(status)) => {
            group.release();
            if status.success() {
                Ok(())
            } else {
                Err(status.to_string())
            }
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("the command did not end within {limit:?}")),
    }
}

/// Processes of a command, which are killed on drop.
struct Group(Option<u32>);

impl Group {
    /// Lets the processes live: those that a command leaves behind on purpose.
    fn release(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(first) = self.0 {
            super::shell::kill_all(first);
        }
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

    /// True if the process runs. A zombie has ended.
    #[cfg(target_os = "linux")]
    fn runs(id: &str) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    }

    /// The command and its children end with its time, and those of a command that ends in time stay.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_command_that_takes_too_long_leaves_no_process() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("id");
        let id = || std::fs::read_to_string(&file).unwrap().trim().to_owned();
        let begin = format!("sleep 60 & echo $! > '{}'", file.display());
        let limit = Duration::from_secs(1);
        let ended = runtime().block_on(execute_within(&format!("{begin}; wait"), &notice(), limit));
        assert_eq!(ended, Err("the command did not end within 1s".to_owned()));
        let end = std::time::Instant::now() + Duration::from_secs(10);
        while runs(&id()) {
            assert!(std::time::Instant::now() < end, "the process {} runs", id());
            std::thread::sleep(Duration::from_millis(10));
        }
        let limit = Duration::from_secs(30);
        assert_eq!(runtime().block_on(execute_within(&begin, &notice(), limit)), Ok(()));
        assert!(runs(&id()));
        let killed = std::process::Command::new("kill").arg(id()).status();
        assert!(killed.unwrap().success());
    }

    fn of_rule(rule: &str, state: &'static str) -> Arc<Notice> {
        Arc::new(Notice {
            state,
            rule: rule.to_owned(),
            ..(*notice()).clone()
        })
    }

    /// Attempts a notice, with an action that fails for `failing`. Returns the states and rules that it delivered.
    fn delivered(kept: &mut Kept, notice: &Arc<Notice>, failing: &str) -> (bool, Vec<String>) {
        let done = std::sync::Mutex::new(Vec::new());
        let attempt = |notice: Arc<Notice>| {
            let name = format!("{} {}", notice.state, notice.rule);
            let result = if failing == "all" || name == failing {
                Err("it fails".to_owned())
            } else {
                done.lock().unwrap().push(name);
                Ok(())
            };
            std::future::ready(result)
        };
        let result = runtime().block_on(kept.attempt(notice, &attempt));
        (result.is_ok(), done.into_inner().unwrap())
    }

    #[test]
    fn a_start_that_was_not_delivered_comes_before_its_end() {
        let mut kept = Kept::default();
        for (rule, state) in [("a", "start"), ("a", "end"), ("b", "start"), ("a", "start")] {
            let notice = of_rule(rule, state);
            assert_eq!(delivered(&mut kept, &notice, "all"), (false, vec![]));
            kept.keep(notice);
        }
        let expected = ["start b", "start a", "end a"].map(str::to_owned).to_vec();
        assert_eq!(delivered(&mut kept, &of_rule("a", "end"), ""), (true, expected));
        assert!(kept.0.is_empty());
    }

    #[test]
    fn a_start_that_always_fails_does_not_prevent_the_end() {
        let mut kept = Kept::default();
        kept.keep(of_rule("a", "start"));
        let end = of_rule("a", "end");
        assert_eq!(delivered(&mut kept, &end, "start a"), (true, vec!["end a".to_owned()]));
        assert!(kept.0.is_empty());
    }

    #[test]
    fn kept_notices_have_a_bound() {
        let mut kept = Kept::default();
        for number in 0..100 {
            kept.keep(of_rule(&number.to_string(), "start"));
        }
        assert_eq!(kept.0.len(), MAX_KEPT);
        assert_eq!(kept.0.back().unwrap().rule, "99");
    }
}
