//! A real, headless browser, driven over WebDriver (W3C) by Chromium's driver.

use crate::support::{Bench, Running, is_root, start, test_tools};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Longer than any page takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A browser with one window of a phone's size. Its processes end when it is dropped.
pub(crate) struct Browser {
    driver: Running,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts a browser that writes all its files to the bench's folder.
    pub(crate) fn start(bench: &Bench) -> Browser {
        let phone = json!({
            "deviceMetrics": { "width": 390, "height": 844, "pixelRatio": 2.0 },
            "userAgent": "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome Mobile Safari/537.36",
        });
        Browser::with(bench, Some(&phone), &[])
    }

    /// The same with a window of a desktop's size.
    pub(crate) fn desk(bench: &Bench) -> Browser {
        Browser::with(bench, None, &["--window-size=1100,1500"])
    }

    /// The same with a window of a laptop's size.
    pub(crate) fn laptop(bench: &Bench) -> Browser {
        Browser::with(bench, None, &["--window-size=1280,900"])
    }

    fn with(bench: &Bench, emulated: Option<&Value>, more: &[&str]) -> Browser {
        let driver = driver(bench);
        let mut browser = Browser {
            port: port(&driver.stdout_so_far()).unwrap(),
            driver,
            session: String::new(),
        };
        let mut arguments = vec![
            "--headless=new".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--hide-scrollbars".to_owned(),
            format!("--user-data-dir={}", bench.path("browser").join("profile").display()),
        ];
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        if is_root() {
            arguments.push("--no-sandbox".to_owned());
        }
        let mut options = json!({ "args": arguments });
        if let Some(emulated) = emulated {
            options["mobileEmulation"] = emulated.clone();
        }
        let capabilities = json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let opened = browser.ask("POST", "", &json!({ "capabilities": { "alwaysMatch": capabilities } }));
        browser.session = format!("/{}", opened["sessionId"].as_str().unwrap());
        browser
    }

    pub(crate) fn open(&self, url: &str) {
        self.ask("POST", "/url", &json!({ "url": url }));
    }

    pub(crate) fn reload(&self) {
        self.ask("POST", "/refresh", &json!({}));
    }

    /// Runs a function with this body and returns its result.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.ask("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script in each page that is loaded later, before its own scripts.
    pub(crate) fn run_first(&self, script: &str) {
        let parameters = json!({ "source": script });
        let command = json!({ "cmd": "Page.addScriptToEvaluateOnNewDocument", "params": parameters });
        self.ask("POST", "/goog/cdp/execute", &command);
    }

    pub(crate) fn click(&self, selector: &str) {
        // A page that scrolls smoothly may still be moving when the click arrives.
        let there = "scrollIntoView({ block: 'center', behavior: 'instant' })";
        let mut tries = 0;
        loop {
            self.run(&format!("document.querySelector({selector:?})?.{there}"));
            let element = self.element(selector);
            let Err(error) = self.try_ask("POST", &format!("/element/{element}/click"), &json!({})) else {
                return;
            };
            // The page replaced or moved the element in between: nothing was clicked.
            tries += 1;
            let moved = ["stale element reference", "element click intercepted"];
            assert!(
                tries < 5 && moved.iter().any(|moved| error["error"] == *moved),
                "{selector}: {error}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Replaces the text of a field.
    pub(crate) fn write(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.ask("POST", &format!("/element/{element}/clear"), &json!({}));
        self.ask("POST", &format!("/element/{element}/value"), &json!({ "text": text }));
    }

    /// The visible text of the page.
    pub(crate) fn text(&self) -> String {
        self.run("return document.body.innerText").as_str().unwrap().to_owned()
    }

    /// The text of one element.
    pub(crate) fn text_of(&self, selector: &str) -> String {
        let script = format!("return document.querySelector({selector:?}).textContent");
        self.run(&script).as_str().unwrap().to_owned()
    }

    /// Waits until the page's text contains `text`.
    pub(crate) fn wait_for(&self, what: &str) {
        self.wait_until(what, |text| text.contains(what));
    }

    /// Waits until a condition holds for the page's text.
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_so(&self.text()) {
            assert!(begun.elapsed() < LIMIT, "`{what}` is not on the page:\n{}", self.text());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Shows another tab for `span`.
    pub(crate) fn show_other_tab(&self, span: Duration) {
        let ours = self.ask("GET", "/window", &Value::Null);
        let other = self.ask("POST", "/window/new", &json!({ "type": "tab" }));
        self.ask("POST", "/window", &json!({ "handle": other["handle"] }));
        std::thread::sleep(span);
        self.ask("DELETE", "/window", &Value::Null);
        self.ask("POST", "/window", &json!({ "handle": ours }));
    }

    /// Sets the preferred colour scheme, `light` or `dark`.
    pub(crate) fn prefer(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        let command = json!({ "cmd": "Emulation.setEmulatedMedia", "params": { "features": features } });
        self.ask("POST", "/goog/cdp/execute", &command);
    }

    /// Saves a screenshot as a PNG file.
    pub(crate) fn picture(&self, path: &Path) {
        let text = self.ask("GET", "/screenshot", &Value::Null);
        std::fs::write(path, base64(text.as_str().unwrap())).unwrap();
    }

    /// Sends key presses to an element.
    pub(crate) fn press(&self, selector: &str, keys: &str) {
        let element = self.element(selector);
        self.ask("POST", &format!("/element/{element}/value"), &json!({ "text": keys }));
    }

    /// Touches a place of the window, moves the finger to another place, and lifts it. Both are in CSS pixels.
    pub(crate) fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let at = |(x, y): (f64, f64)| json!({ "type": "pointerMove", "duration": 50, "x": x.round() as i64, "y": y.round() as i64 });
        let actions =
            json!([at(from), { "type": "pointerDown", "button": 0 }, at(to), { "type": "pointerUp", "button": 0 }]);
        let finger =
            json!({ "type": "pointer", "id": "finger", "parameters": { "pointerType": "touch" }, "actions": actions });
        self.ask("POST", "/actions", &json!({ "actions": [finger] }));
    }

    /// Prints the page to a PDF file.
    pub(crate) fn print(&self, path: &Path) {
        let text = self.ask("POST", "/print", &json!({ "page": { "width": 21.0, "height": 29.7 } }));
        std::fs::write(path, base64(text.as_str().unwrap())).unwrap();
    }

    /// Error messages on the browser's console. Those of the browser's own first page, which is slow on a busy machine, are
    /// left out.
    pub(crate) fn console_errors(&self) -> Vec<String> {
        let list = self.ask("POST", "/se/log", &json!({ "type": "browser" }));
        let list = list.as_array().unwrap().iter();
        list.map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .filter(|message| !message.starts_with("chrome://new-tab-page"))
            .collect()
    }

    /// Faults of the page that axe-core calls serious or critical, each with its elements.
    pub(crate) fn accessibility_faults(&self) -> Vec<String> {
        self.run(&std::fs::read_to_string(axe_core()).unwrap());
        let script = "return axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations\
                      .filter(({ impact }) => impact === 'serious' || impact === 'critical')\
                      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`))";
        serde_json::from_value(self.run(script)).unwrap()
    }

    fn element(&self, selector: &str) -> String {
        let found = self.ask(
            "POST",
            "/element",
            &json!({ "using": "css selector", "value": selector }),
        );
        let (_, id) = found.as_object().and_then(|map| map.iter().next()).unwrap();
        id.as_str().unwrap().to_owned()
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.try_ask(method, path, body);
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}\n{}", self.driver.stderr_so_far()))
    }

    /// Returns the value in the driver's answer, or its error.
    fn try_ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let head = format!(
            "{method} /session{}{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             \r\n",
            self.session,
            body.len()
        );
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        // The driver keeps the connection open whatever the request's headers are.
        let mut stream = BufReader::new(stream);
        let (mut status, mut length) = (String::new(), 0);
        stream.read_line(&mut status).unwrap();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).unwrap();
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap()
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        let mut answer: Value = serde_json::from_slice(&body).unwrap();
        let value = answer["value"].take();
        if status.contains(" 200 ") {
            Ok(value)
        } else {
            Err(value)
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends with its session. Remaining processes end with the driver.
        if !self.session.is_empty() && !std::thread::panicking() {
            self.ask("DELETE", "", &Value::Null);
        }
    }
}

/// Starts a driver, and waits for the line in which it prints its port. It chooses a port that is free over one
/// version of IP. If the port is in use over the other version, the driver exits and is started again.
fn driver(bench: &Bench) -> Running {
    let home = bench.path("browser");
    std::fs::create_dir_all(&home).unwrap();
    for _ in 0..20 {
        let mut command = Command::new("chromedriver");
        command.arg("--port=0");
        for variable in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env(variable, &home);
        }
        let mut driver = start(bench.prepared(command));
        if driver.wait_until_or_exit(|driver| port(&driver.stdout_so_far()).is_some()) {
            return driver;
        }
    }
    panic!("no driver finds a port");
}

fn port(printed: &str) -> Option<u16> {
    let (_, rest) = printed.split_once("started successfully on port ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The script that scripts/install-test-needs installs.
fn axe_core() -> PathBuf {
    let files = std::fs::read_dir(test_tools())
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_script = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "js");
    files.into_iter().find(is_script).expect("scripts/install-test-needs")
}

/// Decodes Base64 (RFC 4648 §4).
fn base64(text: &str) -> Vec<u8> {
    data_encoding::BASE64.decode(text.as_bytes()).expect("Base64")
}
