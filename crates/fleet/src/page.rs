//! The station page: what a browser fetches to become a station, embedded.
//!
//! Whoever serves it answers a `GET` of each path in [`FILES`] with its bytes, its type, and [`HEADERS`].

/// One file of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Its path on the server: `/`, or below `/station/`.
    pub path: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

/// What else every answer says. Nothing is run but the page's own modules, nothing is shown inside other pages, and the
/// token in the address is told to nobody; servers to measure against may be anywhere.
pub const HEADERS: [(&str, &str); 5] = [
    (
        "content-security-policy",
        "default-src 'self'; connect-src *; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    // A new version of the command brings a new page under the same paths.
    ("cache-control", "no-cache"),
    ("cross-origin-resource-policy", "same-origin"),
];

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const MODULE: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($kind:ident $path:literal $name:literal,)+) => {
        /// All files.
        pub const FILES: &[File] = &[$(File {
            path: $path,
            kind: $kind,
            bytes: include_bytes!(concat!("../../../web/station/", $name)),
        }),+];
    };
}

files! {
    HTML "/" "index.html",
    CSS "/station/style.css" "style.css",
    SVG "/station/icon.svg" "icon.svg",
    MODULE "/station/abilities.js" "abilities.js",
    MODULE "/station/awake.js" "awake.js",
    MODULE "/station/bytes.js" "bytes.js",
    MODULE "/station/clock.js" "clock.js",
    MODULE "/station/consent.js" "consent.js",
    MODULE "/station/driver.js" "driver.js",
    MODULE "/station/health.js" "health.js",
    MODULE "/station/keeper.js" "keeper.js",
    MODULE "/station/machine.js" "machine.js",
    MODULE "/station/messages.js" "messages.js",
    MODULE "/station/names.js" "names.js",
    MODULE "/station/page.js" "page.js",
    MODULE "/station/part.js" "part.js",
    MODULE "/station/picture.js" "picture.js",
    MODULE "/station/plan.js" "plan.js",
    MODULE "/station/player.js" "player.js",
    MODULE "/station/quantity.js" "quantity.js",
    MODULE "/station/result.js" "result.js",
    MODULE "/station/rows.js" "rows.js",
    MODULE "/station/schedule.js" "schedule.js",
    MODULE "/station/screen.js" "screen.js",
    MODULE "/station/seed.js" "seed.js",
    MODULE "/station/sending.js" "sending.js",
    MODULE "/station/sha256.js" "sha256.js",
    MODULE "/station/slots.js" "slots.js",
    MODULE "/station/socket.js" "socket.js",
    MODULE "/station/standing.js" "standing.js",
    MODULE "/station/station.js" "station.js",
    MODULE "/station/store.js" "store.js",
    MODULE "/station/transfer.js" "transfer.js",
}

/// The file at this path, without a query.
#[must_use]
pub fn find(path: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_there_is_is_served() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/station");
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = match name.as_str() {
                "index.html" => "/".to_owned(),
                name => format!("/station/{name}"),
            };
            assert!(find(&path).is_some(), "{path}");
        }
    }

    #[test]
    fn each_path_is_one_file() {
        for (index, file) in FILES.iter().enumerate() {
            assert_eq!(find(file.path), Some(file));
            assert!(
                FILES[..index].iter().all(|other| other.path != file.path),
                "{}",
                file.path
            );
            assert!(!file.bytes.is_empty(), "{}", file.path);
        }
        for path in ["", "/station/", "/station/../page.js", "/index.html", "//"] {
            assert_eq!(find(path), None, "{path}");
        }
    }
}
