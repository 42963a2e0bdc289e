//! The browser of the desktop.

use netburn_fleet_controller::hub::State;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Name of the file that leads to the page.
const FILE: &str = "open.html";

/// Opens `url` in the browser of the desktop, if there is one. Other users of the machine can read the arguments of
/// processes, so that the browser gets a private file in the folder of `state`, which leads to the address with its key.
/// Returns the file, which is useless when the server has ended.
pub(super) fn open(url: &str, state: &State) -> Option<PathBuf> {
    let program = opener(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))?;
    let path = state.put(FILE, leading_to(url).as_bytes()).ok()?;
    let mut command = Command::new(program);
    command
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Without the program the user opens the printed address.
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
    Some(path)
}

/// The program that opens files for a user of a desktop; `None` without a desktop.
fn opener(is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    if cfg!(target_os = "macos") {
        return Some("open");
    }
    if cfg!(windows) {
        return Some("explorer");
    }
    (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")).then_some("xdg-open")
}

/// A page that leads to `url`, which has no character that ends an attribute.
fn leading_to(url: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>netburn</title>\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<a href=\"{url}\">netburn</a>\n"
    )
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_a_desktop_has_an_opener() {
        assert_eq!(opener(|_| false), None);
        assert_eq!(opener(|name| name == "WAYLAND_DISPLAY"), Some("xdg-open"));
        assert_eq!(opener(|name| name == "DISPLAY"), Some("xdg-open"));
    }
}
