//! A real, headless Firefox, driven over its Marionette protocol: length, colon, JSON.

use crate::support::{Bench, Running, start};
use serde_json::{Value, json};
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

/// Longer than a start takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// A browser with one window. Its processes end when it is dropped.
pub(crate) struct Firefox {
    stream: BufReader<TcpStream>,
    number: u64,
    _browser: Running,
}

impl Firefox {
    /// Starts a browser that writes all its files to the bench's folder.
    pub(crate) fn start(bench: &Bench) -> Firefox {
        let home = bench.path("firefox");
        let profile = home.join("profile");
        std::fs::create_dir_all(&profile).unwrap();
        // Port 0: the browser writes the port that it chose into the profile.
        let preferences = [
            "\"marionette.port\", 0",
            "\"app.update.auto\", false",
            "\"network.captive-portal-service.enabled\", false",
            "\"network.connectivity-service.enabled\", false",
        ];
        let preferences: String = preferences.iter().map(|one| format!("user_pref({one});\n")).collect();
        std::fs::write(profile.join("user.js"), preferences).unwrap();
        let mut command = Command::new("firefox-esr");
        command
            .args(["--headless", "--marionette", "--no-remote", "--profile"])
            .arg(&profile);
        for variable in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env(variable, &home);
        }
        let browser = start(bench.prepared(command));
        let written = profile.join("MarionetteActivePort");
        let begun = Instant::now();
        let stream = loop {
            let port = std::fs::read_to_string(&written).unwrap_or_default();
            if let Some(stream) = port
                .trim()
                .parse()
                .ok()
                .and_then(|port: u16| TcpStream::connect(("127.0.0.1", port)).ok())
            {
                break stream;
            }
            assert!(begun.elapsed() < LIMIT, "{}", browser.stderr_so_far());
            std::thread::sleep(Duration::from_millis(50));
        };
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let mut firefox = Firefox {
            stream: BufReader::new(stream),
            number: 0,
            _browser: browser,
        };
        let greeting = firefox.receive();
        assert_eq!(greeting["marionetteProtocol"], 3, "{greeting}");
        firefox.ask("WebDriver:NewSession", &json!({}));
        firefox
    }

    pub(crate) fn open(&mut self, url: &str) {
        self.ask("WebDriver:Navigate", &json!({ "url": url }));
    }

    /// Runs a function with this body and returns its result.
    pub(crate) fn run(&mut self, script: &str) -> Value {
        self.ask("WebDriver:ExecuteScript", &json!({ "script": script, "args": [] }))["value"].take()
    }

    /// Waits until an expression is true on the page.
    pub(crate) fn wait_until(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.run(&format!("return Boolean({expression})")) != true {
            let text = self.run("return document.body.innerText");
            assert!(begun.elapsed() < LIMIT, "`{expression}` is false:\n{text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn ask(&mut self, command: &str, parameters: &Value) -> Value {
        self.number += 1;
        let message = json!([0, self.number, command, parameters]).to_string();
        let stream = self.stream.get_mut();
        stream
            .write_all(format!("{}:{message}", message.len()).as_bytes())
            .unwrap();
        let mut answer = self.receive();
        assert_eq!(answer[1], self.number, "{answer}");
        assert!(answer[2].is_null(), "{command}: {answer}");
        answer[3].take()
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            match byte[0] {
                b':' => break,
                digit => length = length * 10 + usize::from(digit - b'0'),
            }
        }
        let mut message = vec![0; length];
        self.stream.read_exact(&mut message).unwrap();
        serde_json::from_slice(&message).unwrap()
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.ask("Marionette:Quit", &json!({ "flags": ["eForceQuit"] }));
        }
    }
}
